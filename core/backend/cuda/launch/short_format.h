// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/low_precision.h"

namespace normscope::cuda {

// BF16 and FP16 in 16 bits, as CUDA_R_16BF and CUDA_R_16F store them.

/// The nearest value of the format (low_precision.h), Bf16 or Fp16.
NORMSCOPE_SHARED_CODE inline std::uint16_t to_16_bits(Rounding format, float x) {
    const std::uint32_t bits = float_bits(rounded(format, x));
    if (format == Rounding::Bf16) return static_cast<std::uint16_t>(bits >> 16);
    const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    // The exponent's bias is 112 less; of infinity and NaN all bits of the exponent are kept.
    std::uint32_t low = (magnitude >> 13) - (112u << 10);
    if (magnitude >= 0x7f800000u) low = 0x7c00u | (magnitude >> 13 & 0x3ffu);
    // Below 2⁻¹⁴ multiples of 2⁻²⁴.
    if (magnitude < 0x38800000u) low = static_cast<std::uint32_t>(float_from_bits(magnitude) * 0x1p24f);
    return static_cast<std::uint16_t>(sign | low);
}

/// Exact.
NORMSCOPE_SHARED_CODE inline float from_16_bits(Rounding format, std::uint16_t stored) {
    const std::uint32_t bits = stored;
    if (format == Rounding::Bf16) return float_from_bits(bits << 16);
#if defined(__CUDA_ARCH__)
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(stored));
    return value;
#else
    const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1fu, rest = bits & 0x3ffu;
    if (exponent == 0) {
        const float magnitude = static_cast<float>(rest) * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    if (exponent == 0x1fu) return float_from_bits(sign | 0x7f800000u | rest << 13);
    return float_from_bits(sign | (exponent + 112u) << 23 | rest << 13);
#endif
}

}  // namespace normscope::cuda
