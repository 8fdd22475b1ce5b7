// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/linear_algebra/jit_gemm.h"

#include "core/base/error.h"

#include <libxsmm.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace normscope {

namespace {

/// A block of op(B), which is read again for every few rows of A: it stays in the second-level cache.
struct Block {
    int columns, depth;
    int rows;  ///< of a block of A that is transposed before its kernels read it; 0: they read A as it is
               ///< stored
};
/// Measured (tests/bench/README.md): kernels of AVX2 keep 32 columns in registers and read a block twice as
/// often as those of AVX-512, which keep 64. No result depends on it.
const Block& block() {
    static const Block found = libxsmm_get_target_archid() < LIBXSMM_X86_AVX512
                                   ? Block{.columns = 96, .depth = 256, .rows = 96}
                                   : Block{.columns = 64, .depth = 512, .rows = 0};
    return found;
}
constexpr int kMin = 16;  ///< rows or columns, below which OpenBLAS is as fast

/// The transpose of from[rows, columns], whose rows are ld apart, in memory of this thread until its next
/// call with the same Use.
enum class Use { OfA, OfB };
template <Use>
const float* transposed(int rows, int columns, const float* from, int ld) {
    thread_local std::vector<float> to;
    to.resize(std::max(to.size(), static_cast<std::size_t>(rows) * columns));
    libxsmm_otrans(to.data(), from, sizeof(float), columns, rows, ld, rows);
    return to.data();
}

/// What a product returns where libxsmm has no kernel. SystemError after its first block, which is written.
bool no_kernel(bool first) {
    if (!first) throw SystemError("GEMM: libxsmm has kernels for only a part of a shape");
    return false;
}

bool multiply(bool transpose_a, bool transpose_b, int M, int N, int K, const float* A, int lda,
              const float* B, int ldb, bool add, float* C, int ldc) {
    // libxsmm counts columns first: there GEMM computes Cᵀ[N,M] = op(B)ᵀ[N,K]·op(A)ᵀ[K,M], and its first
    // operand must not be transposed. So a block of a B stored as [N, K] is transposed first.
    const float one = 1, zero = 0;
    const Block& most = block();
    for (int n = 0; n < N; n += most.columns) {
        const int columns = std::min(most.columns, N - n);
        for (int k = 0; k < K; k += most.depth) {
            const int depth = std::min(most.depth, K - k);
            const int first_ld = transpose_b ? columns : ldb;
            const float* beta = add || k > 0 ? &one : &zero;
            const int flags = transpose_a ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
            const auto kernel =
                libxsmm_smmdispatch(columns, M, depth, &first_ld, &lda, &ldc, &one, beta, &flags, nullptr);
            if (!kernel) return no_kernel(n == 0 && k == 0);
            const float* a = A + (transpose_a ? static_cast<std::ptrdiff_t>(k) * lda : k);
            const float* b = B + (transpose_b ? static_cast<std::ptrdiff_t>(n) * ldb + k
                                              : static_cast<std::ptrdiff_t>(k) * ldb + n);
            kernel(transpose_b ? transposed<Use::OfB>(columns, depth, b, ldb) : b, a, C + n);
        }
    }
    return true;
}

}  // namespace

bool jit_gemm(bool transpose_a, bool transpose_b, int M, int N, int K, const float* A, int lda,
              const float* B, int ldb, bool add, float* C, int ldc) {
    if (M < kMin || N < kMin || (transpose_a && transpose_b)) return false;
    const Block& most = block();
    if (!transpose_a || most.rows == 0 || M < most.rows || N < most.columns)
        return multiply(transpose_a, transpose_b, M, N, K, A, lda, B, ldb, add, C, ldc);
    for (int m = 0; m < M; m += most.rows) {
        const int rows = std::min(most.rows, M - m);
        for (int k = 0; k < K; k += most.depth) {
            const int depth = std::min(most.depth, K - k);
            const float* a =
                transposed<Use::OfA>(depth, rows, A + static_cast<std::ptrdiff_t>(k) * lda + m, lda);
            const bool done =
                multiply(false, false, rows, N, depth, a, depth, B + static_cast<std::ptrdiff_t>(k) * ldb,
                         ldb, add || k > 0, C + static_cast<std::ptrdiff_t>(m) * ldc, ldc);
            if (!done) return no_kernel(m == 0 && k == 0);
        }
    }
    return true;
}

}  // namespace normscope
