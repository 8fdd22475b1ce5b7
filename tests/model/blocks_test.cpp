// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a block beyond GPT-2's: SwiGLU, rotary positions, grouped key and value heads, norms on q and
// k, the embedding norm. Each against its definition written as plain sums; then the three passes against
// each other and against finite differences, over odd widths, single heads, single tokens and both numbers of
// vocabulary.
#include "core/model/transformer.h"
#include "plain_blocks.h"
#include "tests/model/random_model.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <functional>

using namespace normscope;

namespace {

using Vector = std::vector<double>;

struct Setup {
    const char* name;
    std::function<void(StackSpec&)> change;
    int length = 5, vocab = 11;
};

void sizes(StackSpec& s, int d_model, int heads, int kv_heads) {
    s.d_model = d_model;
    s.heads = heads;
    s.kv_heads = kv_heads;
}

const std::vector<Setup>& setups() {
    static const std::vector<Setup> list{
        {"gpt2", [](StackSpec&) {}},
        {"gpt2 swiglu", [](StackSpec& s) { s.activation = Activation::SwiGlu; }},
        {"gpt2 geglu, scaled embedding",
         [](StackSpec& s) {
             s.activation = Activation::GeGlu;
             s.embedding_scale = 2.5;
         }},
        {"gpt2 rope",
         [](StackSpec& s) {
             s.position = Position::Rope;
             s.rope_base = 7;
             sizes(s, 12, 2, 2);
         }},
        {"gpt2 grouped, no positions",
         [](StackSpec& s) {
             s.position = Position::None;
             sizes(s, 12, 4, 2);
         }},
        {"llama",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             sizes(s, 8, 2, 2);
         }},
        {"llama, silu, no positions",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             s.activation = Activation::Silu;
             s.position = Position::None;
         }},
        {"llama, one kv head, tied",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             sizes(s, 8, 4, 1);
             s.tied_head = true;
         }},
        {"llama, erf, biases, learned",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             s.activation = Activation::GeluErf;
             s.bias = true;
             s.position = Position::Learned;
         }},
        {"llama, not causal",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             sizes(s, 12, 3, 1);
             s.causal = false;
         }},
        {"q and k norm by head",
         [](StackSpec& s) {
             s.qk_norm = QkNorm::Head;
             sizes(s, 12, 4, 2);
         }},
        {"q and k norm by head, rope, rms",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             s.qk_norm = QkNorm::Head;
             sizes(s, 24, 6, 3);
         }},
        {"q and k norm whole",
         [](StackSpec& s) {
             s.qk_norm = QkNorm::Full;
             sizes(s, 33, 3, 1);
         }},
        {"q and k norm whole, rope, rms",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             s.qk_norm = QkNorm::Full;
             sizes(s, 24, 4, 2);
         }},
        {"embedding norm", [](StackSpec& s) { s.embedding_norm = true; }},
        {"embedding norm, rms, tied, two words",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             sizes(s, 8, 2, 1);
             s.embedding_norm = s.tied_head = true;
         },
         5, 2},
        {"heads of one channel",
         [](StackSpec& s) {
             sizes(s, 5, 5, 1);
             s.norm.kind = NormKind::RmsNorm;
             s.norm.eps = 0.1;  // x/√(x² + ε) is a step of width √ε
             s.qk_norm = QkNorm::Head;
         }},
        {"one head of 13, one token",
         [](StackSpec& s) {
             sizes(s, 13, 1, 1);
             s.activation = Activation::SwiGlu;
             s.qk_norm = QkNorm::Full;
         },
         1, 2},
        {"heads wider than the rows, grouped",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             sizes(s, 9, 4, 2);
             s.head_width = 6;
             s.qk_norm = QkNorm::Head;
             s.bias = true;
         }},
        {"heads narrower than the rows, whole norms",
         [](StackSpec& s) {
             sizes(s, 13, 3, 1);
             s.head_width = 2;
             s.qk_norm = QkNorm::Full;
             s.position = Position::Rope;
         }},
        {"gemma: every second layer global, GeGLU, scaled and tied embedding",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             sizes(s, 8, 2, 1);
             s.head_width = 8;
             s.qk_norm = QkNorm::Head;
             s.activation = Activation::GeGlu;
             s.tied_head = s.embedding_norm = true;
             s.embedding_scale = 2.8;
             s.rope_global_every = 2;
             s.rope_base = 50;
             s.rope_local_base = 3;
         },
         71},
        {"gpt-j: parallel, one norm, a bias at the head",
         [](StackSpec& s) {
             sizes(s, 12, 2, 2);
             s.position = Position::Rope;
             s.layout = Layout::Parallel;
             s.shared_norm = s.head_bias = true;
             s.attention_bias = AttentionBias::Off;
         }},
        {"parallel, two norms", [](StackSpec& s) { s.layout = Layout::Parallel; }},
        {"olmo: no gain, no shift, a bias at a tied head",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             sizes(s, 8, 2, 1);
             s.norm.kind = NormKind::LayerNorm;
             s.norm.affine = false;
             s.norm.eps = 0.1;  // differences at norms of four entries
             s.qk_norm = QkNorm::Head;
             s.bias = s.head_bias = s.tied_head = true;
         }},
        {"capped scores", [](StackSpec& s) { s.attention_soft_cap = 0.6; }},
        {"capped scores, grouped, rope, not causal",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             sizes(s, 24, 4, 2);
             s.causal = false;
             s.attention_soft_cap = 1.5;
             s.qk_norm = QkNorm::Head;
         },
         71},
        {"window in every layer",
         [](StackSpec& s) {
             s.rope_global_every = 3;
             s.window = 2;
         }},
        {"window in every second layer, capped, grouped, rope",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             sizes(s, 24, 4, 2);
             s.rope_global_every = 2;
             s.window = 33;
             s.attention_soft_cap = 2;
         },
         71},
        {"three blocks of map rows, capped",
         [](StackSpec& s) {
             sizes(s, 12, 3, 3);
             s.attention_soft_cap = 0.9;
         },
         71},
        {"three blocks of map rows", [](StackSpec& s) { sizes(s, 12, 3, 3); }, 71},
        {"three blocks of map rows, grouped, rope",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             sizes(s, 24, 4, 2);
         },
         71},
        {"everything",
         [](StackSpec& s) {
             apply_block_preset(s, Block::Llama);
             sizes(s, 24, 4, 2);
             s.bias = s.tied_head = s.embedding_norm = true;
             s.norm.kind = NormKind::LayerNorm;
             s.qk_norm = QkNorm::Head;
         }},
    };
    return list;
}

