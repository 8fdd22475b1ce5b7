// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope {

/// GEMM on the CPU. Float32 uses kernels that libxsmm compiles (jit_gemm.h), float64 and the remaining shapes
/// OpenBLAS (tests/bench/README.md); both select their kernels at run time. Row-major; the ld* are the
/// distances between rows. Each call runs on the calling thread alone: passes are split over sequences
/// instead, so a result never depends on the number of threads.

/// C[M,N] = alpha·A[M,K]·B[N,K]ᵀ + beta·C — a linear layer's forward, B being [out, in].
template <class T>
void matmul_nt(int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C, int ldc);
/// C[M,N] = alpha·A[M,K]·B[K,N] + beta·C.
template <class T>
void matmul_nn(int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C, int ldc);
/// C[M,N] = alpha·A[K,M]ᵀ·B[K,N] + beta·C.
template <class T>
void matmul_tn(int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C, int ldc);

/// to[columns, rows] = from[rows, columns]ᵀ; the rows of `from` are ld apart, those of `to` are dense.
template <class T>
void transpose(int rows, int columns, const T* from, int ld, T* to);

/// Singular values of a dense row-major [rows, columns] matrix, descending, min(rows, columns) of them.
/// Throws SystemError when the iteration does not converge; a matrix with a non-finite entry gives NaN.
void singular_values(int rows, int columns, const double* matrix, double* values);

}  // namespace normscope
