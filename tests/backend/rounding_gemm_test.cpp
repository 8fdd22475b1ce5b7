// SPDX-License-Identifier: GPL-3.0-or-later
// GEMM with operands in 16 bits, as on tensor cores, gives the bits of the CPU's emulated products: both sum
// by the same float32 GEMM here. TF32 against its definition.
#include "core/backend/cuda/rounding_gemm.h"

#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/backend/cuda/host_gemm.h"
#include "core/backend/cuda/launch/short_format.h"
#include "tests/backend/operations.h"
#include "tests/gpu/gemm_formats.h"
#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::device_side;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(),
                kNan = std::numeric_limits<float>::quiet_NaN();

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
    cuda::DelayedSums& sums() override { return sums_; }
    void copy(void* to, const void* from, std::size_t bytes) override { device_.copy(to, from, bytes); }

  private:
    Device& device_;
    cuda::DelayedSums sums_;
};

std::vector<double> in_format(Rounding to, std::vector<double> values) {
    for (double& v : values) v = static_cast<double>(rounded(to, static_cast<float>(v)));
    return values;
}

/// Bit for bit, but for the payload of a NaN.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
        if (!both_nan && std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i]))
            return false;
    }
    return true;
}

/// Where the formats end: overflow, ties, subnormals, signed zeros.
const std::vector<double> kEdges = [] {
    std::vector<double> edges;
    for (const float magnitude :
         {0.0f,       1.0f,      0.1f,         65504.0f,   0x1.ffdffep15f, 65520.0f,
          70000.0f,   0x1p-14f,  0x1.ff8p-15f, 0x1p-24f,   0x1p-25f,       0x1.000002p-25f,
          0x1.8p-24f, 0x1p-45f,  0x1p-126f,    0x1p-149f,  0x1.fep127f,    std::numeric_limits<float>::max(),
          0x1.01p0f,  0x1.03p0f, 0x1.002p0f,   0x1.006p0f, kInfinity,      kNan})
        for (const float sign : {1.0f, -1.0f}) edges.push_back(static_cast<double>(sign * magnitude));
    return edges;
}();

}  // namespace

class RoundingGemmTest : public QObject {
    Q_OBJECT

    void add_formats() {
        QTest::addColumn<int>("rounding");
        QTest::addColumn<int>("policy");
        for (const auto rounding : {Rounding::Bf16, Rounding::Fp16})
            for (const auto policy : {PrecisionPolicy::Pure, PrecisionPolicy::Autocast})
                QTest::addRow("%s%s", rounding == Rounding::Bf16 ? "bf16" : "fp16",
                              policy == PrecisionPolicy::Pure ? "" : " autocast")
                    << static_cast<int>(rounding) << static_cast<int>(policy);
    }

  private Q_SLOTS:
    /// The stored values by their definition; then every float that is a boundary, and its neighbours.
    void storage() {
        for (const Rounding format : {Rounding::Bf16, Rounding::Fp16}) {
            const bool bf16 = format == Rounding::Bf16;
            const int significand = bf16 ? 7 : 10, bias = bf16 ? 127 : 15;
            for (std::uint32_t stored = 0; stored < 0x10000u; ++stored) {
                const int exponent = static_cast<int>((stored & 0x7fffu) >> significand);
                const int rest = static_cast<int>(stored) & ((1 << significand) - 1);
                const auto found =
                    static_cast<double>(cuda::from_16_bits(format, static_cast<std::uint16_t>(stored)));
                double expected = std::ldexp((exponent ? 1 << significand : 0) + rest,
                                             std::max(exponent, 1) - bias - significand);
                if (exponent == 2 * bias + 1) expected = rest ? kNan : kInfinity;
                if (stored & 0x8000u) expected = -expected;
                if (!same({found}, {expected})) QFAIL(qPrintable(QString::number(stored, 16)));
                for (const std::uint32_t at : {0u, 0x1000u, 0x8000u})  // on it, and halves to the next one
                    for (const std::uint32_t off : {0u, 1u, 0xffffffffu}) {
                        const float x = float_from_bits(float_bits(static_cast<float>(found)) + at + off);
                        const std::uint16_t bits = cuda::to_16_bits(format, x);
                        if (float_bits(cuda::from_16_bits(format, bits)) != float_bits(rounded(format, x)))
                            QFAIL(qPrintable(QString::number(double(x))));
                    }
            }
        }
    }

