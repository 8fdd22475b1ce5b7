// SPDX-License-Identifier: GPL-3.0-or-later
// Emulated precision by the autocast policy: which operations round, bit for bit, and which stay float32.
#include "core/backend/cpu/kernels/autocast_kernels.h"
#include "core/backend/cpu/products.h"
#include "core/model/transformer.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <cstring>

using namespace normscope;

namespace {

using Floats = std::vector<float>;
constexpr int kN = 6, kD = 12, kHeads = 3, kFf = 20, kVocab = 17, kB = 2, kR = kB * kN, kDh = kD / kHeads;
constexpr std::size_t kCount = kR * kD, kWide = kR * kFf;

StackSpec stack_of(Scheme scheme) {
    StackSpec s;
    s.depth = 2;
    s.d_model = kD;
    s.heads = kHeads;
    s.d_ff = kFf;
    s.context = kN;
    s.scheme = scheme;
    s.residual_step = 0.7;
    s.temperature = 0.8;
    complete(s, kVocab);
    return s;
}

Batch small_batch() {
    Batch batch{kB, kN, {}, {}};
    for (int i = 0; i < kR; ++i) {
        batch.tokens.push_back((5 * i + 2) % kVocab);
        batch.targets.push_back((7 * i + 1) % kVocab);
    }
    return batch;
}

Floats weights_of(const Transformer<float>& model) {
    Floats weights(model.parameters().begin(), model.parameters().end());
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] += 0.05f * std::sin(static_cast<float>(i));
    return weights;
}

/// Gains and biases away from where they start, so that they have something to round.
Transformer<float> model_of(const StackSpec& spec, Rounding rounding) {
    Transformer<float> model(spec, 3);
    const Floats weights = weights_of(model);
    model.set_rounding(rounding, PrecisionPolicy::Autocast);
    model.set_parameters(weights);
    return model;
}

bool same_bits(const Floats& a, const float* b) {
    return std::memcmp(a.data(), b, a.size() * sizeof(float)) == 0;
}

Floats round(Rounding to, Floats values) {
    for (float& v : values) v = rounded(to, v);
    return values;
}
Floats round(Rounding to, const float* values, std::size_t count) {
    return round(to, Floats(values, values + count));
}

bool in_format(Rounding to, const float* values, std::size_t count) {
    return same_bits(round(to, values, count), values);
}

/// A forward pass written down from the policy, with float32 operations alone.
struct ManualPass {
    const Transformer<float>& model;
    Rounding rounding;
    const RowKernels<float>& k = row_kernels<float>();

    const float* at(const std::string& name) const {
        return model.parameters().data() + model.table().find(name)->offset;
    }
    Floats norm(const Floats& x, const std::string& name) const {
        Floats mean(kR), rstd(kR), y(x.size());
        k.norm_forward(NormKind::LayerNorm, kR, kD, x.data(), 1e-5f, at(name + ".weight"), at(name + ".bias"),
                       1, {mean.data(), rstd.data()}, y.data());
        return y;
    }
    /// round(round(x)·round(W)ᵀ + round(bias)).
    Floats linear(const Floats& x, int in, int out, const std::string& weight,
                  const std::string& bias) const {
        Floats y(static_cast<std::size_t>(kR) * out);
        const Floats rows = round(rounding, x),
                     w = round(rounding, at(weight), static_cast<std::size_t>(in * out));
        matmul_nt<float>(kR, out, in, 1, rows.data(), in, w.data(), in, 0, y.data(), out);
        if (!bias.empty())
            k.add_bias(kR, out, round(rounding, at(bias), static_cast<std::size_t>(out)).data(), y.data());
        return round(rounding, y);
    }
    Floats axpby(float a, const Floats& x, float b, const Floats& y) const {
        Floats z(x.size());
        k.axpby(x.size(), a, x.data(), b, y.data(), z.data());
        return z;
    }
    Floats attention(const Floats& u, const std::string& name) const {
        const Floats q = linear(u, kD, kD, name + ".wq", name + ".bq"),
                     key = linear(u, kD, kD, name + ".wk", name + ".bk"),
                     v = linear(u, kD, kD, name + ".wv", name + ".bv");
        Floats mixed(u.size());
        for (int b = 0; b < kB; ++b)
            for (int h = 0; h < kHeads; ++h) {
                const int at_head = b * kN * kD + h * kDh;
                Floats p(kN * kN), head(kN * kDh);
                matmul_nt<float>(kN, kN, kDh, 1, q.data() + at_head, kD, key.data() + at_head, kD, 0,
                                 p.data(), kN);
                p = round(rounding, p);
                const float scale =
                    static_cast<float>(1 / (model.numerics.temperature * std::sqrt(double(kDh))));
                k.softmax(kN, kN, 0, true, scale, p.data());
                p = round(rounding, p);  // as the operand of the next product
                matmul_nn<float>(kN, kDh, kN, 1, p.data(), kN, v.data() + at_head, kD, 0, head.data(), kDh);
                head = round(rounding, head);
                for (int t = 0; t < kN; ++t)
                    std::copy_n(head.begin() + t * kDh, kDh, mixed.begin() + at_head + t * kD);
            }
        return linear(mixed, kD, kD, name + ".wo", name + ".bo");
    }
    Floats feed_forward(const Floats& u, const std::string& name) const {
        Floats a = linear(u, kD, kFf, name + ".w1", name + ".b1");
        Floats slope(a.size());
        k.activation(Activation::GeluTanh, a.size(), a.data(), a.data(), slope.data());
        return linear(round(rounding, a), kFf, kD, name + ".w2", name + ".b2");
    }
};

}  // namespace

