// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/linear_algebra/matmul.h"

#include "core/backend/cpu/linear_algebra/jit_gemm.h"
#include "core/base/error.h"

#include <cblas.h>
#include <lapacke.h>
#include <libxsmm.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace normscope {

namespace {

// OpenBLAS' threads would spin between calls and split a GEMM by the number of cores.
const bool kSingleThreaded = [] {
    openblas_set_num_threads(1);
    return true;
}();

void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int M, int N, int K, float alpha, const float* A, int lda,
          const float* B, int ldb, float beta, float* C, int ldc) {
    const bool plain = alpha == 1 && (beta == 0 || beta == 1);
    if (plain && jit_gemm(ta == CblasTrans, tb == CblasTrans, M, N, K, A, lda, B, ldb, beta == 1, C, ldc))
        return;
    cblas_sgemm(CblasRowMajor, ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}
void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int M, int N, int K, double alpha, const double* A, int lda,
          const double* B, int ldb, double beta, double* C, int ldc) {
    cblas_dgemm(CblasRowMajor, ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}

}  // namespace

template <class T>
void matmul_nt(int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
               int ldc) {
    gemm(CblasNoTrans, CblasTrans, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}
template <class T>
void matmul_nn(int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
               int ldc) {
    gemm(CblasNoTrans, CblasNoTrans, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}
template <class T>
void matmul_tn(int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
               int ldc) {
    gemm(CblasTrans, CblasNoTrans, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}

template <class T>
void transpose(int rows, int columns, const T* from, int ld, T* to) {
    // libxsmm counts columns first.
    libxsmm_otrans(to, from, sizeof(T), columns, rows, ld, rows);
}

#define NORMSCOPE_INSTANTIATE(T)                                                            \
    template void transpose<T>(int, int, const T*, int, T*);                                \
    template void matmul_nt<T>(int, int, int, T, const T*, int, const T*, int, T, T*, int); \
    template void matmul_nn<T>(int, int, int, T, const T*, int, const T*, int, T, T*, int); \
    template void matmul_tn<T>(int, int, int, T, const T*, int, const T*, int, T, T*, int);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

void singular_values(int rows, int columns, const double* matrix, double* values) {
    const std::size_t count = static_cast<std::size_t>(rows) * columns;
    const int k = std::min(rows, columns);
    if (!std::all_of(matrix, matrix + count, [](double v) { return std::isfinite(v); })) {
        std::fill(values, values + k, std::numeric_limits<double>::quiet_NaN());
        return;
    }
    std::vector<double> copy(matrix, matrix + count);  // the routine destroys its input
    // Row-major A is column-major Aᵀ, whose singular values are the same.
    const int info = LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'N', columns, rows, copy.data(), columns, values,
                                    nullptr, 1, nullptr, 1);
    if (info != 0)
        throw SystemError("singular values: the iteration did not converge (dgesdd " + std::to_string(info) +
                          ")");
}

}  // namespace normscope
