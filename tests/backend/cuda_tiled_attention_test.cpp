// SPDX-License-Identifier: GPL-3.0-or-later
// Attention in tiles on the emulated CUDA device (cuda_verify.h), against the CPU's with stored
// probabilities.
#include "tests/backend/cuda_verify.h"
#include "tests/backend/tiled_attention_case.h"

using namespace normscope;
using namespace normscope::device_side;
using operations::all_of;
using operations::TiledCase;
using operations::TiledSetup;

namespace {

struct Named {
    const char* name;
    TiledCase given;
};
const Named kCases[] = {
    {"one token", {5, 3, 1, 1, true}},
    {"head 1", {1, 3, 3, 17, true, 2, 4}},
    {"head 5, 25 heads in 5 groups", {5, 25, 5, 16, true, 1, 15}},
    {"head 8", {8, 3, 3, 7, true, 2, 1}},
    {"head 11, not causal", {11, 3, 1, 65, false, 2}},
    {"head 16", {16, 1, 1, 64, true, 1, 33}},
    {"head 33, norms", {33, 3, 3, 17, true, 1, 16, QkNorm::Head, 8}},
    {"head 64", {64, 2, 1, 129, true, 1, 64}},
    {"head 65, not causal", {65, 1, 1, 65, false}},
    {"head 128", {128, 1, 1, 129, true, 1, 128}},
    {"head 130", {130, 2, 1, 35, true, 1, 3}},
    {"head 256, not causal", {256, 1, 1, 16, false}},
    {"sharp rows", {16, 2, 1, 129, true, 1, 70, QkNorm::Off, 1, 2}},
};

constexpr Verification kFloat{Rounding::None, PrecisionPolicy::Pure, 0, 0, 3};
Verification autocast(Rounding to) {
    return {to, PrecisionPolicy::Autocast, to == Rounding::Bf16 ? 1.0 / 128 : 1.0 / 1024, 0, 3};
}

}  // namespace

class CudaTiledAttentionTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// Against float64 in float32, and in the formats against float64 and against the CPU's operations in the
    /// same format, which round the same results.
    void cases_data() {
        QTest::addColumn<int>("given");
        QTest::addColumn<int>("rounding");
        for (int k = 0; k < static_cast<int>(std::size(kCases)); ++k)
            for (const Rounding to : {Rounding::None, Rounding::Bf16, Rounding::Fp16})
                QTest::addRow("%s, %s", kCases[k].name,
                              to == Rounding::None   ? "float32"
                              : to == Rounding::Bf16 ? "bf16"
                                                     : "fp16")
                    << k << static_cast<int>(to);
    }
    void cases() {
        QFETCH(int, given);
        QFETCH(int, rounding);
        const Named& named = kCases[given];
        const auto to = static_cast<Rounding>(rounding);
        const auto call = [&](auto& side) { return all_of(side, named.given); };
        Side<double> exact(cpu_device());
        const Outputs reference = call(exact);
        if (to == Rounding::None) {
            QCOMPARE(failure_against<float>(reference, named.name, 60, call, kFloat), QString());
            return;
        }
        Side<float> low(cpu_device(), to, PrecisionPolicy::Autocast);
        QCOMPARE(failure_against<float>(call(low), named.name, 4, call, autocast(to)), QString());
        Verification once = autocast(to);
        once.seeds = 1;
        QCOMPARE(failure_against<float>(reference, named.name, 6, call, once), QString());
    }
};

QTEST_GUILESS_MAIN(CudaTiledAttentionTest)
#include "cuda_tiled_attention_test.moc"