    void formats_data() { add_formats(); }
    void formats() {
        QFETCH(int, rounding);
        QFETCH(int, policy);
        const auto to = static_cast<Rounding>(rounding);
        const auto by = static_cast<PrecisionPolicy>(policy);
        EmulatedCudaDevice device(schedule());
        TestContext context(device);
        cuda::HostGemm<float> plain(schedule().checked), expected(schedule().checked, to, by);
        cuda::HostShortGemm library(schedule().checked);
        cuda::RoundingGemm found(context, library, to, by);
        // Under Pure the operands are of the format; under Autocast they are float32.
        const auto values = [&](std::size_t count, std::uint64_t seed) {
            return by == PrecisionPolicy::Pure ? in_format(to, drawn(count, seed)) : drawn(count, seed);
        };
        constexpr int M = 7, N = 13, batch = 3, ld = 71;
        const std::size_t stride = area(67, ld), size = 3 * stride;
        const auto left = values(size, 1), right = values(size, 2), start = values(size, 3);
        for (const int K : {1, 21, 33, 65})
            for (const cuda::Form form : {cuda::Form::Nt, cuda::Form::Nn, cuda::Form::Tn})
                for (const float beta : {0.0f, 1.0f})  // with others the CPU may fuse beta·C and the sum
                    for (const std::size_t a_stride : {stride, std::size_t{0}}) {
                        const auto result = [&](cuda::GemmLibrary<float>& with) {
                            Side<float> s(device);
                            const float *A = s.in(left), *B = s.in(right);
                            float* C = s.in(start);
                            with.multiply({form,
                                           M,
                                           N,
                                           K,
                                           {A, ld, a_stride},
                                           {B, ld, stride},
                                           {C, ld, stride},
                                           batch,
                                           0.375f,
                                           beta});
                            return s.read(C, size);
                        };
                        const auto mine = result(found);
                        QVERIFY(same(mine, result(expected)));
                        QVERIFY(mine != result(plain));
                    }
        for (const int K : {1, 21, 33, 65})
            for (const bool bias : {false, true}) {
                const auto result = [&](cuda::GemmLibrary<float>& with) {
                    Side<float> s(device);
                    float* y = s.out(area(M, N));
                    with.linear({M, N, K, s.in(values(area(M, K), 1)), s.in(values(area(N, K), 2)),
                                 bias ? s.in(values(N, 3)) : nullptr, y});
                    return s.read(y, area(M, N));
                };
                const auto mine = result(found);
                QVERIFY(same(mine, result(expected)));
                QVERIFY(mine == in_format(to, mine));
            }
    }

    /// Every product of two edges, and sums of them.
    void edges_data() { add_formats(); }
    void edges() {
        QFETCH(int, rounding);
        QFETCH(int, policy);
        const auto to = static_cast<Rounding>(rounding);
        const auto by = static_cast<PrecisionPolicy>(policy);
        EmulatedCudaDevice device(schedule());
        TestContext context(device);
        cuda::HostGemm<float> expected(schedule().checked, to, by);
        cuda::HostShortGemm library(schedule().checked);
        cuda::RoundingGemm found(context, library, to, by);
        const auto values = by == PrecisionPolicy::Pure ? in_format(to, kEdges) : kEdges;
        const int count = static_cast<int>(values.size());
        int finite = 0, infinite = 0;
        for (const int K : {1, 2, 3})
            for (const cuda::Form form : {cuda::Form::Nt, cuda::Form::Nn, cuda::Form::Tn}) {
                const int M = count / K, N = count / K;
                const auto result = [&](cuda::GemmLibrary<float>& with) {
                    Side<float> s(device);
                    const float* edges = s.in(values);
                    float* C = s.out(area(M, N));
                    with.multiply({form,
                                   M,
                                   N,
                                   K,
                                   {edges, form == cuda::Form::Tn ? M : K},
                                   {edges, form == cuda::Form::Nt ? K : N},
                                   {C, N}});
                    return s.read(C, area(M, N));
                };
                const auto mine = result(found);
                QVERIFY(same(mine, result(expected)));
                for (const double v : mine) {
                    finite += std::isfinite(v) && v != 0;
                    infinite += std::isinf(v);
                }
            }
        QVERIFY(finite > 1000 && infinite > 1000);
    }

    /// Neither the range nor the steps of the format apply to the accumulator.
    void sumsAreFloat32() {
        EmulatedCudaDevice device(schedule());
        for (const Rounding to : {Rounding::Fp16, Rounding::Bf16}) {
            Side<float> s(device, to, PrecisionPolicy::Autocast);
            float* y = s.out(1);
            // 2·60000 overflows FP16, and 60000 + 1 is no value of either format.
            s.layers.linear(1, 1, 5, s.in({60000, 60000, 1, -60000, -60000}),
                            {s.in({1, 1, 1, 1, 1}), nullptr, nullptr}, y);
            QCOMPARE(s.read(y, 1).at(0), 1.0);
        }
    }