class AutocastTest : public QObject {
    Q_OBJECT

    static void add_rows() {
        QTest::addColumn<int>("rounding");
        QTest::addColumn<int>("scheme");
        for (Rounding rounding : {Rounding::Bf16, Rounding::Fp16})
            for (Scheme scheme : {Scheme::Pre, Scheme::Post, Scheme::Peri})
                QTest::addRow("%s %s", rounding == Rounding::Bf16 ? "bf16" : "fp16", word_of(scheme))
                    << static_cast<int>(rounding) << static_cast<int>(scheme);
    }

  private Q_SLOTS:
    /// Operands rounded, the product rounded, the previous value added in float32.
    void products() {
        constexpr int M = 5, N = 7, K = 9, ld = 11;
        const auto wave = [](float frequency) {
            Floats values(99);
            for (std::size_t i = 0; i < 99; ++i) values[i] = std::sin(frequency * static_cast<float>(i + 1));
            return values;
        };
        const Floats A = wave(0.7f), B = wave(1.3f), start = wave(0.3f);
        for (Rounding rounding : {Rounding::Bf16, Rounding::Fp16})
            for (float beta : {0.0f, 1.0f}) {
                const Products<float> pass{rounding, PrecisionPolicy::Autocast};
                const Floats a = round(rounding, A), b = round(rounding, B);
                const auto check = [&](auto emulated, auto exact) {
                    Floats got = start, product(M * N), wanted = start;
                    emulated(got.data());
                    exact(product.data());
                    for (int i = 0; i < M; ++i)
                        for (int j = 0; j < N; ++j) {
                            float& v = wanted[static_cast<std::size_t>(i * ld + j)];
                            v = (beta == 0 ? 0 : v) +
                                rounded(rounding, product[static_cast<std::size_t>(i * N + j)]);
                        }
                    QVERIFY(same_bits(got, wanted.data()));
                };
                check([&](float* C) { pass.nt(M, N, K, 1, A.data(), K, B.data(), K, beta, C, ld); },
                      [&](float* C) { matmul_nt<float>(M, N, K, 1, a.data(), K, b.data(), K, 0, C, N); });
                check([&](float* C) { pass.nn(M, N, K, 1, A.data(), K, B.data(), N, beta, C, ld); },
                      [&](float* C) { matmul_nn<float>(M, N, K, 1, a.data(), K, b.data(), N, 0, C, N); });
                check([&](float* C) { pass.tn(M, N, K, 1, A.data(), M, B.data(), N, beta, C, ld); },
                      [&](float* C) { matmul_tn<float>(M, N, K, 1, a.data(), M, b.data(), N, 0, C, N); });
            }
    }

