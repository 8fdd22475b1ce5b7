// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/shared_code.h"
#include "core/recipe/precision.h"

#include <bit>
#include <cstdint>

namespace normscope {

/// Emulated short formats: stored as float32, restricted to values of the format. BF16 has
/// float32's exponents and 8 significant bits; FP16 is IEEE binary16: 11 significant bits, largest 65504,
/// smallest 2⁻²⁴; TF32 has float32's exponents and 11 significant bits, and is a format of GEMM's operands
/// alone.
enum class Rounding { None, Bf16, Fp16, Tf32 };
inline Rounding rounding_of(Precision precision) {
    if (precision == Precision::Bf16) return Rounding::Bf16;
    if (precision == Precision::Tf32) return Rounding::Tf32;
    return precision == Precision::Fp16 ? Rounding::Fp16 : Rounding::None;
}

// IEEE 754 rounding float32 → format → float32: to nearest, ties to even; subnormals kept; values half a unit
// or more beyond the largest become infinite; a NaN stays a (quiet) NaN. TF32: the same with ties away from
// zero, which is PTX's cvt.rna.tf32.f32. Always inlined and without branches, so that loops vectorise in each
// instruction set's file.

NORMSCOPE_SHARED_CODE inline __attribute__((always_inline)) std::uint32_t float_bits(float x) {
#if defined(__CUDA_ARCH__)
    return __float_as_uint(x);
#else
    return std::bit_cast<std::uint32_t>(x);
#endif
}
NORMSCOPE_SHARED_CODE inline __attribute__((always_inline)) float float_from_bits(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
    return __uint_as_float(bits);
#else
    return std::bit_cast<float>(bits);
#endif
}

NORMSCOPE_SHARED_CODE inline __attribute__((always_inline)) float round_to_bf16(float x) {
    const auto bits = float_bits(x);
    // The carry of the mantissa propagates into the exponent, up to infinity.
    const std::uint32_t nearest = bits + 0x7fffu + ((bits >> 16) & 1u);
    const std::uint32_t quiet = bits | 0x00400000u;
    const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return float_from_bits((nan ? quiet : nearest) & 0xffff0000u);
}

NORMSCOPE_SHARED_CODE inline __attribute__((always_inline)) float round_to_fp16(float x) {
    const auto bits = float_bits(x);
    const std::uint32_t sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
    const std::uint32_t nearest = (magnitude + 0xfffu + ((magnitude >> 13) & 1u)) & 0xffffe000u;
    const std::uint32_t normal = nearest >= 0x47800000u ? 0x7f800000u : nearest;  // from 2^16 on
    // Below 2⁻¹⁴ the format's values are 2⁻²⁴ apart, as float32's are in [½, 1): the addition rounds.
    const float shifted = float_from_bits(magnitude) + 0.5f;
    const auto subnormal = float_bits(shifted - 0.5f);
    const std::uint32_t finite = magnitude < 0x38800000u ? subnormal : normal;
    const std::uint32_t quiet = (magnitude | 0x00400000u) & 0xffffe000u;
    return float_from_bits(sign | (magnitude > 0x7f800000u ? quiet : finite));
}

NORMSCOPE_SHARED_CODE inline __attribute__((always_inline)) float round_to_tf32(float x) {
    const auto bits = float_bits(x);
    const std::uint32_t quiet = bits | 0x00400000u;
    const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return float_from_bits((nan ? quiet : bits + 0x1000u) & 0xffffe000u);
}

/// One value; `None` does not change it.
NORMSCOPE_SHARED_CODE inline float rounded(Rounding to, float x) {
    return to == Rounding::Bf16   ? round_to_bf16(x)
           : to == Rounding::Fp16 ? round_to_fp16(x)
           : to == Rounding::Tf32 ? round_to_tf32(x)
                                  : x;
}

/// The format of the results of a GEMM whose operands are in `operands`.
constexpr Rounding result_rounding(Rounding operands) {
    return operands == Rounding::Tf32 ? Rounding::None : operands;
}

}  // namespace normscope
