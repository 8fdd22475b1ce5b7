// SPDX-License-Identifier: GPL-3.0-or-later
// The gradients of a training step whose tape is in 16 bits, on the emulated CUDA device with all accesses
// checked, against those of the same device's separate operations, whose tape is float32: the same bits but
// for the head, whose softmax is summed in another order. The separate operations are held against float64
// and the CPU by backend_cuda_formats.
#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/model/transformer.h"
#include "tests/model/random_model.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace normscope;

namespace {

constexpr int kVocabulary = 13;

/// Tiles alone, as on a card.
EmulatedCudaDevice& device() {
    // Never destroyed: the memory of the grid may be gone before it.
    static EmulatedCudaDevice& made = *new EmulatedCudaDevice({grid::Schedule::Order::Drawn, 3, true}, 0);
    return made;
}

StackSpec stack_of(Block block, Scheme scheme) {
    StackSpec s;
    apply_block_preset(s, block);
    s.scheme = scheme;
    s.depth = 2;
    s.d_model = 16;
    s.heads = 2;
    s.d_ff = 24;
    s.context = 9;
    s.residual_step = 0.7;
    s.temperature = 0.8;
    return s;
}

struct Named {
    std::string name;
    StackSpec spec;
};
/// Stacks of which all sub-layers are in 16 bits.
std::vector<Named> stacks() {
    std::vector<Named> all;
    for (const Block block : {Block::Gpt2, Block::Llama})
        for (const Scheme scheme : {Scheme::Pre, Scheme::Post, Scheme::Peri, Scheme::DeepNorm})
            all.push_back({"block " + std::to_string(static_cast<int>(block)) + ", scheme " +
                               std::to_string(static_cast<int>(scheme)),
                           stack_of(block, scheme)});
    const auto option = [&](const char* name, Block block) -> StackSpec& {
        all.push_back({name, stack_of(block, Scheme::Pre)});
        return all.back().spec;
    };
    option("grouped keys, heads read in place", Block::Llama).d_model = 64;
    all.back().spec.kv_heads = 1;
    option("heads wider than the rows", Block::Llama).head_width = 16;
    all.back().spec.rope_global_every = 2;
    option("heads narrower than the rows", Block::Gpt2).head_width = 4;
    option("GeGLU, scaled embedding", Block::Llama).activation = Activation::GeGlu;
    all.back().spec.embedding_scale = 4;
    option("more tokens than a tile", Block::Gpt2).context = 70;
    option("not causal", Block::Gpt2).causal = false;
    option("ReLU", Block::Gpt2).activation = Activation::Relu;
    option("GELU by erf", Block::Gpt2).activation = Activation::GeluErf;
    option("SiLU", Block::Gpt2).activation = Activation::Silu;
    option("parallel", Block::Gpt2).layout = Layout::Parallel;
    option("parallel with one norm", Block::Gpt2).layout = Layout::Parallel;
    all.back().spec.shared_norm = true;
    option("fixed gains, a bias at the head", Block::Gpt2).norm.affine = false;
    all.back().spec.head_bias = true;
    option("scaled channels", Block::Gpt2).branch_scale = BranchScale::Channel;
    option("tied head", Block::Gpt2).tied_head = true;
    return all;
}

Batch tokens(int sequences, int length) {
    Batch batch{sequences, length, {}, {}};
    for (int i = 0; i < sequences * length; ++i) {
        batch.tokens.push_back(i * i % kVocabulary);
        batch.targets.push_back(i % 5 == 3 ? kIgnored : (3 * i + i / 4) % kVocabulary);
    }
    return batch;
}

struct Result {
    std::vector<float> gradient, losses;
    std::vector<double> squares;
};

/// Of two batches that are accumulated: what is overwritten, and what is added to.
Result step(const Transformer<float>& model, float factor) {
    ThreadPool pool(1);
    StepScratch<float> scratch;
    Gradients<float> gradients;
    model.clear(gradients, 2);
    for (const int sequences : {2, 1})
        model.accumulate(tokens(sequences, model.spec().context), factor, gradients, scratch, pool);
    return {gradients.total().values(), scratch.losses.values(), gradients.hidden_squares.values()};
}

struct Both {
    Result compact, separate;
};
Both both(StackSpec spec, Rounding rounding, float factor) {
    complete(spec, kVocabulary);
    validate(spec);
    Transformer<float> model(spec, 5, device());
    {
        // Gains and biases away from where they start.
        const std::vector<float> initial = [&] {
            const HostView<float> on_host = model.host_parameters();
            return std::vector<float>(on_host.begin(), on_host.end());
        }();
        HostEdit<float> weights(device(), model.parameters().data(), initial.size());
        const std::vector<double> noise = normals(initial.size(), 6);
        for (const TensorInfo& t : model.table().tensors())
            for (std::size_t i = t.offset; i < t.offset + t.count; ++i)
                weights.data()[i] = initial[i] + static_cast<float>(t.shape.size() < 2 ? 0.3 * noise[i] : 0);
        weights.commit();
    }
    model.set_rounding(rounding, PrecisionPolicy::Autocast);
    Both results;
    results.compact = step(model, factor);
    const PassOps<float> ops = device().pass_ops<float>(rounding, PrecisionPolicy::Autocast);
    model.set_operations(&ops.layers, &ops.elementwise);
    results.separate = step(model, factor);
    return results;
}

/// ‖a − b‖/‖b‖
double distance(const std::vector<float>& a, const std::vector<float>& b) {
    double difference = 0, whole = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
        whole += std::pow(static_cast<double>(b[i]), 2);
    }
    return whole > 0 ? std::sqrt(difference / whole) : std::numeric_limits<double>::infinity();
}

