// SPDX-License-Identifier: GPL-3.0-or-later
// GEMM in an emulated format over a float32 GEMM, as on a GPU, gives the bits of the CPU's emulated products:
// both multiply with the same float32 GEMM here.
#include "core/backend/cuda/rounding_gemm.h"

#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/backend/cuda/host_gemm.h"
#include "tests/backend/operations.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::device_side;

namespace {

/// Unchecked where kernels are not instrumented.
grid::Schedule schedule() {
    return {grid::Schedule::Order::Drawn, 1, grid::accesses_checked()};
}

class TestContext final : public cuda::Context {
  public:
    explicit TestContext(Device& device) : device_(device) {}
    cuda::Queue queue() const override { return {schedule()}; }
    void* workspace(cuda::Work slot, std::size_t bytes) override {
        return device_.scratch(static_cast<int>(slot), bytes);
    }
    void copy(void* to, const void* from, std::size_t bytes) override { device_.copy(to, from, bytes); }

  private:
    Device& device_;
};

std::vector<double> in_format(Rounding to, std::vector<double> values) {
    for (double& v : values) v = static_cast<double>(rounded(to, static_cast<float>(v)));
    return values;
}

}  // namespace

class RoundingGemmTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void formats_data() {
        QTest::addColumn<int>("rounding");
        QTest::addColumn<int>("policy");
        for (const auto rounding : {Rounding::Bf16, Rounding::Fp16})
            for (const auto policy : {PrecisionPolicy::Pure, PrecisionPolicy::Autocast})
                QTest::addRow("%s%s", rounding == Rounding::Bf16 ? "bf16" : "fp16",
                              policy == PrecisionPolicy::Pure ? "" : " autocast")
                    << static_cast<int>(rounding) << static_cast<int>(policy);
    }
    void formats() {
        QFETCH(int, rounding);
        QFETCH(int, policy);
        const auto to = static_cast<Rounding>(rounding);
        const auto by = static_cast<PrecisionPolicy>(policy);
        EmulatedCudaDevice device(schedule());
        TestContext context(device);
        cuda::HostGemm<float> plain(schedule().checked), expected(schedule().checked, to, by);
        cuda::RoundingGemm found(context, plain, to, by);
        // Under Pure the operands are of the format; under Autocast they are float32.
        const auto values = [&](std::size_t count, std::uint64_t seed) {
            return by == PrecisionPolicy::Pure ? in_format(to, drawn(count, seed)) : drawn(count, seed);
        };
        constexpr int M = 7, N = 13, K = 21, batch = 3, ld = 29;
        const std::size_t stride = area(31, ld), size = 3 * stride;
        for (const cuda::Form form : {cuda::Form::Nt, cuda::Form::Nn, cuda::Form::Tn})
            for (const float beta : {0.0f, 1.0f})  // with others the CPU may fuse beta·C and the sum
                for (const std::size_t a_stride : {stride, std::size_t{0}}) {
                    const auto result = [&](cuda::GemmLibrary<float>& library) {
                        Side<float> s(device);
                        float* C = s.in(values(size, 3));
                        library.multiply({form,
                                          M,
                                          N,
                                          K,
                                          {s.in(values(size, 1)), ld, a_stride},
                                          {s.in(values(size, 2)), ld, stride},
                                          {C, ld, stride},
                                          batch,
                                          1,
                                          beta});
                        return s.read(C, size);
                    };
                    const auto mine = result(found);
                    QVERIFY(mine == result(expected));
                    QVERIFY(mine != result(plain));
                }
        for (const bool bias : {false, true}) {
            const auto result = [&](cuda::GemmLibrary<float>& library) {
                Side<float> s(device);
                float* y = s.out(area(M, N));
                library.linear(M, N, K, s.in(values(area(M, K), 1)), s.in(values(area(N, K), 2)),
                               bias ? s.in(values(N, 3)) : nullptr, y);
                return s.read(y, area(M, N));
            };
            const auto mine = result(found);
            QVERIFY(mine == result(expected));
            QVERIFY(mine == in_format(to, mine));
        }
    }
};

QTEST_GUILESS_MAIN(RoundingGemmTest)
#include "rounding_gemm_test.moc"
