// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

/// Two random words → two standard normals, by custom polynomials: libm's last digits differ between
/// versions, and its functions do not vectorise. Straight-line arithmetic without branches vectorises; always
/// inlined, so that it takes the instruction set of the caller.
namespace normscope::detail {

/// The upper 52 bits of a word as a double in [1, 2).
[[gnu::always_inline]] inline double one_to_two(std::uint64_t word) {
    return std::bit_cast<double>(0x3ff0000000000000u | (word >> 12));
}

/// Natural logarithm of a positive normal double, within 2e-16 + 2 ulp.
/// x = 2^k m with m in [√½, √2); log m = 2 artanh(s), s = (m − 1)/(m + 1), |s| ≤ 0.172: ten terms of its
/// series.
[[gnu::always_inline]] inline double log_positive(double x) {
    constexpr std::uint64_t one = 0x3ff0000000000000u, mantissa = 0x000fffffffffffffu;
    constexpr std::uint64_t sqrt_half = 0x3fe6a09e667f3bcdu, two_to_52 = 0x4330000000000000u;
    const std::uint64_t shifted = std::bit_cast<std::uint64_t>(x) + (one - sqrt_half);
    // The exponent as a double without an integer conversion, which AVX2 does not have.
    const double k = std::bit_cast<double>(two_to_52 | (shifted >> 52)) - (4503599627370496.0 + 1023.0);
    const double m = std::bit_cast<double>((shifted & mantissa) + sqrt_half);
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    const double w = z * z;
    const double even = (((1.0 / 19 * w + 1.0 / 15) * w + 1.0 / 11) * w + 1.0 / 7) * w + 1.0 / 3;
    const double odd = (((1.0 / 21 * w + 1.0 / 17) * w + 1.0 / 13) * w + 1.0 / 9) * w + 1.0 / 5;
    const double p = odd * z + even;
    return k * 0x1.62e42fefa39efp-1 + 2.0 * (s + s * (z * p));
}

/// Sine and cosine of an angle in [−π/4, π/4], within 2e-16: Taylor series to x^17 and x^16.
[[gnu::always_inline]] inline void sin_cos_eighth(double x, double& sine, double& cosine) {
    const double z = x * x;
    double s = 1.0 / 355687428096000.0;
    s = s * z - 1.0 / 1307674368000.0;
    s = s * z + 1.0 / 6227020800.0;
    s = s * z - 1.0 / 39916800.0;
    s = s * z + 1.0 / 362880.0;
    s = s * z - 1.0 / 5040.0;
    s = s * z + 1.0 / 120.0;
    s = s * z - 1.0 / 6.0;
    double c = 1.0 / 20922789888000.0;
    c = c * z - 1.0 / 87178291200.0;
    c = c * z + 1.0 / 479001600.0;
    c = c * z - 1.0 / 3628800.0;
    c = c * z + 1.0 / 40320.0;
    c = c * z - 1.0 / 720.0;
    c = c * z + 1.0 / 24.0;
    c = c * z - 0.5;
    sine = x + x * (z * s);
    cosine = 1.0 + z * c;
}

/// Box–Muller: the radius √(−2 ln u) from 52 bits of `radius_word`, u in (0, 1]; the direction from 52 bits
/// of `angle_word` as an angle in [0, π/4) and from its three lowest bits as the octant (swap, two signs).
[[gnu::always_inline]] inline void box_muller(std::uint64_t radius_word, std::uint64_t angle_word,
                                              double& first, double& second) {
    const double radius = std::sqrt(-2.0 * log_positive(2.0 - one_to_two(radius_word)));
    double sine, cosine;
    sin_cos_eighth((one_to_two(angle_word) - 1.0) * 0x1.921fb54442d18p-1, sine, cosine);
    const std::uint64_t x = std::bit_cast<std::uint64_t>(radius * cosine);
    const std::uint64_t y = std::bit_cast<std::uint64_t>(radius * sine);
    const std::uint64_t swapped = (x ^ y) & (0 - (angle_word >> 2 & 1));
    first = std::bit_cast<double>((x ^ swapped) ^ (angle_word & 1) << 63);
    second = std::bit_cast<double>((y ^ swapped) ^ (angle_word >> 1 & 1) << 63);
}

}  // namespace normscope::detail
