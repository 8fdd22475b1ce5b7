// SPDX-License-Identifier: GPL-3.0-or-later
// Rounding to BF16 and FP16 is IEEE's for every one of the 2^32 floats; to TF32 with ties away from zero. The
// expected values come from the formats' definition alone: all representable magnitudes in order, written
// with ldexp; between two neighbours everything below the midpoint belongs to the lower, everything above to
// the upper, and the midpoint itself to the even one (under TF32 to the upper one). Floats of one sign are
// ordered as their bits, so each half of such a gap is a range of bits with one expected value.
#include "core/backend/shared/low_precision.h"

#include "core/backend/cpu/host/thread_pool.h"
#include "core/backend/cpu/kernels/row_kernels.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

using namespace normscope;

namespace {

constexpr std::uint32_t kInfinity = 0x7f800000u, kSign = 0x80000000u;

struct Format {
    Rounding rounding;
    int significand_bits;  ///< stored ones
    int smallest_exponent;
    int largest_exponent;
    bool ties_to_even = true;
};
constexpr Format kFormats[] = {
    {Rounding::Bf16, 7, -126, 127}, {Rounding::Fp16, 10, -14, 15}, {Rounding::Tf32, 10, -126, 127, false}};

/// Every finite magnitude of the format, ascending, then the one after the largest, which represents
/// infinity.
std::vector<double> magnitudes(const Format& f) {
    std::vector<double> values;
    const int steps = 1 << f.significand_bits;
    for (int m = 0; m < steps; ++m) values.push_back(std::ldexp(m, f.smallest_exponent - f.significand_bits));
    for (int e = f.smallest_exponent; e <= f.largest_exponent; ++e)
        for (int m = 0; m < steps; ++m) values.push_back(std::ldexp(steps + m, e - f.significand_bits));
    values.push_back(std::ldexp(1, f.largest_exponent + 1));
    return values;
}

std::uint32_t bits_of(double magnitude) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(magnitude));
}

/// From `first` on, up to the next range's, positive floats round to the bits `expected`.
struct Range {
    std::uint32_t first, expected;
};

std::vector<Range> ranges(const Format& f) {
    const std::vector<double> values = magnitudes(f);
    std::vector<Range> all{{0, 0}};
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        const double midpoint = (values[i] + values[i + 1]) / 2;  // exact, and a float
        const bool to_upper = !f.ties_to_even || (i + 1) % 2 == 0;
        const bool last = i + 2 == values.size();
        all.push_back({bits_of(midpoint) + (to_upper ? 0 : 1), last ? kInfinity : bits_of(values[i + 1])});
    }
    return all;
}

std::vector<Isa> available() {
    std::vector<Isa> sets{Isa::Serial, Isa::Baseline};
    if (best_isa() >= Isa::Avx2) sets.push_back(Isa::Avx2);
    if (best_isa() >= Isa::Avx512) sets.push_back(Isa::Avx512);
    return sets;
}

/// Rounds the floats with the bits first … end − 1 and counts those that did not become `expected`.
std::int64_t wrong(const RowKernels<float>& kernels, Rounding rounding, std::uint32_t first,
                   std::uint32_t end, std::uint32_t expected) {
    constexpr std::uint32_t kPiece = 4096;
    std::uint32_t piece[kPiece];
    std::int64_t count = 0;
    for (std::uint32_t at = first; at < end;) {
        const std::uint32_t size = std::min(kPiece, end - at);
        for (std::uint32_t i = 0; i < size; ++i) piece[i] = at + i;
        kernels.round(rounding, size, reinterpret_cast<float*>(piece));
        std::uint32_t different = 0;
        for (std::uint32_t i = 0; i < size; ++i) different += piece[i] != expected;
        count += different;
        at += size;
    }
    return count;
}

}  // namespace

class LowPrecisionTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyNumber_data() {
        QTest::addColumn<int>("format");
        QTest::addRow("bf16") << 0;
        QTest::addRow("fp16") << 1;
        QTest::addRow("tf32") << 2;
    }
    /// 2^32 − 2^24 + 2 numbers, infinities included.
    void everyNumber() {
        QFETCH(int, format);
        const Format& f = kFormats[format];
        const std::vector<Range> all = ranges(f);
        const auto& kernels = row_kernels<float>();
        constexpr int kPieces = 256;
        ThreadPool pool;
        std::vector<std::int64_t> errors(kPieces);
        pool.run(kPieces, [&](int p) {
            for (std::size_t i = static_cast<std::size_t>(p); i < all.size(); i += kPieces) {
                const std::uint32_t end = i + 1 < all.size() ? all[i + 1].first : kInfinity + 1;
                for (std::uint32_t sign : {0u, kSign})
                    errors[static_cast<std::size_t>(p)] +=
                        wrong(kernels, f.rounding, sign | all[i].first, sign | end, sign | all[i].expected);
            }
        });
        QCOMPARE(std::count(errors.begin(), errors.end(), 0), kPieces);
    }

    void everyNan() {
        const auto& kernels = row_kernels<float>();
        for (const Format& f : kFormats)
            for (std::uint32_t sign : {0u, kSign})
                for (std::uint32_t payload = 1; payload < 0x00800000u; payload += 1 << 12) {
                    std::vector<std::uint32_t> nans(std::min<std::uint32_t>(1 << 12, 0x00800000u - payload));
                    for (std::uint32_t i = 0; i < nans.size(); ++i)
                        nans[i] = sign | kInfinity | (payload + i);
                    const auto before = nans;
                    kernels.round(f.rounding, nans.size(), reinterpret_cast<float*>(nans.data()));
                    const std::uint32_t kept = 0x007fffffu & ~((1u << (23 - f.significand_bits)) - 1);
                    for (std::size_t i = 0; i < nans.size(); ++i)
                        if (nans[i] != (sign | kInfinity | 0x00400000u | (before[i] & kept)))
                            QFAIL(qPrintable(QString::number(before[i], 16)));
                }
    }

    /// Around every boundary each instruction set and the single-number function say the same.
    void everyInstructionSet() {
        for (const Format& f : kFormats) {
            std::vector<float> values;
            for (const Range& range : ranges(f))
                for (std::uint32_t sign : {0u, kSign})
                    for (std::uint32_t bits :
                         {range.first - (range.first ? 1 : 0), range.first, range.first + 1})
                        values.push_back(std::bit_cast<float>(sign | bits));
            values.push_back(std::numeric_limits<float>::max());
            std::vector<float> one = values;
            for (float& v : one) v = rounded(f.rounding, v);
            for (Isa isa : available()) {
                std::vector<float> all = values, wide = values;
                row_kernels<float>(isa).round(f.rounding, all.size(), all.data());
                row_kernels<double>(isa).round(f.rounding, wide.size(), wide.data());
                for (std::size_t i = 0; i < all.size(); ++i) {
                    QCOMPARE(std::bit_cast<std::uint32_t>(all[i]), std::bit_cast<std::uint32_t>(one[i]));
                    QCOMPARE(std::bit_cast<std::uint32_t>(wide[i]), std::bit_cast<std::uint32_t>(one[i]));
                }
            }
        }
    }

    void wellKnownValues() {
        QCOMPARE(rounded(Rounding::Fp16, 65519.996f), 65504.0f);
        QCOMPARE(rounded(Rounding::Fp16, 65520.0f), std::numeric_limits<float>::infinity());
        QCOMPARE(rounded(Rounding::Fp16, 0x1p-25f), 0.0f);
        QCOMPARE(rounded(Rounding::Fp16, 0x1.000002p-25f), 0x1p-24f);
        QCOMPARE(rounded(Rounding::Fp16, 0.1f), 0.0999755859375f);
        QCOMPARE(rounded(Rounding::Bf16, 0.1f), 0.10009765625f);
        QCOMPARE(rounded(Rounding::Bf16, std::numeric_limits<float>::max()),
                 std::numeric_limits<float>::infinity());
        QCOMPARE(rounded(Rounding::Tf32, 0.1f), 0.0999755859375f);
        QCOMPARE(rounded(Rounding::Tf32, 0x1.002p0f), 0x1.004p0f);
        QCOMPARE(rounded(Rounding::Tf32, -0x1.002p0f), -0x1.004p0f);
        QCOMPARE(rounded(Rounding::Tf32, 0x1.001ffep0f), 1.0f);
        QVERIFY(std::signbit(rounded(Rounding::Fp16, -1e-30f)));
        QCOMPARE(rounded(Rounding::None, 0.1f), 0.1f);
    }
};

NORMSCOPE_TEST(LowPrecisionTest)
#include "low_precision_test.moc"