StackSpec stack_of(const Setup& setup) {
    StackSpec s;
    s.depth = 2;
    s.d_model = 6;
    s.heads = 2;
    s.d_ff = 9;
    s.context = std::max(7, setup.length);
    s.temperature = 0.8;
    s.residual_step = 0.7;
    setup.change(s);
    complete(s, setup.vocab);
    validate(s);
    return s;
}

Batch batch_of(const Setup& setup, int sequences) {
    Batch batch{sequences, setup.length, {}, {}};
    for (int i = 0; i < setup.length * sequences; ++i) {
        batch.tokens.push_back((7 * i + 3) % setup.vocab);
        batch.targets.push_back((5 * i + 1) % setup.vocab);
    }
    return batch;
}

double dot(const Vector& a, const double* b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}
double norm(const Vector& a) {
    return std::sqrt(dot(a, a.data()));
}
double distance(const Vector& a, const Vector& b) {
    Vector difference(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
    return norm(difference);
}

/// f'(0) to fourth order: (8(f(h) − f(−h)) − (f(2h) − f(−2h))) / 12h.
template <class F>
Vector derivative(F&& value) {
    constexpr double h = 1e-3;
    const Vector a = value(-2 * h), b = value(-h), c = value(h), d = value(2 * h);
    Vector slope(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) slope[i] = (8 * (c[i] - b[i]) - (d[i] - a[i])) / (12 * h);
    return slope;
}

}  // namespace

class BlocksTest : public QObject {
    Q_OBJECT

