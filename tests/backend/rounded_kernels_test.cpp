// SPDX-License-Identifier: GPL-3.0-or-later
// Every kernel of an emulated precision gives the float32 kernel's result rounded, bit for bit, and nothing
// else moves.
#include "core/backend/cpu/kernels/rounded_kernels.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <functional>
#include <limits>

using namespace normscope;

namespace {

using Floats = std::vector<float>;

Floats wave(std::size_t count, double frequency, double offset = 0) {
    Floats values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(offset + 1.5 * std::sin(frequency * static_cast<double>(i + 1)));
    return values;
}

constexpr int kRows = 5, kWidth = 21, kCount = kRows * kWidth;

/// Outputs that are rounded, and those that stay float32.
struct Outputs {
    std::vector<Floats> in_format, in_float32;
};

Outputs run(const RowKernels<float>& k, NormKind kind, Activation activation) {
    const Floats x = wave(kCount, 0.7, 0.3), u = wave(kCount, 1.3), gamma = wave(kWidth, 0.4, 2),
                 beta = wave(kWidth, 0.9);
    const Floats old = wave(kCount, 0.2), old_row = wave(kWidth, 0.25);
    const std::size_t n = kCount;
    Outputs out;
    const auto keep = [&](const Floats& values) { out.in_format.push_back(values); };

    Floats mean(kRows), rstd(kRows), y(n), dgamma = old_row, dbeta = old_row;
    const NormStatistics<float> statistics{mean.data(), rstd.data()};
    k.norm_forward(kind, kRows, kWidth, x.data(), 1e-5f, gamma.data(), beta.data(), 0.5f, statistics,
                   y.data());
    keep(y);
    out.in_float32 = {mean, rstd};
    for (bool add : {false, true}) {
        Floats dx = old;
        k.norm_backward(kind, kRows, kWidth, x.data(), statistics, gamma.data(), u.data(), 0.5f, add,
                        dx.data(), add ? dgamma.data() : nullptr, add ? dbeta.data() : nullptr);
        keep(dx);
    }
    keep(dgamma);
    keep(dbeta);
    k.norm_tangent(kind, kRows, kWidth, x.data(), statistics, gamma.data(), u.data(), 0.5f, y.data());
    keep(y);

    Floats p = x;
    k.softmax(kRows, kWidth, 2, true, 0.8f, p.data());
    keep(p);
    const Floats exact_p = wave(kCount, 0.9, 2);
    k.softmax_project(kRows, kWidth, kWidth, exact_p.data(), u.data(), 0.8f, y.data());
    keep(y);
    // Rows of 13 in rows of 21: entries after them are not changed.
    Floats strided = wave(kCount, 0.31);
    k.softmax_project(kRows, 13, kWidth, exact_p.data(), u.data(), 0.8f, strided.data());
    Floats inside, outside;
    for (int r = 0; r < kRows; ++r)
        for (int i = 0; i < kWidth; ++i)
            (i < 13 ? inside : outside).push_back(strided[static_cast<std::size_t>(r * kWidth + i)]);
    keep(inside);
    out.in_float32.push_back(outside);
    Floats slope(n);
    k.activation(activation, n, x.data(), y.data(), slope.data());
    keep(y);
    k.multiply(n, slope.data(), u.data(), y.data());
    keep(y);

    Floats losses(kRows), dlogits(n);
    const std::int32_t targets[kRows] = {0, 3, 20, 7, 1};
    k.cross_entropy(kRows, kWidth, x.data(), targets, 0.25f, 0.1f, losses.data(), dlogits.data());
    keep(dlogits);
    out.in_float32.push_back(losses);
    Floats capped = x;
    k.soft_cap(n, 0.9f, capped.data());
    keep(capped);
    const Floats y_capped = wave(kCount, 0.5);
    k.soft_cap_derivative(n, 1.7f, y_capped.data(), u.data(), y.data());
    keep(y);

    Floats parameters = x, m = wave(n, 0.11), v = wave(n, 0.13, 2);
    k.adamw(n, {1e-2f, 0.9f, 0.95f, 1e-8f, 0.999f, 0.7f, 0.19f, 0.31f}, parameters.data(), u.data(), m.data(),
            v.data());
    for (const Floats& values : {parameters, m, v, Floats{static_cast<float>(k.dot(n, x.data(), u.data()))}})
        out.in_float32.push_back(values);

    k.axpby(n, 0.3f, x.data(), 1.7f, u.data(), y.data());
    keep(y);
    k.scale(n, 0.3f, x.data(), y.data());
    keep(y);
    y = x;
    k.add_bias(kRows, kWidth, beta.data(), y.data());
    keep(y);
    Floats sums = old_row;
    k.column_sums(kRows, kWidth, x.data(), sums.data());
    keep(sums);
    sums = old_row;
    k.column_products(kRows, kWidth, 0.3f, x.data(), u.data(), sums.data());
    keep(sums);
    k.scale_columns(kRows, kWidth, 0.3f, beta.data(), x.data(), y.data());
    keep(y);

    // Two heads of 4 in rows of 11: entries after the heads are not changed.
    Floats heads = wave(kRows * 11, 0.7);
    const Floats angles = wave(kRows * 4, 0.37);
    k.rope(kRows, 2, 4, 11, angles.data(), false, heads.data());
    Floats rotated, rest;
    for (int r = 0; r < kRows; ++r)
        for (int i = 0; i < 11; ++i)
            (i < 8 ? rotated : rest).push_back(heads[static_cast<std::size_t>(r * 11 + i)]);
    keep(rotated);
    out.in_float32.push_back(rest);
    const Floats pre = wave(2 * n, 0.7, 0.3), tpre = wave(2 * n, 1.1);
    Floats dpre(2 * n);
    k.gated(Activation::SwiGlu, kRows, kWidth, pre.data(), y.data());
    keep(y);
    k.gated_tangent(Activation::SwiGlu, kRows, kWidth, pre.data(), tpre.data(), y.data());
    keep(y);
    k.gated_backward(Activation::SwiGlu, kRows, kWidth, pre.data(), u.data(), dpre.data());
    keep(dpre);
    return out;
}

bool same_bits(const Floats& a, const Floats& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

class RoundedKernelsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyKernelIsTheFloat32OneRounded() {
        for (Rounding rounding : {Rounding::Bf16, Rounding::Fp16})
            for (NormKind kind : {NormKind::LayerNorm, NormKind::RmsNorm})
                for (Activation activation :
                     {Activation::GeluTanh, Activation::GeluErf, Activation::Relu, Activation::Silu}) {
                    const Outputs plain = run(row_kernels<float>(), kind, activation);
                    const Outputs low = run(rounded_kernels(rounding), kind, activation);
                    QCOMPARE(low.in_format.size(), plain.in_format.size());
                    for (std::size_t i = 0; i < plain.in_format.size(); ++i) {
                        Floats wanted = plain.in_format[i];
                        for (float& v : wanted) v = rounded(rounding, v);
                        QVERIFY2(same_bits(low.in_format[i], wanted),
                                 qPrintable(QString("output %1").arg(i)));
                        // Each of them has something to round.
                        QVERIFY2(!same_bits(plain.in_format[i], wanted),
                                 qPrintable(QString("output %1").arg(i)));
                    }
                    for (std::size_t i = 0; i < plain.in_float32.size(); ++i)
                        QVERIFY2(same_bits(low.in_float32[i], plain.in_float32[i]),
                                 qPrintable(QString("output %1").arg(i)));
                }
    }

    /// The table holds pointers alone: none of them may be missing.
    void noKernelIsMissing() {
        for (Rounding rounding : {Rounding::Bf16, Rounding::Fp16}) {
            const auto* entries = reinterpret_cast<void* const*>(&rounded_kernels(rounding));
            for (std::size_t i = 0; i < sizeof(RowKernels<float>) / sizeof(void*); ++i) QVERIFY(entries[i]);
        }
    }

    void withoutRoundingTheyAreThePlainOnes() {
        QVERIFY(&rounded_kernels(Rounding::None) == &row_kernels<float>());
    }
};

NORMSCOPE_TEST(RoundedKernelsTest)
#include "rounded_kernels_test.moc"
