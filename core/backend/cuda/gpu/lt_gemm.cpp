// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cuda/gpu/lt_gemm.h"

#include "core/backend/cuda/launch/gemm_call.h"
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

template <class T, class In>
const T* bias_of(const Gemm<T, In>&) {
    return nullptr;
}
const std::uint16_t* bias_of(const ShortProduct& g) {
    return g.bias;
}
/// A product with a bias that is added to each of its rows.
template <class T>
struct WithBias : Gemm<T> {
    const T* bias;
};
template <class T>
const T* bias_of(const WithBias<T>& g) {
    return g.bias;
}

template <class T, class In>
int batch_of(const Gemm<T, In>& g) {
    return g.batch;
}
int batch_of(const ShortProduct&) {
    return 1;
}

struct Scales {
    const void *alpha, *beta;
};
template <class T, class In>
Scales scales_of(const Gemm<T, In>& g) {
    return {&g.alpha, &g.beta};
}
Scales scales_of(const ShortProduct&) {
    static constexpr float one = 1, zero = 0;
    return {&one, &zero};
}

/// False, with nothing done, where cuBLASLt has no algorithm.
template <class G>
bool run(LtPlans& plans, LtType type, cudaStream_t stream, const G& g) {
    const Scales by = scales_of(g);
    return plans.run(shape_of(type, g, bias_of(g) != nullptr, batch_of(g)), by.alpha, g.B.data, g.A.data,
                     by.beta, g.C.data, bias_of(g), stream);
}

/// The products of all replicas in one call, each by the algorithm of a single one. False, with nothing done,
/// where that algorithm does not take a batch.
template <class G>
bool run_together(LtPlans& plans, LtType type, cudaStream_t stream, const G& g, const Spread& spread) {
    const auto [A, B, C, bias] = spread.apart;
    for (const std::ptrdiff_t distance : spread.apart)
        if (distance < 0 || distance % static_cast<std::ptrdiff_t>(kLtVector) != 0) return false;
    if (batch_of(g) != 1 || C == 0) return false;
    const LtShape one = shape_of(type, g, bias_of(g) != nullptr, 1);
    LtShape all = one;
    all.batch = spread.count;
    all.as_one = true;
    all.A.stride = B / static_cast<std::ptrdiff_t>(sizeof *g.B.data);  // the operands change places
    all.B.stride = A / static_cast<std::ptrdiff_t>(sizeof *g.A.data);
    all.D.stride = C / static_cast<std::ptrdiff_t>(sizeof *g.C.data);
    if (bias_of(g)) all.bias_stride = bias / static_cast<std::ptrdiff_t>(sizeof *bias_of(g));
    const Scales by = scales_of(g);
    return plans.run(all, by.alpha, g.B.data, g.A.data, by.beta, g.C.data, bias_of(g), stream, &one);
}

template <class G>
[[noreturn]] void no_algorithm(LtType type, const G& g) {
    throw SystemError("cuBLASLt has no algorithm for a GEMM in " + std::string(word_of(type)) + " of M " +
                      std::to_string(g.M) + ", N " + std::to_string(g.N) + ", K " + std::to_string(g.K));
}

/// Into the queue of the context: a product, or those of replicas.
template <class G>
void submit_product(Context& context, LtPlans& plans, LtType type, const G& g) {
    const auto multiply = [&plans, type](const Queue& queue, const G& of, const Spread& spread) {
        if (spread.count > 1 && run_together(plans, type, queue.stream, of, spread)) return;
        for_each_replica(of, spread, [&](const G& one) {
            if (!run(plans, type, queue.stream, one)) no_algorithm(type, one);
        });
    };
    submit(context.queue(), GemmCall(g, static_cast<int>(type), multiply));
}

template <class T, class In>
void multiply_by(Context& context, LtPlans& plans, LtType type, const Gemm<T, In>& g) {
    if (g.M == 0 || g.N == 0 || g.batch == 0) return;
    if (g.K == 0)
        return each_entry(context.queue(), "gemm_empty", g.M, g.N, g.batch,
                          ScaleStrided<T>{place_in(g.C), g.beta, g.C.data});
    submit_product(context, plans, type, g);
}

template <class T>
WithBias<T> product_of(const Linear<T>& g) {
    return {{Form::Nt, g.R, g.out, g.in, {g.x, g.in}, {g.weight, g.in}, {g.y, g.out}}, g.bias};
}

}  // namespace

template <class T>
void LtGemm<T>::multiply(const Gemm<T>& g) {
    multiply_by(context_, plans_, type_, g);
}

template <class T>
void LtGemm<T>::linear(const Linear<T>& g) {
    if (g.R == 0 || g.out == 0) return;
    // Added by the GEMM itself where cuBLASLt does so: the plan supposes an aligned bias, and in float64 it
    // may have no such algorithm.
    const bool aligned = reinterpret_cast<std::size_t>(g.bias) % kLtVector == 0;
    if (!g.bias || g.in == 0 || !aligned) {
        const Gemm<T> product = product_of(g);
        multiply(product);
        if (g.bias)
            each_entry(context_.queue(), "add_bias", g.R, g.out, 1,
                       AddBias<T>{place_in(product.C), g.bias, g.y});
        return;
    }
    const auto multiply = [&plans = plans_, type = type_](const Queue& queue, const Linear<T>& of,
                                                          const Spread& spread) {
        if (spread.count > 1 && run_together(plans, type, queue.stream, product_of(of), spread)) return;
        for_each_replica(of, spread, [&](const Linear<T>& one) {
            const WithBias<T> product = product_of(one);
            if (run(plans, type, queue.stream, product)) return;
            if (!run(plans, type, queue.stream, static_cast<const Gemm<T>&>(product)))
                no_algorithm(type, product);
            each_entry(queue, "add_bias", one.R, one.out, 1,
                       AddBias<T>{place_in(product.C), one.bias, one.y});
        });
    };
    submit(context_.queue(), GemmCall(g, static_cast<int>(type_), multiply));
}

template class LtGemm<float>;
template class LtGemm<double>;

void LtShortGemm::multiply(Rounding format, const Gemm<float, std::uint16_t>& g) {
    multiply_by(context_, plans_, type_of(format), g);
}
void LtShortGemm::multiply(Rounding format, const ShortProduct& g) {
    if (g.M > 0 && g.N > 0) submit_product(context_, plans_, type_of(format), g);
}

}  // namespace normscope::cuda