    void forwardManually_data() { add_rows(); }
    void forwardManually() {
        QFETCH(int, rounding);
        QFETCH(int, scheme);
        const auto to = static_cast<Rounding>(rounding);
        const auto model = model_of(stack_of(static_cast<Scheme>(scheme)), to);
        const Batch batch = small_batch();
        ThreadPool pool(1);
        Tape<float> tape;
        model.forward(batch, tape, pool);
        const ManualPass hand{model, to};
        Floats token, position;
        for (int r = 0; r < kR; ++r) {
            const float* t = hand.at("tok_emb") + batch.tokens[static_cast<std::size_t>(r)] * kD;
            const float* p = hand.at("pos_emb") + r % kN * kD;
            token.insert(token.end(), t, t + kD);
            position.insert(position.end(), p, p + kD);
        }
        QVERIFY(same_bits(hand.axpby(1, token, 1, position), tape.hidden[0]));
        for (std::size_t i = 0; i < model.rules().size(); ++i) {
            const SublayerRule& rule = model.rules()[i];
            const std::string name = "blocks." + std::to_string(i / 2) + (i % 2 ? ".ffn" : ".attn");
            const Floats x(tape.hidden[i], tape.hidden[i] + kCount),
                u = rule.in ? hand.norm(x, name + ".norm_in") : x;
            Floats y = i % 2 ? hand.feed_forward(u, name) : hand.attention(u, name);
            if (rule.out) y = hand.norm(y, name + ".norm_out");
            Floats z = hand.axpby(1, x, 0.7f, y);
            if (rule.post) z = hand.norm(z, name + ".norm_post");
            QVERIFY2(same_bits(z, tape.hidden[i + 1]), name.c_str());
        }
        const Floats last(tape.hidden.back(), tape.hidden.back() + kCount);
        const Floats final_hidden = model.table().final_norm.present() ? hand.norm(last, "final_norm") : last;
        const Floats logits = hand.linear(final_hidden, kD, kVocab, "head.weight", "");
        QVERIFY(same_bits(logits, tape.logits));
        Floats losses(kR);
        hand.k.cross_entropy(kR, kVocab, logits.data(), batch.targets.data(), 1, 0, losses.data(), nullptr);
        QVERIFY(same_bits(losses, tape.losses));
    }

    /// The feed-forward sub-layer of Pre-LN backwards.
    void backwardManually() {
        for (Rounding to : {Rounding::Bf16, Rounding::Fp16}) {
            const auto model = model_of(stack_of(Scheme::Pre), to);
            ThreadPool pool(1);
            Tape<float> tape;
            model.forward(small_batch(), tape, pool);
            const ManualPass hand{model, to};
            Floats dz(kCount);
            for (std::size_t i = 0; i < kCount; ++i) dz[i] = std::sin(0.3f * static_cast<float>(i));
            Floats got = dz;
            model.pull_back(tape, 1, 2, Jacobian::Backprop, got.data());

            const Floats w1 = round(to, hand.at("blocks.0.ffn.w1"), kFf * kD),
                         w2 = round(to, hand.at("blocks.0.ffn.w2"), kFf * kD);
            Floats df(kCount), dpre(kWide), du(kCount), dx = dz;
            hand.k.scale(kCount, 0.7f, dz.data(), df.data());
            df = round(to, df);
            matmul_nn<float>(kR, kFf, kD, 1, df.data(), kD, w2.data(), kFf, 0, dpre.data(), kFf);
            dpre = round(to, dpre);
            const SublayerTape<float>& t = tape.sublayers[1];
            Floats slope(kWide), activated(kWide);
            hand.k.activation(Activation::GeluTanh, kWide, t.pre, activated.data(), slope.data());
            hand.k.multiply(kWide, slope.data(), dpre.data(), dpre.data());
            dpre = round(to, dpre);
            matmul_nn<float>(kR, kD, kFf, 1, dpre.data(), kFf, w1.data(), kD, 0, du.data(), kD);
            du = round(to, du);
            hand.k.norm_backward(NormKind::LayerNorm, kR, kD, tape.hidden[1], t.in,
                                 hand.at("blocks.0.ffn.norm_in.weight"), du.data(), 1, true, dx.data(),
                                 nullptr, nullptr);
            QVERIFY(same_bits(dx, got.data()));
        }
    }

