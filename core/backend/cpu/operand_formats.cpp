// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/operand_formats.h"

#include "core/backend/cpu/linear_algebra/matmul.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace normscope {

namespace {

/// Of a finite magnitude that is a normal double or 0; may be above the largest. In bits, since ilogb, ldexp
/// and nearbyint are calls into the C library without SSE4.1, which took most of a pass.
double nearest(const OperandFormat& format, double x) {
    const int exponent =
        std::max(static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52) - 1023, format.exponent);
    const double unit =
        std::bit_cast<double>(static_cast<std::uint64_t>(exponent - (format.significant - 1) + 1023) << 52);
    // In the binade of 1.5·2^52·unit consecutive doubles are one unit apart: the sum rounds, ties to even.
    const double shift = 0x1.8p52 * unit;
    return (x + shift) - shift;
}

/// A rectangular operand as rows along the inner dimension.
struct Operand {
    const float* data;
    std::size_t rows, inner, row_stride, inner_stride;
};

std::vector<float> rounded(const OperandFormat& format, const Operand& operand) {
    std::vector<float> dense(operand.rows * operand.inner);
    const double amax = largest_magnitude(operand.rows, operand.inner, operand.row_stride,
                                          operand.inner_stride, operand.data);
    for (std::size_t r = 0; r < operand.rows; ++r)
        round_operand(format, amax, operand.inner, operand.inner_stride,
                      operand.data + r * operand.row_stride, dense.data() + r * operand.inner);
    return dense;
}

}  // namespace

float rounded_to(const OperandFormat& format, float x) {
    if (std::isnan(x)) return x;
    const double magnitude = std::isinf(x) ? std::numeric_limits<double>::infinity()
                                           : nearest(format, std::abs(static_cast<double>(x)));
    const double beyond = format.has_infinity ? std::numeric_limits<double>::infinity()
                                              : std::numeric_limits<double>::quiet_NaN();
    return static_cast<float>(std::copysign(magnitude > format.largest ? beyond : magnitude, x));
}

double largest_magnitude(std::size_t rows, std::size_t columns, std::size_t row_stride,
                         std::size_t column_stride, const float* x) {
    double largest = 0;
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) {
            const double value = std::abs(static_cast<double>(x[r * row_stride + c * column_stride]));
            if (!(value <= largest)) largest = value;
        }
    return largest;
}

void round_operand(const OperandFormat& format, double amax, std::size_t count, std::size_t stride,
                   const float* x, float* to, Clamping* clamping) {
    const std::size_t block = format.block > 0 ? static_cast<std::size_t>(format.block) : count;
    for (std::size_t first = 0; first < count; first += block) {
        const std::size_t n = std::min(block, count - first);
        const float* from = x + first * stride;
        if (format.block > 0) amax = largest_magnitude(1, n, 0, stride, from);
        double scale = 1;  // of what is stored
        if (amax > 0 && std::isfinite(amax))
            scale = format.block > 0 ? std::ldexp(1.0, std::ilogb(amax) - format.largest_exponent)
                                     : amax / format.largest;
        for (std::size_t i = 0; i < n; ++i) {
            const double value = from[i * stride];
            double magnitude = nearest(format, std::abs(value) / scale);
            const bool beyond = magnitude > format.largest;
            if (beyond) magnitude = format.largest;
            to[first + i] = static_cast<float>(std::copysign(magnitude * scale, value));
            if (!std::isfinite(value)) to[first + i] = std::numeric_limits<float>::quiet_NaN();
            if (!clamping) continue;
            ++clamping->count;
            clamping->clamped += beyond;
            clamping->error += std::abs(static_cast<double>(to[first + i])) - std::abs(value);
            clamping->size += std::abs(value);
        }
    }
}

void product_of_rounded(const OperandFormat& format, Product form, int M, int N, int K, float alpha,
                        const float* A, int lda, const float* B, int ldb, float beta, float* C, int ldc) {
    const auto m = static_cast<std::size_t>(M), n = static_cast<std::size_t>(N),
               k = static_cast<std::size_t>(K), a = static_cast<std::size_t>(lda),
               b = static_cast<std::size_t>(ldb);
    const std::vector<float> left = rounded(format, form == Product::Tn ? Operand{A, m, k, 1, a}
                                                                        : Operand{A, m, k, a, 1}),
                             right = rounded(format, form == Product::Nt ? Operand{B, n, k, b, 1}
                                                                         : Operand{B, n, k, 1, b});
    matmul_nt<float>(M, N, K, alpha, left.data(), K, right.data(), K, beta, C, ldc);
}

}  // namespace normscope
