// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

namespace normscope {

/// The magnitudes that a short floating-point format holds.
struct NumberFormat {
    const char* name;        ///< "fp16": in names of arrays
    const char* title;       ///< "FP16"
    double largest;          ///< the largest finite number
    double smallest_normal;  ///< below it precision is lost
    double smallest;         ///< the smallest subnormal; what is half of it or less becomes 0
};

inline constexpr NumberFormat kFp16Numbers{"fp16", "FP16", 65504, 0x1p-14, 0x1p-24},
    kBf16Numbers{"bf16", "BF16", 0x1.fep127, 0x1p-126, 0x1p-133};

/// IEEE binary16, bfloat16, and the OCP 8-bit formats: E4M3 (no infinity, 448) and E5M2.
inline constexpr std::array<NumberFormat, 4> kNumberFormats{
    kFp16Numbers, kBf16Numbers, NumberFormat{"e4m3", "E4M3", 448, 0x1p-6, 0x1p-9},
    NumberFormat{"e5m2", "E5M2", 57344, 0x1p-14, 0x1p-16}};

}  // namespace normscope