    /// The rounded sum of rounded rows, added in float32 to what is there.
    void gradientOfABias() {
        for (Rounding to : {Rounding::Bf16, Rounding::Fp16}) {
            Floats rows(kCount), got(kD);
            for (std::size_t i = 0; i < kCount; ++i) rows[i] = std::sin(0.3f * static_cast<float>(i));
            for (std::size_t i = 0; i < kD; ++i) got[i] = std::sin(0.7f * static_cast<float>(i));
            Floats wanted = got, sums(kD), unrounded(kD);
            row_kernels<float>().column_sums(kR, kD, round(to, rows).data(), sums.data());
            row_kernels<float>().column_sums(kR, kD, rows.data(), unrounded.data());
            sums = round(to, sums);
            QVERIFY(!same_bits(sums, round(to, unrounded).data()));  // rounding the rows is seen
            for (std::size_t i = 0; i < kD; ++i) wanted[i] += sums[i];
            autocast_kernels(to).column_sums(kR, kD, rows.data(), got.data());
            QVERIFY(same_bits(wanted, got.data()));
        }
    }

    /// Products and activations are in the format; the stream, norms, softmax and their gradients are not.
    void whatIsRounded_data() { add_rows(); }
    void whatIsRounded() {
        QFETCH(int, rounding);
        QFETCH(int, scheme);
        const auto to = static_cast<Rounding>(rounding);
        const auto model = model_of(stack_of(static_cast<Scheme>(scheme)), to);
        const Batch batch = small_batch();
        ThreadPool pool(1);
        Tape<float> tape;
        Gradients<float> gradients;
        BackwardRecord<float> record;
        model.forward(batch, tape, pool);
        model.clear(gradients, kB);
        model.backward(batch, tape, 1, gradients, pool, &record);
        for (const float* h : tape.hidden) QVERIFY(!in_format(to, h, kCount));
        for (std::size_t i = 0; i < tape.sublayers.size(); ++i) {
            const SublayerTape<float>& t = tape.sublayers[i];
            QVERIFY(in_format(to, t.f, kCount));
            if (model.rules()[i].in) QVERIFY(!in_format(to, t.u, kCount));
            if (t.y) QVERIFY(!in_format(to, t.y, kCount));
            if (i % 2 == 0) {
                QVERIFY(in_format(to, t.qkv, 3 * kCount) && in_format(to, t.mixed, kCount));
                QVERIFY(!in_format(to, t.probabilities, kR * kHeads * kN));
            } else {
                QVERIFY(in_format(to, t.pre, kWide) && in_format(to, t.activated, kWide));
            }
        }
        QVERIFY(in_format(to, tape.logits, kR * kVocab));
        for (std::size_t k = 0; k + 1 < record.hidden.size(); ++k)
            QVERIFY(!in_format(to, record.hidden[k].data(), kCount));
        // A shard's gradient of a weight or bias is one rounded result; those of norms and embeddings are
        // not.
        for (const auto& shard : gradients.shards)
            for (const TensorInfo& t : model.table().tensors()) {
                const bool of_product =
                    t.name.find("norm") == std::string::npos && t.name.find("emb") == std::string::npos;
                QVERIFY2(in_format(to, shard.data() + t.offset, t.count) == of_product, t.name.c_str());
            }
    }

    void parametersStayFloat32() {
        Transformer<float> model(stack_of(Scheme::Pre), 3);
        const Floats weights = weights_of(model);
        model.set_rounding(Rounding::Bf16, PrecisionPolicy::Autocast);
        model.set_parameters(weights);
        QVERIFY(same_bits(weights, model.parameters().data()));
        model.set_rounding(Rounding::Bf16);
        QVERIFY(model.policy() == PrecisionPolicy::Pure);
        model.set_parameters(weights);
        QVERIFY(!same_bits(weights, model.parameters().data()));
    }

