// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/gpu/lt_gemm.h"

#include "core/backend/cuda/strided.h"
#include "core/base/error.h"

#include <algorithm>

namespace normscope::cuda {

namespace {

std::uint32_t alignment_of(std::size_t bits) {
    return static_cast<std::uint32_t>(std::min(bits & (~bits + 1), kLtVector));
}

/// A row-major matrix [rows, columns] is the column-major one [columns, rows].
template <class P>
LtMatrix column_major(const Operand<P>& m, int rows, int columns, int batch) {
    const std::size_t stride = batch > 1 ? m.stride : 0;
    const auto bits = reinterpret_cast<std::size_t>(m.data) | stride * sizeof(P) | kLtVector;
    // A single row may be given any distance to the next one.
    return {columns, rows, std::max(m.ld, columns), static_cast<std::int64_t>(stride), alignment_of(bits)};
}

LtType type_of(Rounding format) {
    return format == Rounding::Bf16 ? LtType::Bf16 : LtType::Fp16;
}

/// Of a Gemm or a ShortProduct.
template <class G>
LtShape shape_of(LtType type, const G& g, bool bias, int batch) {
    const bool a_transposed = g.form == Form::Tn, b_transposed = g.form == Form::Nt;
    // Cᵀ = op(B)ᵀ·op(A)ᵀ, column-major: the operands change places. The bias is then one entry per row.
    return {type,
            sizeof *g.C.data == sizeof(std::uint16_t),
            b_transposed,
            a_transposed,
            bias,
            batch,
            column_major(g.B, b_transposed ? g.N : g.K, b_transposed ? g.K : g.N, batch),
            column_major(g.A, a_transposed ? g.K : g.M, a_transposed ? g.M : g.K, batch),
            column_major(g.C, g.M, g.N, batch)};
}

/// False, with nothing done, where cuBLASLt has no algorithm.
template <class T, class In>
bool run(LtPlans& plans, LtType type, cudaStream_t stream, const Gemm<T, In>& g, const T* bias) {
    return plans.run(shape_of(type, g, bias != nullptr, g.batch), &g.alpha, g.B.data, g.A.data, &g.beta,
                     g.C.data, bias, stream);
}

template <class G>
[[noreturn]] void no_algorithm(LtType type, const G& g) {
    throw SystemError("cuBLASLt has no algorithm for a GEMM in " + std::string(word_of(type)) + " of M " +
                      std::to_string(g.M) + ", N " + std::to_string(g.N) + ", K " + std::to_string(g.K));
}

template <class T, class In>
void multiply_by(LtPlans& plans, LtType type, const Queue& queue, const Gemm<T, In>& g) {
    if (g.M == 0 || g.N == 0 || g.batch == 0) return;
    if (g.K == 0)
        return each_entry(queue, "gemm_empty", g.M, g.N, g.batch,
                          ScaleStrided<T>{place_in(g.C), g.beta, g.C.data});
    if (!run<T>(plans, type, queue.stream, g, nullptr)) no_algorithm(type, g);
}

}  // namespace

template <class T>
void LtGemm<T>::multiply(const Gemm<T>& g) {
    multiply_by(plans_, type_, context_.queue(), g);
}

template <class T>
void LtGemm<T>::linear(int R, int out, int in, const T* x, const T* weight, const T* bias, T* y) {
    if (R == 0 || out == 0) return;
    const Gemm<T> g{Form::Nt, R, out, in, {x, in}, {weight, in}, {y, out}};
    // Added by the GEMM itself where cuBLASLt does so: the plan supposes an aligned bias, and in float64 it
    // may have no such algorithm.
    const bool aligned = reinterpret_cast<std::size_t>(bias) % kLtVector == 0;
    const Queue queue = context_.queue();
    if (bias && in > 0 && aligned && run(plans_, type_, queue.stream, g, bias)) return;
    multiply(g);
    if (bias) each_entry(queue, "add_bias", R, out, 1, AddBias<T>{place_in(g.C), bias, y});
}

template class LtGemm<float>;
template class LtGemm<double>;

void LtShortGemm::multiply(Rounding format, const Gemm<float, std::uint16_t>& g) {
    multiply_by(plans_, type_of(format), context_.queue(), g);
}
void LtShortGemm::multiply(Rounding format, const ShortProduct& g) {
    if (g.M == 0 || g.N == 0) return;
    constexpr float one = 1, zero = 0;
    const LtType type = type_of(format);
    if (!plans_.run(shape_of(type, g, g.bias != nullptr, 1), &one, g.B.data, g.A.data, &zero, g.C.data,
                    g.bias, context_.queue().stream))
        no_algorithm(type, g);
}

}  // namespace normscope::cuda
