// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/linear_algebra/emulated_product.h"

#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/backend/cpu/linear_algebra/matmul.h"

#include <algorithm>
#include <vector>

namespace normscope {

namespace {

void multiply(Product form, int M, int N, int K, float alpha, const float* A, int lda, const float* B,
              int ldb, float beta, float* C, int ldc) {
    switch (form) {
        case Product::Nt:
            return matmul_nt<float>(M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
        case Product::Nn:
            return matmul_nn<float>(M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
        case Product::Tn:
            return matmul_tn<float>(M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
    }
}

std::size_t area(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

void round_rows(Rounding to, int rows, int columns, float* x, int ld) {
    const RowKernels<float>& kernels = row_kernels<float>();
    if (ld == columns) return kernels.round(to, area(rows, columns), x);
    for (int i = 0; i < rows; ++i) kernels.round(to, static_cast<std::size_t>(columns), x + area(i, ld));
}

/// A dense rounded copy of a matrix, in a buffer that the thread keeps.
const float* rounded_copy(Rounding to, int rows, int columns, const float* x, int ld,
                          std::vector<float>& buffer) {
    buffer.resize(area(rows, columns));
    for (int i = 0; i < rows; ++i) std::copy_n(x + area(i, ld), columns, buffer.data() + area(i, columns));
    row_kernels<float>().round(to, buffer.size(), buffer.data());
    return buffer.data();
}

thread_local std::vector<float> left, right, result;

}  // namespace

void emulated_product(Rounding rounding, PrecisionPolicy policy, Product form, int M, int N, int K,
                      float alpha, const float* A, int lda, const float* B, int ldb, float beta, float* C,
                      int ldc) {
    if (policy == PrecisionPolicy::Pure && rounding != Rounding::Tf32) {
        multiply(form, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
        return round_rows(rounding, M, N, C, ldc);
    }
    const bool A_transposed = form == Product::Tn, B_transposed = form == Product::Nt;
    const int A_width = A_transposed ? M : K, B_width = B_transposed ? K : N;
    const float* a = rounded_copy(rounding, A_transposed ? K : M, A_width, A, lda, left);
    const float* b = rounded_copy(rounding, B_transposed ? N : K, B_width, B, ldb, right);
    if (rounding == Rounding::Tf32)
        return multiply(form, M, N, K, alpha, a, A_width, b, B_width, beta, C, ldc);
    if (beta == 0) {
        multiply(form, M, N, K, alpha, a, A_width, b, B_width, 0, C, ldc);
        return round_rows(rounding, M, N, C, ldc);
    }
    result.resize(area(M, N));
    multiply(form, M, N, K, alpha, a, A_width, b, B_width, 0, result.data(), N);
    const RowKernels<float>& kernels = row_kernels<float>();
    kernels.round(rounding, result.size(), result.data());
    for (int i = 0; i < M; ++i) {
        float* row = C + area(i, ldc);
        kernels.axpby(static_cast<std::size_t>(N), beta, row, 1, result.data() + area(i, N), row);
    }
}

void emulated_linear(Rounding rounding, PrecisionPolicy policy, int R, int out, int in, const float* x,
                     const float* transposed, const float* weight, const float* bias, float* y) {
    const bool tf32 = rounding == Rounding::Tf32, pure = policy == PrecisionPolicy::Pure && !tf32;
    const float* rows = pure ? x : rounded_copy(rounding, R, in, x, in, left);
    if (transposed)
        multiply(Product::Nn, R, out, in, 1, rows, in, transposed, out, 0, y, out);
    else
        multiply(Product::Nt, R, out, in, 1, rows, in,
                 pure ? weight : rounded_copy(rounding, out, in, weight, in, right), in, 0, y, out);
    const RowKernels<float>& kernels = row_kernels<float>();
    const Rounding to = result_rounding(rounding);
    if (pure || !bias) kernels.round(to, area(R, out), y);
    if (!bias) return;
    kernels.add_bias(R, out, pure || tf32 ? bias : rounded_copy(rounding, 1, out, bias, out, right), y);
    kernels.round(to, area(R, out), y);
}

}  // namespace normscope
