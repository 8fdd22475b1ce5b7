// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/linear_algebra/emulated_product.h"

#include <array>
#include <cstddef>
#include <vector>

namespace normscope {

/// A format of GEMM's operands: an 8-bit number and a scale. Results are float32.
struct OperandFormat {
    const char* name;   ///< "e4m3": in names of arrays
    const char* title;  ///< "E4M3"
    int significant;    ///< bits, the hidden one included
    int exponent;       ///< the smallest of a normal number
    int largest_exponent;
    double largest;
    bool has_infinity;  ///< else what is too large is NaN
    /// Entries along the inner dimension that share a scale of 2^s, s = ⌊log₂ amax⌋ − largest_exponent, after
    /// which what exceeds the largest number is clamped (OCP Microscaling Formats 1.0, §6.3). 0: one scale
    /// for a whole operand, its largest magnitude ÷ largest, so that nothing exceeds it.
    int block;
};

/// OCP 8-bit floating point 1.0 with a scale per tensor, and E4M3 in blocks of 32.
inline constexpr std::array<OperandFormat, 3> kOperandFormats{
    {{"e4m3", "E4M3", 4, -6, 8, 448, false, 0},
     {"e5m2", "E5M2", 3, -14, 15, 57344, true, 0},
     {"mxe4m3", "MXFP8 E4M3", 4, -6, 8, 448, false, 32}}};

/// The number of the format nearest to x, ties to even, subnormals kept, without a scale; beyond the largest
/// ±∞, or NaN in a format without it, as a cast in PyTorch and in ml_dtypes.
float rounded_to(const OperandFormat& format, float x);

/// How much of an array its blocks clamp.
struct Clamping {
    std::size_t clamped = 0, count = 0;
    double error = 0, size = 0;  ///< Σ(q − x)·sign x and Σ|x|: negative over positive is a bias towards 0

    double share() const { return static_cast<double>(clamped) / static_cast<double>(count); }
    double bias() const { return error / size; }
};

/// Rounds `count` entries at a distance of `stride`: whole blocks from the first one on, the last may be
/// shorter. `amax`: of the whole operand, used by formats with one scale. `to` is dense; `clamping` may be
/// null.
void round_operand(const OperandFormat& format, double amax, std::size_t count, std::size_t stride,
                   const float* x, float* to, Clamping* clamping = nullptr);

/// The largest magnitude; NaN where there is one.
double largest_magnitude(std::size_t rows, std::size_t columns, std::size_t row_stride,
                         std::size_t column_stride, const float* x);

/// C = alpha·op(A)·op(B) + beta·C of rounded operands, blocks along the inner dimension K (shapes: matmul.h).
void product_of_rounded(const OperandFormat& format, Product form, int M, int N, int K, float alpha,
                        const float* A, int lda, const float* B, int ldb, float beta, float* C, int ldc);

}  // namespace normscope