void add_rows() {
    QTest::addColumn<int>("stack");
    QTest::addColumn<Rounding>("rounding");
    const std::vector<Named> all = stacks();
    for (std::size_t i = 0; i < all.size(); ++i) {
        QTest::addRow("bf16, %s", all[i].name.c_str()) << static_cast<int>(i) << Rounding::Bf16;
        if (i % 3 == 0)
            QTest::addRow("fp16, %s", all[i].name.c_str()) << static_cast<int>(i) << Rounding::Fp16;
    }
}

}  // namespace

class CompactStepTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void sublayersHaveTheSameBits_data() { add_rows(); }
    void sublayersHaveTheSameBits() {
        QFETCH(int, stack);
        QFETCH(Rounding, rounding);
        StackSpec spec = stacks()[static_cast<std::size_t>(stack)].spec;
        spec.logit_soft_cap = 30;  // the head then has none of 16 bits
        const Both results = both(spec, rounding, 1);
        QCOMPARE(results.compact.losses, results.separate.losses);
        QCOMPARE(results.compact.squares, results.separate.squares);
        QCOMPARE(results.compact.gradient, results.separate.gradient);
    }

    // The head: losses to float32, gradients to the format.
    void wholeStep_data() { add_rows(); }
    void wholeStep() {
        QFETCH(int, stack);
        QFETCH(Rounding, rounding);
        StackSpec spec = stacks()[static_cast<std::size_t>(stack)].spec;
        spec.z_loss = 0.01;
        const Both results = both(spec, rounding, 64);
        for (std::size_t i = 0; i < results.compact.losses.size(); ++i)
            QVERIFY(std::abs(results.compact.losses[i] - results.separate.losses[i]) <=
                    4e-7f * (1 + std::abs(results.separate.losses[i])));
        const double unit = rounding == Rounding::Bf16 ? 0x1p-8 : 0x1p-11;
        const double error = distance(results.compact.gradient, results.separate.gradient);
        QVERIFY2(error <= unit, qPrintable(QString::number(error)));
    }

    // A gradient that is not finite is one in both.
    void notFinite() {
        StackSpec spec = stack_of(Block::Gpt2, Scheme::Pre);
        const Both results = both(spec, Rounding::Fp16, 1e8f);
        const auto finite = [](const std::vector<float>& x) {
            return std::all_of(x.begin(), x.end(), [](float v) { return std::isfinite(v); });
        };
        QVERIFY(!finite(results.separate.gradient));
        QVERIFY(!finite(results.compact.gradient));
        QVERIFY(finite(results.compact.losses));
    }
};

NORMSCOPE_TEST(CompactStepTest)
#include "compact_step_test.moc"