    /// What a card must pass.
    void checksOfACard() {
        EmulatedCudaDevice grid(schedule());
        for (Device* device : {static_cast<Device*>(&grid), &cpu_device()}) {
            int calls = 0;
            gpu_test::check_gemm_formats(*device, [&](const std::string& name, const auto& format,
                                                      double error, double allowed, bool same_bits) {
                ++calls;
                QVERIFY2(same_bits && error <= allowed,
                         qPrintable(QString("%1 %2: %3 units").arg(name.c_str(), format.name).arg(error)));
            });
            QCOMPARE(calls, 54);
        }
    }

    /// TF32 has no policies.
    void tf32IgnoresThePolicy() {
        EmulatedCudaDevice device(schedule());
        cuda::HostGemm<float> pure(schedule().checked, Rounding::Tf32, PrecisionPolicy::Pure),
            autocast(schedule().checked, Rounding::Tf32, PrecisionPolicy::Autocast),
            plain(schedule().checked);
        for (const float beta : {0.0f, 1.0f}) {
            const auto result = [&](cuda::GemmLibrary<float>& with) {
                Side<float> s(device);
                const float *A = s.in(drawn(area(5, 9), 1)), *B = s.in(drawn(area(9, 7), 2));
                float* C = s.in(drawn(area(5, 7), 3));
                with.multiply({cuda::Form::Nn, 5, 7, 9, {A, 9}, {B, 7}, {C, 7}, 1, 1, beta});
                return s.read(C, area(5, 7));
            };
            QCOMPARE(result(pure), result(autocast));
            QVERIFY(result(pure) != result(plain));
        }
    }

    /// A product of two TF32 values is exact in float32; nothing but the operands is rounded.
    void tf32() {
        EmulatedCudaDevice grid(schedule());
        for (Device* device : {static_cast<Device*>(&grid), &cpu_device()})
            for (const PrecisionPolicy policy : {PrecisionPolicy::Pure, PrecisionPolicy::Autocast}) {
                Side<float> s(*device, Rounding::Tf32, policy);
                // Not rounded, as Side::in() would.
                const auto plain_in = [&](const std::vector<double>& values) {
                    return s.of(std::vector<float>(values.begin(), values.end()));
                };
                const std::vector<double> finite = [] {
                    std::vector<double> values{0x1.002p0, 0x1.006p0, 0x1.0062p0, -0x1.002p0, 0.1};
                    for (const double v : drawn(28, 1)) values.push_back(v);
                    return values;
                }();
                const int count = static_cast<int>(finite.size());
                float* y = s.out(area(count, count));
                s.layers.linear(count, count, 1, plain_in(finite), {plain_in(finite), nullptr, nullptr}, y);
                const auto products = s.read(y, area(count, count));
                const auto low = in_format(Rounding::Tf32, finite);
                for (std::size_t i = 0; i < low.size(); ++i)
                    for (std::size_t j = 0; j < low.size(); ++j)
                        QCOMPARE(products[i * low.size() + j], low[i] * low[j]);
                QCOMPARE(low[0], 0x1.004p0);  // a tie, away from zero
                QCOMPARE(low[3], -0x1.004p0);
                for (const int K : {33, 65}) {
                    const int M = 5, N = 9;
                    const auto a = drawn(area(M, K), 2), b = drawn(area(N, K), 3), bias = drawn(N, 4),
                               dy = drawn(area(M, N), 5), start = drawn(area(N, K), 6);
                    const auto a_low = in_format(Rounding::Tf32, a), b_low = in_format(Rounding::Tf32, b),
                               dy_low = in_format(Rounding::Tf32, dy);
                    float *out = s.out(area(M, N)), *dW = plain_in(start);
                    s.layers.linear(M, N, K, plain_in(a), {plain_in(b), nullptr, plain_in(bias)}, out);
                    s.layers.linear_weight_gradient(M, N, K, plain_in(dy), plain_in(a), false, dW);
                    const auto forward = s.read(out, area(M, N)), gradient = s.read(dW, area(N, K));
                    for (int r = 0; r < M; ++r)
                        for (int c = 0; c < N; ++c) {
                            double sum = bias[std::size_t(c)];
                            for (int k = 0; k < K; ++k)
                                sum +=
                                    a_low[area(r, K) + std::size_t(k)] * b_low[area(c, K) + std::size_t(k)];
                            QVERIFY(std::abs(sum - forward[area(r, N) + std::size_t(c)]) < 4e-6);
                        }
                    for (int r = 0; r < N; ++r)
                        for (int c = 0; c < K; ++c) {
                            double sum = start[area(r, K) + std::size_t(c)];
                            for (int k = 0; k < M; ++k)
                                sum +=
                                    dy_low[area(k, N) + std::size_t(r)] * a_low[area(k, K) + std::size_t(c)];
                            QVERIFY(std::abs(sum - gradient[area(r, K) + std::size_t(c)]) < 4e-6);
                        }
                }
            }
    }
};

NORMSCOPE_TEST(RoundingGemmTest)
#include "rounding_gemm_test.moc"