    static void add_setups() {
        QTest::addColumn<int>("setup");
        for (std::size_t i = 0; i < setups().size(); ++i)
            QTest::newRow(setups()[i].name) << static_cast<int>(i);
    }
    static const Setup& fetch() {
        QFETCH(int, setup);
        return setups()[static_cast<std::size_t>(setup)];
    }

    ThreadPool pool_{1};

  private Q_SLOTS:
    void definition_data() { add_setups(); }
    void definition() {
        const auto model = model_of(stack_of(fetch()));
        const Batch batch = batch_of(fetch(), 2);
        Tape<double> tape;
        model.forward(batch, tape, pool_);
        const PlainBlocks plain(model);
        for (int b = 0; b < batch.sequences; ++b) {
            const PlainBlocks::States wanted = plain.run(batch, b);
            for (std::size_t k = 0; k < wanted.hidden.size(); ++k) {
                const std::size_t count = wanted.hidden[k].size();
                const double* got = tape.hidden[k] + static_cast<std::size_t>(b) * count;
                QVERIFY2(distance({got, got + count}, wanted.hidden[k]) <= 1e-12 * norm(wanted.hidden[k]),
                         qPrintable(QString("sequence %1, hidden state %2").arg(b).arg(k)));
            }
            const double* logits = tape.logits + static_cast<std::size_t>(b) * wanted.logits.size();
            QVERIFY(distance({logits, logits + wanted.logits.size()}, wanted.logits) <=
                    1e-12 * norm(wanted.logits));
        }
    }

