// SPDX-License-Identifier: GPL-3.0-or-later
// Options drawn apart: what tests usually move together (kv heads with q/k norms, RMSNorm with SwiGLU and
// RoPE) is drawn independently, and each tensor's gradient is held against the loss itself, by central
// differences in float64.
#include "core/model/transformer.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

using namespace normscope;

namespace {

constexpr int kStacks = 160, kTokens = 4, kVocab = 5;
using Random = std::mt19937_64;  // its sequence is fixed by the standard

template <class Choices>
auto any(Random& random, const Choices& choices) {
    return *(std::begin(choices) + static_cast<std::ptrdiff_t>(random() % std::size(choices)));
}

StackSpec drawn(std::uint64_t seed) {
    Random random(seed);
    StackSpec s;
    s.depth = 2;
    s.d_model = 8;
    s.heads = 4;
    s.context = kTokens;
    s.kv_heads = any(random, std::vector{1, 2, 4});
    s.qk_norm = any(random, std::vector{QkNorm::Off, QkNorm::Head, QkNorm::Full});
    s.norm.kind = any(random, std::vector{NormKind::LayerNorm, NormKind::RmsNorm});
    // Smooth ones: a kink has no difference quotient.
    s.activation = any(
        random, std::vector{Activation::GeluTanh, Activation::GeluErf, Activation::Silu, Activation::SwiGlu});
    s.position = any(random, std::vector{Position::Learned, Position::Rope, Position::None});
    s.bias = any(random, std::vector{true, false});
    s.tied_head = any(random, std::vector{true, false});
    s.causal = any(random, std::vector{true, false});
    s.layout = any(random, std::vector{Layout::Serial, Layout::Parallel});
    s.scheme =
        any(random, std::vector{Scheme::None, Scheme::Post, Scheme::Pre, Scheme::Peri, Scheme::Sandwich,
                                Scheme::DeepNorm, Scheme::Mix, Scheme::Lns, Scheme::Output});
    s.branch_scale = any(random, std::vector{BranchScale::None, BranchScale::Scalar, BranchScale::Channel});
    s.embedding_norm = any(random, std::vector{true, false});
    s.logit_soft_cap = any(random, std::vector{0.0, 3.0});
    // Angles that are scaled, with other amplitudes than 1.
    s.rope_scaling = any(
        random, std::vector<RopeScaling>{{}, {RopeScalingKind::Yarn, 4, 2}, {RopeScalingKind::Llama3, 4, 3}});
    s.head_width = any(random, std::vector{0, 4, 6});
    s.embedding_scale = any(random, std::vector{1.0, 2.5});
    s.rope_global_every = any(random, std::vector{1, 2});
    s.rope_local_base = 3;
    if (s.causal && s.rope_global_every > 1) s.window = any(random, std::vector{0, 2, 3});
    s.head_bias = any(random, std::vector{true, false});
    s.attention_soft_cap = any(random, std::vector{0.0, 0.8});
    s.norm.affine = any(random, std::vector{true, true, false});
    s.shared_norm = s.layout == Layout::Parallel && any(random, std::vector{true, false});
    if (s.activation == Activation::SwiGlu && any(random, std::vector{true, false}))
        s.activation = Activation::GeGlu;
    s.residual_step = 0.7;
    s.temperature = 1.3;
    complete(s, kVocab);
    return s;
}

bool valid(const StackSpec& s) {
    try {
        validate(s);
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

Batch batch() {
    Batch b{3, kTokens, {}, {}};
    for (int i = 0; i < 3 * kTokens; ++i) {
        b.tokens.push_back((3 * i + 1) % kVocab);
        b.targets.push_back((2 * i + 3) % kVocab);
    }
    return b;
}

}  // namespace

class OptionPairsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void everyTensorsGradientIsTheLosss() {
        ThreadPool pool(1);
        const Batch b = batch();
        std::set<std::tuple<int, int>> kv_and_qk;
        std::set<std::tuple<int, int, int>> norm_activation_position;
        int stacks = 0, tensors = 0;
        for (std::uint64_t seed = 1; stacks < kStacks; ++seed) {
            const StackSpec spec = drawn(seed);
            if (!valid(spec)) continue;
            ++stacks;
            kv_and_qk.insert({spec.kv_heads, static_cast<int>(spec.qk_norm)});
            norm_activation_position.insert({static_cast<int>(spec.norm.kind), is_gated(spec.activation),
                                             static_cast<int>(spec.position)});
            Transformer<double> model(spec, seed);
            Random random(seed + 99);
            std::normal_distribution<double> normal(0, 0.3);
            for (const TensorInfo& t : model.table().tensors())
                if (t.shape.size() < 2)
                    for (std::size_t i = 0; i < t.count; ++i)
                        model.parameters()[t.offset + i] += normal(random);
            Tape<double> tape;
            model.forward(b, tape, pool);
            Gradients<double> gradients;
            model.clear(gradients, b.sequences);
            model.backward(b, tape, 1, gradients, pool);
            model.reduce(gradients, pool);
            const std::vector<double> gradient = gradients.total().values();
            for (const TensorInfo& t : model.table().tensors()) {
                ++tensors;
                std::vector<double> direction(t.count);
                double slope = 0, size = 0;
                for (std::size_t i = 0; i < t.count; ++i) {
                    direction[i] = normal(random);
                    slope += direction[i] * gradient[t.offset + i];
                    size += std::abs(direction[i] * gradient[t.offset + i]);
                }
                const auto loss_at = [&](double step) {
                    for (std::size_t i = 0; i < t.count; ++i)
                        model.parameters()[t.offset + i] += step * direction[i];
                    model.forward(b, tape, pool);
                    for (std::size_t i = 0; i < t.count; ++i)
                        model.parameters()[t.offset + i] -= step * direction[i];
                    return tape.mean_loss();
                };
                constexpr double h = 1e-6;
                const double coarse = (loss_at(h) - loss_at(-h)) / (2 * h);
                const double fine = (loss_at(h / 2) - loss_at(-h / 2)) / h;
                // The quotient's own error, which norms on short queries and keys make large, falls by 4.
                const double measured = (4 * fine - coarse) / 3;
                QVERIFY2(std::abs(measured - slope) <= 2e-6 * std::max(1.0, size) + std::abs(fine - coarse),
                         qPrintable(QString("stack %1, %2: %3 instead of %4")
                                        .arg(seed)
                                        .arg(t.name.c_str())
                                        .arg(slope)
                                        .arg(measured)));
            }
        }
        // Every pair was seen, in particular those that presets never make.
        QCOMPARE(kv_and_qk.size(), std::size_t{9});
        QCOMPARE(norm_activation_position.size(), std::size_t{12});
        qInfo("%d stacks, %d tensors", stacks, tensors);
    }
};

NORMSCOPE_TEST(OptionPairsTest)
#include "option_pairs_test.moc"
