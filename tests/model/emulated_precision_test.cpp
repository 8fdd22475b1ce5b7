// SPDX-License-Identifier: GPL-3.0-or-later
// A pass in emulated BF16 or FP16 is the float32 pass with the result of every operation rounded, bit for
// bit.
#include "core/backend/cpu/products.h"
#include "core/base/error.h"
#include "core/model/transformer.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <cstring>
#include <functional>

using namespace normscope;

namespace {

using Floats = std::vector<float>;
constexpr int kN = 6, kD = 12, kHeads = 3, kFf = 20, kVocab = 17, kB = 2, kR = kB * kN, kDh = kD / kHeads;

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

/// Gains and biases away from where they start, so that they have something to round.
Transformer<float> model_of(const StackSpec& spec, Rounding rounding) {
    Transformer<float> model(spec, 3);
    Floats weights(model.parameters().begin(), model.parameters().end());
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] += 0.05f * std::sin(static_cast<float>(i));
    model.set_rounding(rounding);
    model.set_parameters(weights);
    return model;
}

/// One float32 operation after another, each result rounded: what the tests compose by hand.
struct ManualPass {
    const Transformer<float>& model;
    Rounding rounding;
    const RowKernels<float>& k = row_kernels<float>();

    const float* at(const std::string& name) const {
        const TensorInfo* t = model.table().find(name);
        return t ? model.parameters().data() + t->offset : nullptr;
    }
    Floats round(Floats values) const {
        for (float& v : values) v = rounded(rounding, v);
        return values;
    }
    Floats norm(const Floats& x, const std::string& name) const {
        Floats mean(kR), rstd(kR), y(x.size());
        k.norm_forward(NormKind::LayerNorm, kR, kD, x.data(), 1e-5f, at(name + ".weight"), at(name + ".bias"),
                       1, {mean.data(), rstd.data()}, y.data());
        return round(y);
    }
    /// x·Wᵀ, then + bias.
    Floats linear(const Floats& x, int in, int out, const std::string& weight,
                  const std::string& bias) const {
        Floats y(static_cast<std::size_t>(kR) * out);
        matmul_nt<float>(kR, out, in, 1, x.data(), in, at(weight), in, 0, y.data(), out);
        y = round(y);
        k.add_bias(kR, out, at(bias), y.data());
        return round(y);
    }
    Floats axpby(float a, const Floats& x, float b, const Floats& y) const {
        Floats z(x.size());
        k.axpby(x.size(), a, x.data(), b, y.data(), z.data());
        return round(z);
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
                p = round(p);
                const float scale =
                    static_cast<float>(1 / (model.numerics.temperature * std::sqrt(double(kDh))));
                k.softmax(kN, kN, 0, true, scale, p.data());
                p = round(p);
                matmul_nn<float>(kN, kDh, kN, 1, p.data(), kN, v.data() + at_head, kD, 0, head.data(), kDh);
                head = round(head);
                for (int t = 0; t < kN; ++t)
                    std::copy_n(head.begin() + t * kDh, kDh, mixed.begin() + at_head + t * kD);
            }
        return linear(mixed, kD, kD, name + ".wo", name + ".bo");
    }
    Floats feed_forward(const Floats& u, const std::string& name) const {
        Floats a = linear(u, kD, kFf, name + ".w1", name + ".b1");
        Floats slope(a.size());
        k.activation(Activation::GeluTanh, a.size(), a.data(), a.data(), slope.data());
        return linear(round(a), kFf, kD, name + ".w2", name + ".b2");
    }
};

bool same_bits(const Floats& a, const float* b) {
    return std::memcmp(a.data(), b, a.size() * sizeof(float)) == 0;
}
Floats copy(const float* values, std::size_t count) {
    return {values, values + count};
}

}  // namespace

