// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/gpu/lt_gemm.h"

#include "core/backend/cuda/strided.h"
#include "core/stack/error.h"

#include <algorithm>

namespace normscope::cuda {

namespace {

constexpr std::size_t kVector = 16;  ///< bytes of the widest load; larger alignments choose nothing else

std::uint32_t alignment_of(std::size_t bits) {
    return static_cast<std::uint32_t>(std::min(bits & (~bits + 1), kVector));
}

/// A row-major matrix [rows, columns] is the column-major one [columns, rows].
template <class P>
LtMatrix column_major(const Operand<P>& m, int rows, int columns, int batch) {
    const std::size_t stride = batch > 1 ? m.stride : 0;
    const auto bits = reinterpret_cast<std::size_t>(m.data) | stride * sizeof(P) | kVector;
    // A single row may be given any distance to the next one.
    return {columns, rows, std::max(m.ld, columns), static_cast<std::int64_t>(stride), alignment_of(bits)};
}

}  // namespace

template <class T>
bool LtGemm<T>::run(const Gemm<T>& g, const T* bias) {
    const bool a_transposed = g.form == Form::Tn, b_transposed = g.form == Form::Nt;
    // Cᵀ = op(B)ᵀ·op(A)ᵀ, column-major: the operands change places. The bias is then one entry per row.
    const LtShape shape{std::is_same_v<T, double>,
                        b_transposed,
                        a_transposed,
                        bias != nullptr,
                        g.batch,
                        column_major(g.B, b_transposed ? g.N : g.K, b_transposed ? g.K : g.N, g.batch),
                        column_major(g.A, a_transposed ? g.K : g.M, a_transposed ? g.M : g.K, g.batch),
                        column_major(g.C, g.M, g.N, g.batch)};
    return plans_.run(shape, &g.alpha, g.B.data, g.A.data, &g.beta, g.C.data, bias, context_.queue().stream);
}

template <class T>
void LtGemm<T>::multiply(const Gemm<T>& g) {
    if (g.M == 0 || g.N == 0 || g.batch == 0) return;
    const Queue queue = context_.queue();
    if (g.K == 0) {
        const std::size_t count =
            static_cast<std::size_t>(g.M) * static_cast<std::size_t>(g.N) * static_cast<std::size_t>(g.batch);
        return each_in(queue, "gemm_empty", count,
                       ScaleStrided<T>{place_in(g.C, g.M, g.N), g.beta, g.C.data});
    }
    if (!run(g, nullptr))
        throw SystemError("cuBLASLt has no algorithm for a GEMM of M " + std::to_string(g.M) + ", N " +
                          std::to_string(g.N) + ", K " + std::to_string(g.K));
}

template <class T>
void LtGemm<T>::linear(int R, int out, int in, const T* x, const T* weight, const T* bias, T* y) {
    if (R == 0 || out == 0) return;
    const Gemm<T> g{Form::Nt, R, out, in, {x, in}, {weight, in}, {y, out}};
    // Added by the GEMM itself where cuBLASLt does so: it reads a bias in whole vectors, and in float64 it
    // may have no such algorithm.
    const bool whole_vectors = reinterpret_cast<std::size_t>(bias) % kVector == 0;
    if (bias && in > 0 && whole_vectors && run(g, bias)) return;
    multiply(g);
    if (bias)
        each_in(context_.queue(), "add_bias", static_cast<std::size_t>(R) * static_cast<std::size_t>(out),
                AddBias<T>{static_cast<std::size_t>(out), bias, y});
}

template class LtGemm<float>;
template class LtGemm<double>;

}  // namespace normscope::cuda