    void transpose_data() { add_setups(); }
    void transpose() {
        const auto model = model_of(stack_of(fetch()));
        Tape<double> tape;
        model.forward(batch_of(fetch(), 2), tape, pool_);
        const std::size_t one = static_cast<std::size_t>(fetch().length * model.spec().d_model);
        const int ranges[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}};
        for (const auto& [begin, end] : ranges)
            for (unsigned seed = 0; seed < 3; ++seed) {
                const Vector v = normals(one, 10 + seed), u = normals(one, 20 + seed);
                Vector jv = v, jtu(one, 0.0);
                jtu.insert(jtu.end(), u.begin(), u.end());  // the second of two, so that a wrong offset shows
                model.tangent(tape, 1, begin, end, 0, 1, Jacobian::Forward, jv.data());
                model.pull_back(tape, begin, end, Jacobian::Forward, jtu.data());
                const double left = dot(u, jv.data()), right = dot(v, jtu.data() + one);
                const double scale = norm(u) * norm(jv);
                QVERIFY2(std::abs(left - right) <= 1e-12 * scale,
                         qPrintable(QString("%1 … %2: %3 and %4").arg(begin).arg(end).arg(left).arg(right)));
                QVERIFY(std::abs(left) > 1e-6 * scale);
                for (std::size_t i = 0; i < one; ++i) QCOMPARE(jtu[i], 0.0);  // sequences do not touch
            }
    }

    /// Several directions at the last tokens are what each gives alone on the whole sequence.
    void directionsAtTheLastTokens_data() { add_setups(); }
    void directionsAtTheLastTokens() {
        const auto model = model_of(stack_of(fetch()));
        Tape<double> tape;
        model.forward(batch_of(fetch(), 2), tape, pool_);
        const int n = fetch().length, first = model.spec().causal ? n / 2 : 0;
        const auto d = static_cast<std::size_t>(model.spec().d_model);
        const std::size_t before = static_cast<std::size_t>(first) * d,
                          piece = static_cast<std::size_t>(n - first) * d;
        const Vector directions = normals(3 * piece, 1);
        Vector together = directions;
        model.tangent(tape, 1, 0, 4, first, 3, Jacobian::Forward, together.data());
        for (std::size_t k = 0; k < 3; ++k) {
            Vector alone(before + piece, 0.0);
            std::copy_n(directions.begin() + static_cast<std::ptrdiff_t>(k * piece), piece,
                        alone.begin() + static_cast<std::ptrdiff_t>(before));
            model.tangent(tape, 1, 0, 4, 0, 1, Jacobian::Forward, alone.data());
            for (std::size_t i = 0; i < before; ++i) QCOMPARE(alone[i], 0.0);
            for (std::size_t i = 0; i < piece; ++i)
                QVERIFY(std::abs(together[k * piece + i] - alone[before + i]) <= 1e-12 * norm(alone));
        }
    }

    /// The embeddings move; what the first hidden state does is carried on by the tangent.
    void tangentIsTheDerivative_data() { add_setups(); }
    void tangentIsTheDerivative() {
        const auto model = model_of(stack_of(fetch()));
        const Batch batch = batch_of(fetch(), 1);
        const TensorInfo& embedding = *model.table().find("tok_emb");
        const Vector shift = normals(embedding.count, 3);
        const std::size_t one = static_cast<std::size_t>(fetch().length * model.spec().d_model);
        const Vector slope = derivative([&](double h) {
            auto moved = model;
            for (std::size_t i = 0; i < shift.size(); ++i)
                moved.parameters()[embedding.offset + i] += h * shift[i];
            Tape<double> tape;
            moved.forward(batch, tape, pool_);
            Vector states;
            for (const double* state : tape.hidden) states.insert(states.end(), state, state + one);
            return states;
        });
        Tape<double> tape;
        model.forward(batch, tape, pool_);
        for (std::size_t k = 1; k <= 4; ++k) {
            Vector tangent(slope.begin(), slope.begin() + static_cast<std::ptrdiff_t>(one));
            model.tangent(tape, 0, 0, static_cast<int>(k), 0, 1, Jacobian::Forward, tangent.data());
            const auto at = slope.begin() + static_cast<std::ptrdiff_t>(k * one);
            const double error =
                distance(tangent, {at, at + static_cast<std::ptrdiff_t>(one)}) / norm(tangent);
            QVERIFY2(error <= 1e-7, qPrintable(QString("hidden state %1: %2").arg(k).arg(error)));
        }
    }

    /// Each tensor's gradient along a random unit direction.
    void gradientIsTheDerivative_data() { add_setups(); }
    void gradientIsTheDerivative() {
        const auto model = model_of(stack_of(fetch()));
        const Batch batch = batch_of(fetch(), 3);
        Tape<double> tape;
        Gradients<double> gradients;
        model.forward(batch, tape, pool_);
        model.clear(gradients, batch.sequences);
        model.backward(batch, tape, 1, gradients, pool_);
        model.reduce(gradients, pool_);
        const double whole = norm(gradients.total().values());
        for (const TensorInfo& t : model.table().tensors()) {
            Vector direction = normals(t.count, 9);
            const double length = norm(direction);
            for (double& v : direction) v /= length;
            const double slope = derivative([&](double h) {
                auto moved = model;
                for (std::size_t i = 0; i < t.count; ++i)
                    moved.parameters()[t.offset + i] += h * direction[i];
                Tape<double> at;
                moved.forward(batch, at, pool_);
                return Vector{at.mean_loss()};
            })[0];
            const double gradient = dot(direction, gradients.total().data() + t.offset);
            QVERIFY2(std::abs(slope - gradient) <= 1e-7 * std::abs(gradient) + 1e-10 * whole,
                     qPrintable(
                         QString("%1: %2, by differences %3").arg(t.name.c_str()).arg(gradient).arg(slope)));
        }
    }

    void float32FollowsFloat64_data() { add_setups(); }
    void float32FollowsFloat64() {
        const auto wide = model_of(stack_of(fetch()));
        Transformer<float> narrow(wide.spec(), 5);
        for (std::size_t i = 0; i < wide.parameters().size(); ++i)
            narrow.parameters()[i] = static_cast<float>(wide.parameters()[i]);
        const Batch batch = batch_of(fetch(), 2);
        const auto results = [&](const auto& model) {
            using T =
                std::remove_cv_t<typename std::remove_reference_t<decltype(model.parameters())>::value_type>;
            Tape<T> tape;
            Gradients<T> gradients;
            model.forward(batch, tape, pool_);
            model.clear(gradients, batch.sequences);
            model.backward(batch, tape, 1, gradients, pool_);
            model.reduce(gradients, pool_);
            const std::size_t count = static_cast<std::size_t>(tape.rows() * model.spec().d_model);
            const HostView<T> total(gradients.total());
            std::vector<T> tangent(count / 2, T(0.5));
            model.tangent(tape, 1, 0, 4, 0, 1, Jacobian::Forward, tangent.data());
            return std::array<Vector, 3>{Vector(tape.hidden.back(), tape.hidden.back() + count),
                                         Vector(total.begin(), total.end()),
                                         Vector(tangent.begin(), tangent.end())};
        };
        const auto exact = results(wide), rounded = results(narrow);
        for (std::size_t i = 0; i < exact.size(); ++i)
            QVERIFY2(distance(exact[i], rounded[i]) <= 1e-4 * norm(exact[i]), qPrintable(QString::number(i)));
    }

    /// The gradient at the embedding norm's output is the gradient at the first hidden state, site by site in
    /// order.
    void theEmbeddingNormIsTheFirstSite() {
        const auto model = model_of(stack_of(setups().back()));
        QCOMPARE(model.sites().front().name, std::string("emb_norm"));
        const Batch batch = batch_of(setups().back(), 2);
        Tape<double> tape;
        Gradients<double> gradients;
        BackwardRecord<double> record;
        model.forward(batch, tape, pool_);
        model.clear(gradients, batch.sequences);
        model.backward(batch, tape, 1, gradients, pool_, &record);
        QVERIFY(record.norm_output.front().values() == record.hidden.front().values());
        QVERIFY(norm(record.hidden.front().values()) > 0);
        QCOMPARE(norm_site_input(model.sites().front(), tape).x, static_cast<const double*>(tape.embedded));
        QVERIFY(tape.embedded != tape.hidden.front());
    }

    void tensorNamesAndShapes() {
        StackSpec s;
        s.depth = 1;
        apply_block_preset(s, Block::Llama);
        sizes(s, 24, 4, 2);
        s.bias = s.embedding_norm = true;
        s.norm.kind = NormKind::LayerNorm;
        s.qk_norm = QkNorm::Full;
        complete(s, 11);
        const ParameterTable table(s);
        const auto shape = [&](const char* name) {
            const TensorInfo* t = table.find(name);
            return t ? t->shape : std::vector<int>{-1};
        };
        QCOMPARE(shape("emb_norm.weight"), (std::vector<int>{24}));
        QCOMPARE(shape("emb_norm.bias"), (std::vector<int>{24}));
        QCOMPARE(shape("blocks.0.attn.wk"), (std::vector<int>{12, 24}));
        QCOMPARE(shape("blocks.0.attn.bv"), (std::vector<int>{12}));
        QCOMPARE(shape("blocks.0.attn.q_norm.weight"), (std::vector<int>{24}));
        QCOMPARE(shape("blocks.0.attn.k_norm.weight"), (std::vector<int>{12}));
        QVERIFY(!table.find("blocks.0.attn.q_norm.bias"));
        QCOMPARE(shape("blocks.0.ffn.w_gate"), (std::vector<int>{96, 24}));
        QCOMPARE(shape("blocks.0.ffn.w_up"), (std::vector<int>{96, 24}));
        QCOMPARE(shape("blocks.0.ffn.w_down"), (std::vector<int>{24, 96}));
        QCOMPARE(shape("blocks.0.ffn.b_gate"), (std::vector<int>{96}));
        QCOMPARE(shape("blocks.0.ffn.b_up"), (std::vector<int>{96}));
        QCOMPARE(shape("blocks.0.ffn.b_down"), (std::vector<int>{24}));
        for (const char* absent : {"pos_emb", "blocks.0.ffn.w1", "blocks.0.ffn.b1", "blocks.0.ffn.w2"})
            QVERIFY2(!table.find(absent), absent);
        s.qk_norm = QkNorm::Head;
        const ParameterTable by_head(s);
        QCOMPARE(by_head.find("blocks.0.attn.q_norm.weight")->shape, (std::vector<int>{6}));
        QCOMPARE(by_head.find("blocks.0.attn.k_norm.weight")->shape, (std::vector<int>{6}));
    }
};

NORMSCOPE_TEST(BlocksTest)
#include "blocks_test.moc"
