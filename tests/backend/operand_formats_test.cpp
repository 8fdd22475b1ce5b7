// SPDX-License-Identifier: GPL-3.0-or-later
// The 8-bit formats against tables that are made from their definition, bit by bit, and against the casts of
// ml_dtypes over every float whose lower half is zero.
#include "core/backend/cpu/operand_formats.h"

#include "core/backend/shared/counter_rng.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

using namespace normscope;

namespace {

/// The value of a code by the standard: sign, exponent bits, mantissa bits.
double value_of(bool e4m3, int code) {
    const int mantissa_bits = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
    const int exponent = (code & 0x7f) >> mantissa_bits, mantissa = code & ((1 << mantissa_bits) - 1);
    const int highest = (1 << (7 - mantissa_bits)) - 1;
    double value;
    if (e4m3 ? (code & 0x7f) == 0x7f : exponent == highest && mantissa != 0)
        value = std::nan("");
    else if (!e4m3 && exponent == highest)
        value = HUGE_VAL;
    else if (exponent == 0)
        value = std::ldexp(mantissa, 1 - bias - mantissa_bits);
    else
        value = std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
    return code & 0x80 ? -value : value;
}

/// The nearest of all codes, ties to the even one; what is nearer to the number that would follow the largest
/// is beyond.
double by_search(bool e4m3, double x) {
    const double largest = e4m3 ? 448 : 57344, next = e4m3 ? 480 : 65536;
    const double magnitude = std::abs(x);
    // The one that would follow has an even mantissa in E5M2 (1.00) and an odd one in E4M3 (1.111).
    const double middle = (largest + next) / 2;
    if (magnitude > middle || (magnitude == middle && !e4m3))
        return e4m3 ? std::nan("") : std::copysign(HUGE_VAL, x);
    double best = 0, distance = HUGE_VAL;
    for (int code = 0; code < 0x80; ++code) {
        const double value = value_of(e4m3, code);
        if (!std::isfinite(value)) continue;
        const double off = std::abs(value - magnitude);
        if (off < distance || (off == distance && code % 2 == 0)) {
            best = value;
            distance = off;
        }
    }
    return std::copysign(best, x);
}

bool same(float got, double wanted) {
    if (std::isnan(wanted)) return std::isnan(got);
    return static_cast<double>(got) == wanted && std::signbit(got) == std::signbit(wanted);
}

const OperandFormat& format(const char* name) {
    for (const OperandFormat& one : kOperandFormats)
        if (std::string(one.name) == name) return one;
    qFatal("no such format");
}

}  // namespace

class OperandFormatsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyCodeIsItself_data() {
        QTest::addColumn<bool>("e4m3");
        QTest::newRow("E4M3") << true;
        QTest::newRow("E5M2") << false;
    }
    void everyCodeIsItself() {
        QFETCH(bool, e4m3);
        const OperandFormat& f = format(e4m3 ? "e4m3" : "e5m2");
        double largest = 0;
        for (int code = 0; code < 256; ++code) {
            const double value = value_of(e4m3, code);
            QVERIFY(same(rounded_to(f, static_cast<float>(value)), value));
            if (std::isfinite(value)) largest = std::max(largest, value);
        }
        QCOMPARE(largest, f.largest);
    }

    void everythingElseIsTheNearest_data() { everyCodeIsItself_data(); }
    void everythingElseIsTheNearest() {
        QFETCH(bool, e4m3);
        const OperandFormat& f = format(e4m3 ? "e4m3" : "e5m2");
        // Between neighbours the middle, and the floats next to it.
        for (int code = 0; code < 0x80; ++code) {
            const double low = value_of(e4m3, code), high = value_of(e4m3, code + 1);
            if (!std::isfinite(low) || !std::isfinite(high)) continue;
            const auto middle = static_cast<float>((low + high) / 2);
            for (const float x : {middle, std::nextafter(middle, 0.f), std::nextafter(middle, 1e9f), -middle})
                QVERIFY2(same(rounded_to(f, x), by_search(e4m3, double(x))),
                         qPrintable(QString::number(double(x))));
        }
        for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
            const auto x = std::bit_cast<float>(upper << 16);
            if (!std::isnan(x))
                QVERIFY2(same(rounded_to(f, x), by_search(e4m3, double(x))),
                         qPrintable(QString::number(double(x))));
        }
    }

    /// Of all 65536 floats with a lower half of zero, the casts of ml_dtypes (float8_e4m3fn, float8_e5m2):
    /// FNV-1a over the results as bytes of float32, a NaN as 0x7fc00000
    /// (tests/reference/eight_bit_hashes.py).
    void theCastsOfMlDtypes_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<qulonglong>("hash");
        QTest::newRow("E4M3") << "e4m3" << kE4m3Hash;
        QTest::newRow("E5M2") << "e5m2" << kE5m2Hash;
    }
    void theCastsOfMlDtypes() {
        QFETCH(QString, name);
        QFETCH(qulonglong, hash);
        std::uint64_t found = 0xcbf29ce484222325u;
        for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
            const float y = rounded_to(format(qPrintable(name)), std::bit_cast<float>(upper << 16));
            const std::uint32_t bits = std::isnan(y) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(y);
            for (int byte = 0; byte < 4; ++byte)
                found = (found ^ ((bits >> (8 * byte)) & 0xff)) * 0x100000001b3u;
        }
        QCOMPARE(qulonglong(found), hash);
    }

    /// One scale: the largest magnitude becomes the largest number, and nothing is beyond it.
    void oneScaleForAnOperand() {
        std::vector<float> x(40), q(40);
        fill_normal_row({1, "operand"}, 0, 0, x.size(), 1e-7, x.data());
        x[13] = 3e-6f;
        Clamping clamping;
        const double amax = largest_magnitude(1, x.size(), 0, 1, x.data());
        QCOMPARE(amax, double(3e-6f));
        round_operand(format("e4m3"), amax, x.size(), 1, x.data(), q.data(), &clamping);
        QCOMPARE(q[13], 3e-6f);
        QCOMPARE(clamping.clamped, std::size_t(0));
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double wanted = by_search(true, double(x[i]) / (amax / 448)) * (amax / 448);
            QVERIFY(std::abs(double(q[i]) - wanted) <= 1e-6 * std::abs(wanted));
        }
    }

    /// Blocks of 32 with a scale of 2^s by the standard: s = ⌊log₂ amax⌋ − 8; clamped at 448·2^s.
    void blocksByTheStandard() {
        std::vector<float> x(80), q(80);  // two whole blocks and half of one
        fill_normal_row({2, "operand"}, 0, 0, x.size(), 1, x.data());
        x[40] = 500.f;   // 2^8 · 1.95: s = 0, above 448
        x[41] = -460.f;  // rounds to 448
        for (std::size_t i = 64; i < 80; ++i) x[i] = 0;
        Clamping clamping;
        round_operand(format("mxe4m3"), 0, x.size(), 1, x.data(), q.data(), &clamping);
        for (std::size_t block = 0; block < 3; ++block) {
            double amax = 0;
            for (std::size_t i = 32 * block; i < std::min<std::size_t>(80, 32 * block + 32); ++i)
                amax = std::max(amax, std::abs(double(x[i])));
            const double scale = amax > 0 ? std::pow(2, std::floor(std::log2(amax)) - 8) : 1;
            for (std::size_t i = 32 * block; i < std::min<std::size_t>(80, 32 * block + 32); ++i) {
                const double scaled = double(x[i]) / scale;
                const double wanted = std::abs(scaled) > 464 ? std::copysign(448, scaled) * scale
                                                             : by_search(true, scaled) * scale;
                QCOMPARE(double(q[i]), wanted);
            }
        }
        QVERIFY(clamping.clamped >= 1);
        QCOMPARE(clamping.count, std::size_t(80));
        QCOMPARE(q[40], 448.f);
        QCOMPARE(q[41], -448.f);
        // A γ of nearly one value is the case of the field: 0.95 is 1.9·2⁻¹, above 1.75·2⁻¹, and is clamped.
        const std::vector<float> gamma(32, 0.95f);
        Clamping all;
        round_operand(format("mxe4m3"), 0, 32, 1, gamma.data(), q.data(), &all);
        QCOMPARE(all.share(), 1.0);
        QCOMPARE(q[0], 0.875f);
        QVERIFY(std::abs(all.bias() - (0.875 / double(0.95f) - 1)) < 1e-12);
    }

    /// C = αAB + βC of rounded operands, for each form, against sums in float64.
    void productsOfRoundedOperands() {
        constexpr int M = 3, N = 4, K = 40;
        for (const OperandFormat& f : kOperandFormats)
            for (const Product form : {Product::Nt, Product::Nn, Product::Tn}) {
                std::vector<float> A(M * K), B(N * K), C(M * N, 2.f);
                fill_normal_row({3, "a"}, 0, 0, A.size(), 1, A.data());
                fill_normal_row({3, "b"}, 0, 0, B.size(), 1, B.data());
                const bool a_first = form == Product::Tn,
                           b_first = form != Product::Nt;  // inner dimension first
                const auto at = [](bool first, int row, int inner, int rows) {
                    return static_cast<std::size_t>(first ? inner * rows + row : row * K + inner);
                };
                product_of_rounded(f, form, M, N, K, 0.5f, A.data(), a_first ? M : K, B.data(),
                                   b_first ? N : K, 3.f, C.data(), N);
                const auto rounded = [&](const std::vector<float>& x, bool first, int rows) {
                    std::vector<double> all;
                    const double amax = largest_magnitude(1, x.size(), 0, 1, x.data());
                    for (int r = 0; r < rows; ++r) {
                        std::vector<float> row(K), q(K);
                        for (int k = 0; k < K; ++k) row[std::size_t(k)] = x[at(first, r, k, rows)];
                        round_operand(f, amax, K, 1, row.data(), q.data());
                        all.insert(all.end(), q.begin(), q.end());
                    }
                    return all;
                };
                const auto a = rounded(A, a_first, M), b = rounded(B, b_first, N);
                for (int m = 0; m < M; ++m)
                    for (int n = 0; n < N; ++n) {
                        double sum = 0;
                        for (int k = 0; k < K; ++k)
                            sum += a[std::size_t(m * K + k)] * b[std::size_t(n * K + k)];
                        QVERIFY(std::abs(double(C[std::size_t(m * N + n)]) - (0.5 * sum + 6)) < 1e-5);
                    }
            }
    }

    void whatIsNotFiniteStaysSo() {
        std::vector<float> x{1.f, std::nanf(""), 2.f}, q(3);
        for (const OperandFormat& f : kOperandFormats) {
            round_operand(f, largest_magnitude(1, 3, 0, 1, x.data()), 3, 1, x.data(), q.data());
            QVERIFY(std::isnan(q[1]));
        }
    }

  private:
    static constexpr qulonglong kE4m3Hash = 0x5e945f51fe5d7125u, kE5m2Hash = 0xcd1fa85eaf9d77a5u;
};

NORMSCOPE_TEST(OperandFormatsTest)
#include "operand_formats_test.moc"
