// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope {

/// C[M,N] = op(A)·op(B), or += with `add`: float32, row-major, op(A) [M, K], op(B) [K, N]. Blocked, with
/// kernels that libxsmm compiles for the processor and the shape on first use: 110 to 117 of 118 GFLOP/s on a
/// core with AVX-512, 105 to 116 with AVX2, where general libraries reach 90 to 105, since a layer's operands
/// need no packing (tests/bench/README.md).
///
/// Returns false without writing C where there is no such kernel (a processor without AVX2, A and B both
/// transposed) or where it does not pay (fewer than 16 rows or columns). May be called from any thread, and
/// runs on it alone; the same shape gives the same bits on each.
bool jit_gemm(bool transpose_a, bool transpose_b, int M, int N, int K, const float* A, int lda,
              const float* B, int ldb, bool add, float* C, int ldc);

}  // namespace normscope