class EmulatedPrecisionTest : public QObject {
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
    /// Products, with what was there before (β ≠ 0) and in a wider matrix (ldc > N).
    void products() {
        constexpr int M = 5, N = 7, K = 9, ld = 11;
        const auto wave = [](std::size_t count, float frequency) {
            Floats values(count);
            for (std::size_t i = 0; i < count; ++i)
                values[i] = std::sin(frequency * static_cast<float>(i + 1));
            return values;
        };
        const Floats A = wave(99, 0.7f), B = wave(99, 1.3f), start = wave(99, 0.3f);
        for (Rounding rounding : {Rounding::None, Rounding::Bf16, Rounding::Fp16})
            for (float beta : {0.0f, 1.0f}) {
                const Products<float> pass{rounding, PrecisionPolicy::Pure};
                const auto check = [&](auto emulated, auto exact) {
                    Floats got = start, wanted = start;
                    emulated(got.data());
                    exact(wanted.data());
                    for (int i = 0; i < M; ++i)
                        for (int j = 0; j < N; ++j) {
                            float& v = wanted[static_cast<std::size_t>(i * ld + j)];
                            v = rounded(rounding, v);
                        }
                    QVERIFY(same_bits(got, wanted.data()));
                };
                check([&](float* C) { pass.nt(M, N, K, 1, A.data(), K, B.data(), K, beta, C, ld); },
                      [&](float* C) { matmul_nt<float>(M, N, K, 1, A.data(), K, B.data(), K, beta, C, ld); });
                check([&](float* C) { pass.nn(M, N, K, 1, A.data(), K, B.data(), N, beta, C, ld); },
                      [&](float* C) { matmul_nn<float>(M, N, K, 1, A.data(), K, B.data(), N, beta, C, ld); });
                check([&](float* C) { pass.tn(M, N, K, 1, A.data(), M, B.data(), N, beta, C, ld); },
                      [&](float* C) { matmul_tn<float>(M, N, K, 1, A.data(), M, B.data(), N, beta, C, ld); });
            }
    }

    void forwardIsRoundedStepByStep_data() { add_rows(); }
    void forwardIsRoundedStepByStep() {
        QFETCH(int, rounding);
        QFETCH(int, scheme);
        const auto model = model_of(stack_of(static_cast<Scheme>(scheme)), static_cast<Rounding>(rounding));
        const Batch batch = small_batch();
        ThreadPool pool(1);
        Tape<float> tape;
        model.forward(batch, tape, pool);
        const ManualPass hand{model, static_cast<Rounding>(rounding)};
        const std::size_t count = kR * kD;

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
            const Floats x = copy(tape.hidden[i], count), u = rule.in ? hand.norm(x, name + ".norm_in") : x;
            Floats y = i % 2 ? hand.feed_forward(u, name) : hand.attention(u, name);
            if (rule.out) y = hand.norm(y, name + ".norm_out");
            Floats z = hand.axpby(1, x, 0.7f, y);
            if (rule.post) z = hand.norm(z, name + ".norm_post");
            QVERIFY2(same_bits(z, tape.hidden[i + 1]), name.c_str());
        }

