// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/kernels/row_kernels.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <functional>
#include <vector>

using namespace normscope;

namespace {

/// Smooth, reproducible numbers of both signs.
template <class T>
std::vector<T> wave(std::size_t count, double frequency, double offset = 0) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<T>(offset + 1.5 * std::sin(frequency * static_cast<double>(i + 1)));
    return values;
}

template <class T>
double worst(const std::vector<T>& got, const std::vector<double>& wanted) {
    double error = 0, scale = 1;  // at d = 2 the whole Jacobian is round-off
    for (std::size_t i = 0; i < got.size(); ++i) {
        error = std::max(error, std::abs(static_cast<double>(got[i]) - wanted[i]));
        scale = std::max(scale, std::abs(wanted[i]));
    }
    return error / scale;
}

std::vector<Isa> available() {
    std::vector<Isa> sets{Isa::Serial, Isa::Baseline};
    if (best_isa() >= Isa::Avx2) sets.push_back(Isa::Avx2);
    if (best_isa() >= Isa::Avx512) sets.push_back(Isa::Avx512);
    return sets;
}

constexpr Activation kActivations[] = {Activation::GeluTanh, Activation::GeluErf, Activation::Relu,
                                       Activation::Silu};
constexpr NormKind kNorms[] = {NormKind::LayerNorm, NormKind::RmsNorm};
constexpr double kTight = 1e-13;

/// Everything the table computes, for one scalar type and one instruction set.
template <class T>
struct Results {
    std::vector<T> norm, norm_dx, norm_dgamma, norm_dbeta, norm_tangent, probabilities, projected, activated,
        slope, dlogits, losses, capped, cap_slope, parameters, rotated, gated, gated_gradient, gated_tangent;
};

template <class T>
Results<T> compute(const RowKernels<T>& k, NormKind kind, Activation activation, int rows, int d) {
    const auto n = static_cast<std::size_t>(rows) * static_cast<std::size_t>(d),
               w = static_cast<std::size_t>(d);
    const auto x = wave<T>(n, 0.7, 0.3), u = wave<T>(n, 1.3), gamma = wave<T>(w, 0.4, 2),
               beta = wave<T>(w, 0.9);
    std::vector<T> mean(static_cast<std::size_t>(rows)), rstd(mean.size());
    const NormStatistics<T> statistics{mean.data(), rstd.data()};
    Results<T> r;
    r.norm.resize(n);
    k.norm_forward(kind, rows, d, x.data(), T(1e-5), gamma.data(), beta.data(), T(0.5), statistics,
                   r.norm.data());
    r.norm_dx = wave<T>(n, 0.2);
    r.norm_dgamma.resize(w);
    r.norm_dbeta.resize(w);
    k.norm_backward(kind, rows, d, x.data(), statistics, gamma.data(), u.data(), T(0.5), true,
                    r.norm_dx.data(), r.norm_dgamma.data(), r.norm_dbeta.data());
    r.norm_tangent.resize(n);
    k.norm_tangent(kind, rows, d, x.data(), statistics, gamma.data(), u.data(), T(0.5),
                   r.norm_tangent.data());
    r.probabilities = x;
    k.softmax(rows, d, std::max(0, d - rows), d >= rows, T(0.8), r.probabilities.data());
    r.projected.resize(n);
    k.softmax_project(rows, d, d, r.probabilities.data(), u.data(), T(0.8), r.projected.data());
    r.activated.resize(n);
    r.slope.resize(n);
    k.activation(activation, n, x.data(), r.activated.data(), r.slope.data());
    k.multiply(n, r.slope.data(), u.data(), r.slope.data());
    r.dlogits.resize(n);
    r.losses.resize(static_cast<std::size_t>(rows));
    std::vector<std::int32_t> targets(static_cast<std::size_t>(rows));
    for (int i = 0; i < rows; ++i) targets[static_cast<std::size_t>(i)] = (3 * i) % d;
    k.cross_entropy(rows, d, x.data(), targets.data(), T(0.25), T(0.1), r.losses.data(), r.dlogits.data());
    r.capped = x;
    k.soft_cap(n, T(0.9), r.capped.data());
    r.cap_slope.resize(n);
    k.soft_cap_derivative(n, T(0.9), r.capped.data(), u.data(), r.cap_slope.data());
    r.parameters = x;
    auto m = wave<T>(n, 0.11), v = wave<T>(n, 0.13, 2);
    k.adamw(n, {T(1e-2), T(0.9), T(0.95), T(1e-8), T(0.999), T(0.7), T(0.19), T(0.31)}, r.parameters.data(),
            u.data(), m.data(), v.data());
    const auto wide = wave<T>(2 * n, 0.37, 0.2), moved = wave<T>(2 * n, 1.7);
    r.rotated = wide;  // two heads a row, each of 2·(d / 2) entries; the odd entry between rows stays
    k.rope(rows, 2, 2 * (d / 2), 2 * d, moved.data(), false, r.rotated.data());
    r.gated.resize(n);
    k.gated(Activation::SwiGlu, rows, d, wide.data(), r.gated.data());
    r.gated_gradient.resize(2 * n);
    k.gated_backward(Activation::SwiGlu, rows, d, wide.data(), u.data(), r.gated_gradient.data());
    r.gated_tangent.resize(n);
    k.gated_tangent(Activation::SwiGlu, rows, d, wide.data(), moved.data(), r.gated_tangent.data());
    return r;
}

}  // namespace

class RowKernelsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Every instruction set computes what the one-entry reference computes, whatever the length of the tail.
    void everyInstructionSetAgreesWithSerialFloat64() {
        for (int d : {2, 3, 7, 8, 15, 16, 17, 33, 64, 100})
            for (NormKind kind : kNorms)
                for (Activation activation : kActivations) {
                    const auto wanted = compute(row_kernels<double>(Isa::Serial), kind, activation, 5, d);
                    for (Isa isa : available())
                        compare(compute(row_kernels<double>(isa), kind, activation, 5, d), wanted, kTight);
                    for (Isa isa : available())
                        compare(compute(row_kernels<float>(isa), kind, activation, 5, d), wanted, 2e-5);
                }
    }

    void normIsNormalised() {
        const int d = 37;
        const auto x = wave<double>(d, 0.7, 5);
        double mean = 0, rstd = 0;
        std::vector<double> y(d);
        row_kernels<double>().norm_forward(NormKind::LayerNorm, 1, d, x.data(), 0, nullptr, nullptr, 1,
                                           {&mean, &rstd}, y.data());
        double sum = 0, squares = 0;
        for (double v : y) sum += v, squares += v * v;
        QVERIFY(std::abs(sum / d) < kTight);
        QVERIFY(std::abs(squares / d - 1) < kTight);
    }

    /// JVP against central differences, and ⟨u, Jv⟩ = ⟨Jᵀu, v⟩, for both norms with ε > 0 and γ ≠ 1.
    void normJacobian() {
        const int d = 19;
        const auto& k = row_kernels<double>();
        const auto x = wave<double>(d, 0.7, 0.3), v = wave<double>(d, 1.1), u = wave<double>(d, 0.6),
                   gamma = wave<double>(d, 0.4, 2);
        for (NormKind kind : kNorms) {
            double mean = 0, rstd = 0;
            std::vector<double> y(d), jv(d), jtu(d);
            const auto value = [&](double h) {
                auto moved = x;
                for (int i = 0; i < d; ++i)
                    moved[static_cast<std::size_t>(i)] += h * v[static_cast<std::size_t>(i)];
                double m = 0, r = 0;
                k.norm_forward(kind, 1, d, moved.data(), 0.1, gamma.data(), nullptr, 1, {&m, &r}, y.data());
                return y;
            };
            value(0);
            k.norm_forward(kind, 1, d, x.data(), 0.1, gamma.data(), nullptr, 1, {&mean, &rstd}, y.data());
            k.norm_tangent(kind, 1, d, x.data(), {&mean, &rstd}, gamma.data(), v.data(), 1, jv.data());
            k.norm_backward(kind, 1, d, x.data(), {&mean, &rstd}, gamma.data(), u.data(), 1, false,
                            jtu.data(), nullptr, nullptr);
            const auto up = value(1e-6), down = value(-1e-6);
            double left = 0, right = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                QVERIFY(std::abs((up[i] - down[i]) / 2e-6 - jv[i]) < 1e-8);
                left += u[i] * jv[i];
                right += jtu[i] * v[i];
            }
            QVERIFY(std::abs(left - right) < 1e-12 * std::abs(left));
        }
    }

    void softmaxMasksAndSumsToOne() {
        std::vector<float> s(8 * 8);
        for (std::size_t i = 0; i < s.size(); ++i)
            s[i] = static_cast<float>(i % 7) * 30;  // large scores must not overflow
        row_kernels<float>().softmax(8, 8, 0, true, 3.0f, s.data());
        for (int r = 0; r < 8; ++r) {
            double sum = 0;
            for (int c = 0; c < 8; ++c) {
                const float p = s[static_cast<std::size_t>(r * 8 + c)];
                if (c > r) QCOMPARE(p, 0.0f);
                QVERIFY(p >= 0 && p <= 1);
                sum += static_cast<double>(p);
            }
            QVERIFY(std::abs(sum - 1) < 1e-6);
        }
    }

    void activationSlopeIsTheDerivative() {
        const auto& k = row_kernels<double>();
        for (Activation kind : kActivations)
            for (double h = -6.05; h < 6; h += 0.37) {
                const double points[] = {h - 1e-6, h, h + 1e-6};
                double values[3], slopes[3];
                k.activation(kind, 3, points, values, slopes);
                QVERIFY(std::abs((values[2] - values[0]) / 2e-6 - slopes[1]) < 1e-8);
            }
    }

    /// dlogits is the derivative of cross-entropy + z·lse², through the soft cap and without; the loss is the
    /// cross-entropy alone.
    void crossEntropyWithZLossAndSoftCap() {
        const auto& k = row_kernels<double>();
        const int V = 11;
        const std::int32_t target = 4;
        const auto x = wave<double>(V, 0.7, 0.3);
        for (double z : {0.0, 0.3})
            for (double cap : {0.0, 1.2}) {
                const auto logits_at = [&](int moved, double h) {
                    auto logits = x;
                    logits[static_cast<std::size_t>(moved)] += h;
                    if (cap > 0) k.soft_cap(logits.size(), cap, logits.data());
                    return logits;
                };
                const auto total = [&](int moved, double h) {
                    const auto logits = logits_at(moved, h);
                    double sum = 0, loss = 0;
                    for (double v : logits) sum += std::exp(v);
                    k.cross_entropy(1, V, logits.data(), &target, 1, z, &loss, nullptr);
                    if (std::abs(loss - (std::log(sum) - logits[target])) > kTight)
                        qFatal("the loss differs from its definition");
                    return loss + z * std::log(sum) * std::log(sum);
                };
                const auto logits = logits_at(0, 0);
                std::vector<double> slope(V);
                double loss = 0;
                k.cross_entropy(1, V, logits.data(), &target, 0.5, z, &loss, slope.data());
                if (cap > 0)
                    k.soft_cap_derivative(slope.size(), cap, logits.data(), slope.data(), slope.data());
                for (int i = 0; i < V; ++i) {
                    const double difference = (total(i, 1e-5) - total(i, -1e-5)) / 2e-5;
                    QVERIFY(std::abs(0.5 * difference - slope[static_cast<std::size_t>(i)]) < 1e-9);
                }
            }
    }

    /// Pairs i and i + half are rotated by the angle of their row, each head of a row alike, for any padding
    /// between the rows; the inverse turns them back.
    void ropeTurnsHalfSplitPairs() {
        constexpr int rows = 3, heads = 2, gap = 5;
        for (Isa isa : available())
            for (int half : {1, 2, 7, 8, 9, 16, 33}) {
                const int stride = heads * 2 * half + gap;
                std::vector<double> angles(static_cast<std::size_t>(rows * 2 * half));
                for (int r = 0; r < rows; ++r)
                    for (int i = 0; i < half; ++i) {
                        angles[static_cast<std::size_t>(r * 2 * half + i)] = std::cos(0.3 * r + i);
                        angles[static_cast<std::size_t>(r * 2 * half + half + i)] = std::sin(0.3 * r + i);
                    }
                const auto x = wave<double>(static_cast<std::size_t>(rows * stride), 0.7, 0.3);
                auto y = x;
                row_kernels<double>(isa).rope(rows, heads, 2 * half, stride, angles.data(), false, y.data());
                for (int r = 0; r < rows; ++r) {
                    for (int h = 0; h < heads; ++h)
                        for (int i = 0; i < half; ++i) {
                            const auto first = static_cast<std::size_t>(r * stride + h * 2 * half + i);
                            const auto second = first + static_cast<std::size_t>(half);
                            const double c = std::cos(0.3 * r + i), s = std::sin(0.3 * r + i);
                            QVERIFY(std::abs(y[first] - (c * x[first] - s * x[second])) < kTight);
                            QVERIFY(std::abs(y[second] - (s * x[first] + c * x[second])) < kTight);
                        }
                    for (int i = stride - gap; i < stride; ++i) {
                        const auto at = static_cast<std::size_t>(r * stride + i);
                        QCOMPARE(y[at], x[at]);
                    }
                }
                row_kernels<double>(isa).rope(rows, heads, 2 * half, stride, angles.data(), true, y.data());
                QVERIFY(worst(y, x) < kTight);
            }
    }

    /// a = SiLU(g) ∘ u, its gradient and its tangent against each other and against central differences.
    void swigluAndItsSlopes() {
        constexpr int width = 19;
        const auto& k = row_kernels<double>();
        const auto pre = wave<double>(2 * width, 0.7, 0.3), v = wave<double>(2 * width, 1.1),
                   u = wave<double>(width, 0.6);
        std::vector<double> a(width), up(width), down(width), jv(width), jtu(2 * width);
        k.gated(Activation::SwiGlu, 1, width, pre.data(), a.data());
        const auto moved = [&](double h, std::vector<double>& out) {
            auto shifted = pre;
            for (std::size_t i = 0; i < shifted.size(); ++i) shifted[i] += h * v[i];
            k.gated(Activation::SwiGlu, 1, width, shifted.data(), out.data());
        };
        moved(1e-6, up);
        moved(-1e-6, down);
        k.gated_tangent(Activation::SwiGlu, 1, width, pre.data(), v.data(), jv.data());
        k.gated_backward(Activation::SwiGlu, 1, width, pre.data(), u.data(), jtu.data());
        double left = 0, right = 0;
        for (std::size_t i = 0; i < width; ++i) {
            QVERIFY(std::abs(a[i] - pre[i] / (1 + std::exp(-pre[i])) * pre[width + i]) < kTight);
            QVERIFY(std::abs((up[i] - down[i]) / 2e-6 - jv[i]) < 1e-8);
            left += u[i] * jv[i];
        }
        for (std::size_t i = 0; i < 2 * width; ++i) right += jtu[i] * v[i];
        QVERIFY(std::abs(left - right) < 1e-12 * std::abs(left));
    }

    /// No loss that is not a number may pass for one.
    /// The loss of a sure and right guess: 6.1e-6 at logits of 100, whose round-off is 7.6e-6.
    void crossEntropyOfASureGuess() {
        const float logits[] = {100, 88};
        const std::int32_t target = 0;
        for (Isa isa : available()) {
            float loss = 0;
            row_kernels<float>(isa).cross_entropy(1, 2, logits, &target, 1, 0, &loss, nullptr);
            QVERIFY(std::abs(static_cast<double>(loss) - std::log1p(std::exp(-12.0))) < 1.2e-7);
        }
    }

    void crossEntropyKeepsNonFinite() {
        const std::int32_t target = 1;
        for (float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
            const float logits[] = {0, 1, bad};
            float loss = 0;
            row_kernels<float>().cross_entropy(1, 3, logits, &target, 1, 0, &loss, nullptr);
            QVERIFY(!std::isfinite(loss));
        }
    }

    /// Of seven rows, four are summed together and three by themselves.
    void aRowDoesNotDependOnItsNeighbours() {
        constexpr int d = 33, rows = 7;
        const auto x = wave<float>(rows * d, 0.7);
        for (Isa isa : available())
            for (NormKind kind : kNorms) {
                std::vector<float> mean(rows), rstd(rows), all(rows * d), alone(d);
                const auto& k = row_kernels<float>(isa);
                k.norm_forward(kind, rows, d, x.data(), 1e-5f, nullptr, nullptr, 1,
                               {mean.data(), rstd.data()}, all.data());
                for (int r = 0; r < rows; ++r) {
                    float m = 0, s = 0;
                    k.norm_forward(kind, 1, d, x.data() + r * d, 1e-5f, nullptr, nullptr, 1, {&m, &s},
                                   alone.data());
                    const auto at = static_cast<std::size_t>(r);
                    QVERIFY(m == mean[at] && s == rstd[at]);
                    QVERIFY(std::equal(alone.begin(), alone.end(), all.begin() + r * d));
                }
            }
    }

    /// In elementwise kernels the bits of an entry do not depend on its place: a vector and the tail after it
    /// compute alike, so that results do not depend on how a batch is cut into shards.
    void anEntryDoesNotDependOnItsPlace() {
        for (Isa isa : available()) {
            elementwise_places(row_kernels<float>(isa), isa_name(isa));
            elementwise_places(row_kernels<double>(isa), isa_name(isa));
        }
    }

  private:
    template <class T>
    void elementwise_places(const RowKernels<T>& k, const char* isa) {
        constexpr std::size_t n = 75;  // four vectors of 16 and a tail
        const auto x = wave<T>(n, 0.7, 0.3), y = wave<T>(n, 1.3), z = wave<T>(n, 0.9, 2);
        const row::AdamWStep<T> step{T(1e-2), T(0.9), T(0.95), T(1e-8), T(0.999), T(0.7), T(0.19), T(0.31)};
        const std::pair<const char*, std::function<void(std::size_t, std::size_t, T*)>> kernels[] = {
            {"axpby", [&](auto i, auto count, T* out) { k.axpby(count, T(0.3), &x[i], T(0.7), &y[i], out); }},
            {"scale", [&](auto i, auto count, T* out) { k.scale(count, T(0.7), &x[i], out); }},
            {"multiply", [&](auto i, auto count, T* out) { k.multiply(count, &x[i], &y[i], out); }},
            {"activation",
             [&](auto i, auto count, T* out) {
                 std::vector<T> slope(count);
                 k.activation(Activation::GeluTanh, count, &x[i], out, slope.data());
                 k.axpby(count, T(0.3), slope.data(), T(0.9), out, out);
             }},
            {"soft_cap",
             [&](auto i, auto count, T* out) {
                 std::copy_n(&x[i], count, out);
                 k.soft_cap(count, T(0.9), out);
             }},
            {"adamw",
             [&](auto i, auto count, T* out) {
                 std::vector<T> m(&y[i], &y[i] + count), v(&z[i], &z[i] + count);
                 std::copy_n(&x[i], count, out);
                 k.adamw(count, step, out, &y[i], m.data(), v.data());
             }},
        };
        for (const auto& [name, kernel] : kernels) {
            std::vector<T> together(n), alone(n);
            kernel(0, n, together.data());
            for (std::size_t i = 0; i < n; ++i) kernel(i, 1, &alone[i]);
            QVERIFY2(together == alone, qPrintable(QString("%1 %2").arg(name, isa)));
        }
    }

    template <class T>
    void compare(const Results<T>& got, const Results<double>& wanted, double tolerance) {
        QVERIFY(worst(got.norm, wanted.norm) < tolerance);
        QVERIFY(worst(got.norm_dx, wanted.norm_dx) < tolerance);
        QVERIFY(worst(got.norm_dgamma, wanted.norm_dgamma) < tolerance);
        QVERIFY(worst(got.norm_dbeta, wanted.norm_dbeta) < tolerance);
        QVERIFY(worst(got.norm_tangent, wanted.norm_tangent) < tolerance);
        QVERIFY(worst(got.probabilities, wanted.probabilities) < tolerance);
        QVERIFY(worst(got.projected, wanted.projected) < tolerance);
        QVERIFY(worst(got.activated, wanted.activated) < tolerance);
        QVERIFY(worst(got.slope, wanted.slope) < tolerance);
        QVERIFY(worst(got.dlogits, wanted.dlogits) < tolerance);
        QVERIFY(worst(got.losses, wanted.losses) < tolerance);
        QVERIFY(worst(got.capped, wanted.capped) < tolerance);
        QVERIFY(worst(got.cap_slope, wanted.cap_slope) < tolerance);
        QVERIFY(worst(got.parameters, wanted.parameters) < tolerance);
        QVERIFY(worst(got.rotated, wanted.rotated) < tolerance);
        QVERIFY(worst(got.gated, wanted.gated) < tolerance);
        QVERIFY(worst(got.gated_gradient, wanted.gated_gradient) < tolerance);
        QVERIFY(worst(got.gated_tangent, wanted.gated_tangent) < tolerance);
    }
};

NORMSCOPE_TEST(RowKernelsTest)
#include "row_kernels_test.moc"