    /// Gradients of a training step: near those of float32, added up over micro-batches in float32, the same
    /// on one thread and on two.
    void gradientsOfAStep() {
        const StackSpec spec = stack_of(Scheme::Pre);
        const auto low = model_of(spec, Rounding::Bf16);
        auto exact = low;
        exact.set_rounding(Rounding::None);
        const Batch batch = small_batch();
        const auto gradient = [&](const Transformer<float>& model, int threads, int times) {
            ThreadPool pool(threads);
            Gradients<float> gradients;
            StepScratch<float> scratch;
            model.clear(gradients, kB);
            for (int i = 0; i < times; ++i) model.accumulate(batch, 1, gradients, scratch, pool);
            model.reduce(gradients, pool);
            return gradients.total().values();
        };
        const Floats wanted = gradient(exact, 1, 1), got = gradient(low, 1, 1), twice = gradient(low, 1, 2);
        QVERIFY(same_bits(got, gradient(low, 2, 1).data()));
        for (const TensorInfo& t : low.table().tensors()) {
            double difference = 0, whole = 0, grown = 0;
            for (std::size_t i = t.offset; i < t.offset + t.count; ++i) {
                difference += std::pow(double(got[i]) - double(wanted[i]), 2);
                grown += std::pow(double(twice[i]) - 2 * double(got[i]), 2);
                whole += std::pow(double(wanted[i]), 2);
            }
            if (t.name.find(".bk") != std::string::npos)
                continue;  // zero in exact arithmetic: softmax sees no shift
            const double error = std::sqrt(difference / whole);
            QVERIFY2(error > 1e-4 && error < 2e-2,
                     qPrintable(QString("%1 %2").arg(t.name.c_str()).arg(error)));
            QVERIFY2(std::sqrt(grown / whole) < 1e-6, t.name.c_str());
        }
    }

    /// A LLaMA block with grouped heads, norms on q and k, parallel layout, learned branch scales and a soft
    /// cap.
    void everyOption() {
        for (Rounding to : {Rounding::Bf16, Rounding::Fp16}) {
            StackSpec spec;
            apply_block_preset(spec, Block::Llama);
            spec.depth = 2;
            spec.d_model = kD;
            spec.heads = kHeads;
            spec.kv_heads = 1;
            spec.d_ff = kFf;
            spec.context = kN;
            spec.layout = Layout::Parallel;
            spec.qk_norm = QkNorm::Head;
            spec.branch_scale = BranchScale::Channel;
            spec.logit_soft_cap = 5;
            complete(spec, kVocab);
            const auto model = model_of(spec, to);
            auto exact = model;
            exact.set_rounding(Rounding::None);
            ThreadPool pool(1);
            Tape<float> tape, exact_tape;
            model.forward(small_batch(), tape, pool);
            exact.forward(small_batch(), exact_tape, pool);
            QVERIFY(in_format(to, tape.logits, kR * kVocab));
            QVERIFY(!in_format(to, tape.hidden.back(), kCount));
            double difference = 0, whole = 0;
            for (std::size_t i = 0; i < kR * kVocab; ++i) {
                difference += std::pow(double(tape.logits[i]) - double(exact_tape.logits[i]), 2);
                whole += std::pow(double(exact_tape.logits[i]), 2);
            }
            const double error = std::sqrt(difference / whole), u = to == Rounding::Bf16 ? 0x1p-8 : 0x1p-11;
            QVERIFY2(error > 0.1 * u && error < 4 * u, qPrintable(QString::number(error / u)));
            Floats tangent(2 * kN * kD, 1.0f), exact_tangent = tangent;
            model.tangent(tape, 0, 0, 4, 0, 2, Jacobian::Backprop, tangent.data());
            exact.tangent(exact_tape, 0, 0, 4, 0, 2, Jacobian::Backprop, exact_tangent.data());
            QVERIFY(!in_format(to, tangent.data(), tangent.size()));
            for (std::size_t i = 0; i < tangent.size(); ++i)
                QVERIFY(std::abs(tangent[i] - exact_tangent[i]) < 0.2f);
        }
    }
};

NORMSCOPE_TEST(AutocastTest)
#include "autocast_test.moc"