        const Floats last = copy(tape.hidden.back(), count);
        const Floats final_hidden = model.table().final_norm.present() ? hand.norm(last, "final_norm") : last;
        Floats logits(kR * kVocab);
        matmul_nt<float>(kR, kVocab, kD, 1, final_hidden.data(), kD, hand.at("head.weight"), kD, 0,
                         logits.data(), kVocab);
        logits = hand.round(logits);
        QVERIFY(same_bits(logits, tape.logits));
        Floats losses(kR);
        hand.k.cross_entropy(kR, kVocab, logits.data(), batch.targets.data(), 1, 0, losses.data(), nullptr);
        QVERIFY(same_bits(losses, tape.losses));
    }

    /// The feed-forward sub-layer of Pre-LN backwards, and a weight's gradient.
    void backwardIsRoundedStepByStep() {
        for (Rounding rounding : {Rounding::Bf16, Rounding::Fp16}) {
            const auto model = model_of(stack_of(Scheme::Pre), rounding);
            ThreadPool pool(1);
            Tape<float> tape;
            model.forward(small_batch(), tape, pool);
            const ManualPass hand{model, rounding};
            const std::size_t count = kR * kD, wide = kR * kFf;
            Floats dz(count);
            for (std::size_t i = 0; i < count; ++i)
                dz[i] = rounded(rounding, std::sin(0.3f * static_cast<float>(i)));
            Floats got = dz;
            model.pull_back(tape, 1, 2, Jacobian::Backprop, got.data());

            Floats df(count), dpre(wide), du(count), dx(count);
            hand.k.scale(count, 0.7f, dz.data(), df.data());
            df = hand.round(df);
            matmul_nn<float>(kR, kFf, kD, 1, df.data(), kD, hand.at("blocks.0.ffn.w2"), kFf, 0, dpre.data(),
                             kFf);
            dpre = hand.round(dpre);
            const SublayerTape<float>& t = tape.sublayers[1];
            Floats slope(wide), activated(wide);
            hand.k.activation(Activation::GeluTanh, wide, t.pre, activated.data(), slope.data());
            hand.k.multiply(wide, slope.data(), dpre.data(), dpre.data());
            dpre = hand.round(dpre);
            matmul_nn<float>(kR, kD, kFf, 1, dpre.data(), kFf, hand.at("blocks.0.ffn.w1"), kD, 0, du.data(),
                             kD);
            du = hand.round(du);
            dx = dz;  // a = 1 rounds nothing
            hand.k.norm_backward(NormKind::LayerNorm, kR, kD, tape.hidden[1], t.in,
                                 hand.at("blocks.0.ffn.norm_in.weight"), du.data(), 1, true, dx.data(),
                                 nullptr, nullptr);
            QVERIFY(same_bits(hand.round(dx), got.data()));
        }
    }

    /// Nothing that a pass leaves is outside the format, gradients of each shard included, statistics and
    /// losses apart.
    void everythingIsInTheFormat_data() { add_rows(); }
    void everythingIsInTheFormat() {
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
        const auto in_format = [&](const float* values, std::size_t count) {
            return std::all_of(values, values + count, [&](float v) { return v == rounded(to, v); });
        };
        const std::size_t count = kR * kD;
        for (const float* h : tape.hidden) QVERIFY(in_format(h, count));
        for (std::size_t i = 0; i < tape.sublayers.size(); ++i) {
            const SublayerTape<float>& t = tape.sublayers[i];
            QVERIFY(in_format(t.f, count));
            if (i % 2 == 0)
                QVERIFY(in_format(t.qkv, 3 * count) && in_format(t.probabilities, kR * kHeads * kN) &&
                        in_format(t.mixed, count));
            if (i % 2 == 1) QVERIFY(in_format(t.pre, kR * kFf) && in_format(t.activated, kR * kFf));
        }
        QVERIFY(in_format(tape.logits, kR * kVocab));
        for (const auto& h : record.hidden) QVERIFY(in_format(h.data(), h.size()));
        for (const auto& shard : gradients.shards)
            for (const TensorInfo& t : model.table().tensors())
                QVERIFY2(in_format(shard.data() + t.offset, t.count), t.name.c_str());
    }

    /// A shard of several sequences adds their gradients at each position and token: the sums are rounded.
    void sumsOverTheSequencesOfAShardAreRounded() {
        for (const Rounding to : {Rounding::Bf16, Rounding::Fp16}) {
            StackSpec spec = stack_of(Scheme::Pre);
            spec.position = Position::Learned;
            const auto model = model_of(spec, to);
            const int sequences = 3 * model.device().shards(1000);
            Batch batch{sequences, kN, {}, {}};
            for (int i = 0; i < sequences * kN; ++i) {
                batch.tokens.push_back((5 * i + i / 7) % kVocab);
                batch.targets.push_back((7 * i + 1) % kVocab);
            }
            ThreadPool pool(1);
            Tape<float> tape;
            Gradients<float> gradients;
            model.forward(batch, tape, pool);
            model.clear(gradients, sequences);
            model.backward(batch, tape, 1, gradients, pool, nullptr);
            for (const char* name : {"pos_emb", "tok_emb"}) {
                const TensorInfo* t = model.table().find(name);
                QVERIFY(t);
                for (const auto& shard : gradients.shards)
                    for (std::size_t i = t->offset; i < t->offset + t->count; ++i)
                        QCOMPARE(shard.data()[i], rounded(to, shard.data()[i]));
            }
        }
    }

    /// The same of a LLaMA block with norms on q and k, parallel layout and learned branch scales.
    void everythingIsInTheFormatWithEveryOption() {
        for (Rounding rounding : {Rounding::Bf16, Rounding::Fp16}) {
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
            spec.embedding_norm = true;
            spec.branch_scale = BranchScale::Channel;
            spec.logit_soft_cap = 5;
            complete(spec, kVocab);
            const auto model = model_of(spec, rounding);
            const Batch batch = small_batch();
            ThreadPool pool(1);
            Tape<float> tape;
            Gradients<float> gradients;
            BackwardRecord<float> record;
            model.forward(batch, tape, pool);
            model.clear(gradients, kB);
            model.backward(batch, tape, 1, gradients, pool, &record);
            const auto in_format = [&](const float* values, std::size_t count) {
                return std::all_of(values, values + count,
                                   [&](float v) { return v == rounded(rounding, v); });
            };
            for (const float* h : tape.hidden) QVERIFY(in_format(h, kR * kD));
            QVERIFY(in_format(tape.logits, kR * kVocab));
            for (const auto& h : record.hidden) QVERIFY(in_format(h.data(), h.size()));
            for (const auto& shard : gradients.shards)
                for (const TensorInfo& t : model.table().tensors())
                    QVERIFY2(in_format(shard.data() + t.offset, t.count), t.name.c_str());
            for (int k = 0; k < 2 * spec.depth; ++k) {
                Floats tangent(2 * kN * kD, 1.0f);
                if (k % 2 == 0) model.tangent(tape, 0, k, k + 2, 0, 2, Jacobian::Backprop, tangent.data());
                QVERIFY(in_format(tangent.data(), tangent.size()));
            }
        }
    }

    void gatesStayFloat32() {
        StackSpec spec = stack_of(Scheme::Pre);
        spec.gpas.enabled = true;
        Transformer<float> model(spec, 3);
        Floats weights(model.parameters().begin(), model.parameters().end());
        std::fill(weights.begin(), weights.end(), 0.1f);
        model.set_rounding(Rounding::Bf16);
        model.set_parameters(weights);
        for (const TensorInfo& t : model.table().tensors())
            QCOMPARE(model.parameters()[t.offset], t.is_gate() ? 0.1f : 0.10009765625f);
    }

    void withoutRoundingNothingChanges() {
        const StackSpec spec = stack_of(Scheme::Post);
        const Transformer<float> fresh(spec, 3);
        Transformer<float> back(spec, 3);
        back.set_rounding(Rounding::Fp16);
        back.set_rounding(Rounding::None);
        ThreadPool pool(1);
        Tape<float> a, b;
        fresh.forward(small_batch(), a, pool);
        back.forward(small_batch(), b, pool);
        QVERIFY(same_bits(copy(a.logits, kR * kVocab), b.logits));
    }

    void float64Rejects() {
        Transformer<double> model(stack_of(Scheme::Pre), 3);
        QVERIFY_EXCEPTION_THROWN(model.set_rounding(Rounding::Bf16), InputError);
        model.set_rounding(Rounding::None);
    }
};

NORMSCOPE_TEST(EmulatedPrecisionTest)
#include "emulated_precision_test.moc"
