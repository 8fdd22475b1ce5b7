// SPDX-License-Identifier: GPL-3.0-or-later
// One kind of operation at a time in a short format: each is the float32 operation on exact inputs, rounded.

#include "core/probe/precision/mismatch_split.h"

#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/probe/registry.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <numeric>

using namespace normscope;

namespace {

StackSpec small_stack() {
    StackSpec s;
    s.depth = 2;
    s.d_model = 12;
    s.heads = 3;
    s.context = 7;
    complete(s, 17);
    return s;
}

Batch small_batch() {
    Batch batch{2, 7, {}, {}};
    for (int i = 0; i < 14; ++i) batch.tokens.push_back((5 * i + i * i / 7 + 2) % 17);
    return batch;
}

std::vector<float> copy_of(const float* values, std::size_t count) {
    return {values, values + count};
}

std::vector<float> rounded(std::vector<float> values, Rounding format) {
    row_kernels<float>().round(format, values.size(), values.data());
    return values;
}

/// What a pass leaves at the places of layer 0, in the order of computation, and the logits.
struct Places {
    std::vector<float> embedded, u, qkv, probabilities, mixed, attention, after_attention, activated, logits;
};
constexpr std::size_t kRows = 14, kWidth = 12;

Places pass(const StackSpec& spec, const OperationKinds* low, Rounding format) {
    Transformer<float> model(spec, 5);
    SplitPassOps ops(format, low ? *low : OperationKinds{});
    if (low) model.set_operations(&ops.layers, &ops.elementwise);
    Tape<float> tape;
    ThreadPool pool(1);
    model.forward(small_batch(), tape, pool);
    const auto& attention = tape.sublayers[0];
    return {copy_of(tape.hidden[0], kRows * kWidth),
            copy_of(attention.u, kRows * kWidth),
            copy_of(attention.qkv, kRows * 3 * kWidth),
            copy_of(attention.probabilities, std::size_t{2} * 3 * 7 * 7),
            copy_of(attention.mixed, kRows * kWidth),
            copy_of(attention.f, kRows * kWidth),
            copy_of(tape.hidden[1], kRows * kWidth),
            copy_of(tape.sublayers[1].activated, kRows * 4 * kWidth),
            copy_of(tape.logits, kRows * 17)};
}

OperationKinds only(OperationKind kind) {
    OperationKinds low{};
    low[static_cast<std::size_t>(kind)] = true;
    return low;
}

}  // namespace

class MismatchSplitTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void noKindIsFloat32() {
        const OperationKinds none{};
        const Places split = pass(small_stack(), &none, Rounding::Bf16);
        const Places exact = pass(small_stack(), nullptr, Rounding::Bf16);
        // Without transposed weights sums may have another order.
        for (std::size_t i = 0; i < exact.logits.size(); ++i)
            QVERIFY(std::abs(split.logits[i] - exact.logits[i]) < 1e-5F);
        QCOMPARE(split.embedded, exact.embedded);
    }

    /// Bit for bit: the first result of the kind is the exact one, rounded; what is computed before it is
    /// exact.
    void theFirstResultIsRounded_data() {
        QTest::addColumn<int>("format");
        QTest::newRow("bf16") << static_cast<int>(Rounding::Bf16);
        QTest::newRow("fp16") << static_cast<int>(Rounding::Fp16);
    }
    void theFirstResultIsRounded() {
        QFETCH(int, format);
        const auto to = static_cast<Rounding>(format);
        const OperationKinds none{};
        const Places exact = pass(small_stack(), &none, to);
        const auto check = [&](OperationKind kind, std::vector<float> Places::*first,
                               std::vector<float> Places::*before) {
            const OperationKinds low = only(kind);
            const Places split = pass(small_stack(), &low, to);
            if (before) QCOMPARE(split.*before, exact.*before);
            QCOMPARE(split.*first, rounded(exact.*first, to));
            QVERIFY(split.*first != exact.*first);
            QVERIFY(split.logits != exact.logits);
        };
        check(OperationKind::Residual, &Places::embedded, nullptr);
        check(OperationKind::Norm, &Places::u, &Places::embedded);
        check(OperationKind::Softmax, &Places::probabilities, &Places::qkv);
        check(OperationKind::Activation, &Places::activated, &Places::after_attention);
    }

    /// A GEMM rounds its operands and its result: the entries have the format, and are near the exact ones.
    void productsHaveTheFormat() {
        const OperationKinds none{};
        const Places exact = pass(small_stack(), &none, Rounding::Bf16);
        const auto check = [&](OperationKind kind, std::vector<float> Places::*result,
                               std::vector<float> Places::*before) {
            const OperationKinds low = only(kind);
            const Places split = pass(small_stack(), &low, Rounding::Bf16);
            if (before) QCOMPARE(split.*before, exact.*before);
            const std::vector<float>& got = split.*result;
            QCOMPARE(got, rounded(got, Rounding::Bf16));
            double error = 0, size = 0;
            for (std::size_t i = 0; i < got.size(); ++i) {
                error += std::pow(got[i] - (exact.*result)[i], 2);
                size += std::pow((exact.*result)[i], 2);
            }
            QVERIFY2(error > 0 && std::sqrt(error / size) < 0.01, qPrintable(QString::number(error / size)));
        };
        check(OperationKind::Projections, &Places::qkv, &Places::u);
        check(OperationKind::Mixing, &Places::mixed, &Places::probabilities);
        check(OperationKind::FeedForward, &Places::logits, &Places::after_attention);
        const OperationKinds low = only(OperationKind::Scores);
        const Places split = pass(small_stack(), &low, Rounding::Bf16);
        QCOMPARE(split.qkv, exact.qkv);
        QVERIFY(split.probabilities != exact.probabilities);
    }

    void partsAndRemainderAddUp() {
        const Transformer<float> model(small_stack(), 3);
        const Batch batch = small_batch();
        ThreadPool pool(1);
        ProbeInput<float> input(model, batch, pool, 0);
        const ProbeResult result = run_probe(*find_probe("mismatch"), input);
        QCOMPARE(result.labels.at("parts").size(), std::size_t{kOperationKinds});
        for (const std::string format : {"bf16", "fp16"}) {
            const auto& shares = result.find("split_" + format)->data;
            const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
            QVERIFY(std::abs(sum + result.find("remainder_" + format)->data[0] - 1) < 1e-12);
            const auto& alone = result.find("only_" + format)->data;
            const auto& others = result.find("without_" + format)->data;
            for (std::size_t i = 0; i < shares.size(); ++i) {
                QVERIFY(alone[i] > 0 && others[i] > 0);
                QVERIFY(std::abs(shares[i] / shares[0] - alone[i] * alone[i] / (alone[0] * alone[0])) <
                        1e-9 * shares[i] / shares[0]);
            }
        }
        // Three more bits of significand: errors are about an eighth.
        const double coarse = result.find("only_bf16")->data[3], fine = result.find("only_fp16")->data[3];
        QVERIFY2(fine > coarse / 20 && fine < coarse / 4, qPrintable(QString("%1 %2").arg(coarse).arg(fine)));
    }
};

NORMSCOPE_TEST(MismatchSplitTest)
#include "mismatch_split_test.moc"
