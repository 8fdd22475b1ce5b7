// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/cpu_ops.h"

#include "core/backend/cpu/cpu_attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace normscope {

namespace {

// Rows of one forward and backward pass: few give a small tape, many read the weights less often.
constexpr int kStepRows = 512;

template <class T>
T value(const T* coefficient) {
    return coefficient ? *coefficient : T(1);
}

}  // namespace

template <class T>
bool CpuOps<T>::prefers_transposed() const {
    return std::is_same_v<T, float>;  // jit_gemm.h; the library that multiplies in float64 packs its operands
                                      // anyway
}
template <class T>
int CpuOps<T>::step_rows() const {
    return kStepRows;
}

template <class T>
void CpuOps<T>::pass_coefficients(int sublayers, const CoefficientRule* rules, int d_head,
                                  const Numerics* numbers, const T* parameters, PassCoefficients<T>* pass,
                                  SublayerCoefficients<T>* out) {
    *pass = whole_pass_coefficients<T>(*numbers, d_head);
    for (int i = 0; i < sublayers; ++i) out[i] = sublayer_coefficients<T>(rules[i], *numbers, parameters);
}

template <class T>
void CpuOps<T>::copy(std::size_t count, const T* from, T* to) {
    std::copy_n(from, count, to);
}
template <class T>
void CpuOps<T>::zero(const ArenaPiece* pieces, int count, T* arena) {
    for (int i = 0; i < count; ++i) std::fill_n(arena + pieces[i].offset, pieces[i].count, T(0));
}

template <class T>
void CpuOps<T>::linear(int R, int out, int in, const T* x, const LinearWeights<T>& w, T* y) {
    kernels_.linear(R, out, in, x, w, y);
}
template <class T>
void CpuOps<T>::linear_input_gradient(int R, int out, int in, const T* dy, const T* weight, T* dx) {
    kernels_.products.nn(R, in, out, 1, dy, out, weight, in, 0, dx, in);
}
template <class T>
void CpuOps<T>::linear_weight_gradient(int R, int out, int in, const T* dy, const T* x, bool fresh, T* dW) {
    kernels_.weight_gradient(R, out, in, dy, x, fresh, dW);
}
template <class T>
void CpuOps<T>::column_sums(int R, int d, const T* x, T* sums) {
    kernels_.rows.column_sums(R, d, x, sums);
}
template <class T>
void CpuOps<T>::transpose_weight(int out, int in, const T* weight, T* transposed) {
    transpose(out, in, weight, in, transposed);
}

template <class T>
void CpuOps<T>::norm_forward(const NormRows<T>& n, const T* eps, const T* scale, T* y) {
    kernels_.rows.norm_forward(n.kind, n.rows, n.d, n.x, *eps, n.gamma, n.beta, value(scale), n.statistics,
                               y);
}
template <class T>
void CpuOps<T>::norm_vjp(const NormRows<T>& n, const T* dy, const T* scale, bool add, T* dx, T* dgamma,
                         T* dbeta) {
    kernels_.rows.norm_backward(n.kind, n.rows, n.d, n.x, n.statistics, n.gamma, dy, value(scale), add, dx,
                                dgamma, dbeta);
}
template <class T>
void CpuOps<T>::norm_jvp(const NormRows<T>& n, const T* tx, const T* scale, T* ty) {
    kernels_.rows.norm_tangent(n.kind, n.rows, n.d, n.x, n.statistics, n.gamma, tx, value(scale), ty);
}

template <class T>
void CpuOps<T>::attention_forward(const AttentionShape& shape, int sequences, const AttentionWeights<T>& w,
                                  const T* u, const AttentionTape<T>& tape, T* f) {
    cpu_attention_forward(kernels_, shape, sequences, w, u, tape, f);
}
template <class T>
void CpuOps<T>::attention_vjp(const AttentionShape& shape, int sequences, int directions,
                              const AttentionWeights<T>& w, const AttentionTape<T>& tape, const T* u,
                              const T* df, T* du, const AttentionGradients<T>* gradients) {
    cpu_attention_vjp(kernels_, shape, sequences, directions, w, tape, u, df, du, gradients);
}
template <class T>
void CpuOps<T>::attention_jvp(const AttentionShape& shape, int first_token, int directions,
                              const AttentionWeights<T>& w, const AttentionTape<T>& tape, const T* tu,
                              T* tf) {
    cpu_attention_jvp(kernels_, shape, first_token, directions, w, tape, tu, tf);
}

template <class T>
void CpuOps<T>::activation(Activation kind, std::size_t count, const T* h, T* a, T* slope) {
    kernels_.rows.activation(kind, count, h, a, slope);
}
template <class T>
void CpuOps<T>::multiply(std::size_t count, const T* x, const T* y, T* out) {
    kernels_.rows.multiply(count, x, y, out);
}
template <class T>
void CpuOps<T>::swiglu(int R, int width, const T* pre, T* a) {
    kernels_.rows.swiglu(R, width, pre, a);
}
template <class T>
void CpuOps<T>::swiglu_vjp(int R, int width, const T* pre, const T* da, T* dpre) {
    kernels_.rows.swiglu_backward(R, width, pre, da, dpre);
}
template <class T>
void CpuOps<T>::swiglu_jvp(int R, int width, const T* pre, const T* tpre, T* ta) {
    kernels_.rows.swiglu_tangent(R, width, pre, tpre, ta);
}
template <class T>
void CpuOps<T>::axpby(std::size_t count, const T* a, const T* x, const T* b, const T* y, T* out) {
    kernels_.rows.axpby(count, value(a), x, value(b), y, out);
}
template <class T>
void CpuOps<T>::scale(std::size_t count, const T* a, const T* x, T* out) {
    kernels_.rows.scale(count, value(a), x, out);
}
template <class T>
void CpuOps<T>::scale_columns(int R, int d, const T* w, const T* x, T* out) {
    kernels_.rows.scale_columns(R, d, 1, w, x, out);
}
template <class T>
void CpuOps<T>::column_products(int R, int d, const T* a, const T* x, const T* y, T* sums) {
    kernels_.rows.column_products(R, d, value(a), x, y, sums);
}

template <class T>
void CpuOps<T>::embedding_forward(int sequences, int length, int d, const std::int32_t* tokens,
                                  const T* table, const T* positions, T* x) {
    const auto width = static_cast<std::size_t>(d);
    for (int b = 0; b < sequences; ++b)
        for (int t = 0; t < length; ++t, ++tokens, x += width) {
            const T* token = table + static_cast<std::size_t>(*tokens) * width;
            if (positions)
                kernels_.rows.axpby(width, 1, token, 1, positions + static_cast<std::size_t>(t) * width, x);
            else
                std::copy_n(token, width, x);
        }
}
template <class T>
void CpuOps<T>::embedding_vjp(int sequences, int length, int d, const std::int32_t* tokens, const T* dx, int,
                              T* dtable, int, T* dpositions) {
    const auto width = static_cast<std::size_t>(d);
    const auto add = row_kernels<T>().axpby;
    for (int b = 0; b < sequences; ++b)
        for (int t = 0; t < length; ++t, ++tokens, dx += width) {
            T* token = dtable + static_cast<std::size_t>(*tokens) * width;
            add(width, 1, token, 1, dx, token);
            if (!dpositions) continue;
            T* position = dpositions + static_cast<std::size_t>(t) * width;
            add(width, 1, position, 1, dx, position);
        }
}
template <class T>
void CpuOps<T>::soft_cap(std::size_t count, T cap, T* x) {
    kernels_.rows.soft_cap(count, cap, x);
}
template <class T>
void CpuOps<T>::soft_cap_vjp(std::size_t count, T cap, const T* y, const T* g, T* out) {
    kernels_.rows.soft_cap_derivative(count, cap, y, g, out);
}
template <class T>
void CpuOps<T>::cross_entropy(int R, int V, const T* logits, const std::int32_t* targets, const T* scale, T z,
                              T* losses, T* dlogits) {
    kernels_.rows.cross_entropy(R, V, logits, targets, dlogits ? value(scale) : T(1), z, losses, dlogits);
}

template <class T>
void CpuOps<T>::add_dot(std::size_t count, const T* x, const T* y, const double* factor, T* out) {
    *out += static_cast<T>(*factor * kernels_.rows.dot(count, x, y));
}
template <class T>
void CpuOps<T>::add_squares(std::size_t count, const T* x, double* out) {
    *out += kernels_.rows.dot(count, x, x);
}
template <class T>
void CpuOps<T>::piece_squares(const ArenaPiece* pieces, int first, int end, const T* arena, double* squares) {
    for (int i = first; i < end; ++i) {
        const T* g = arena + pieces[i].offset;
        double sum = 0;
        for (std::size_t k = 0; k < pieces[i].count; ++k)
            sum += static_cast<double>(g[k]) * static_cast<double>(g[k]);
        squares[i] = sum;
    }
}
template <class T>
void CpuOps<T>::sum_shards(const ArenaPiece* pieces, int first, int end, int count, const T* const* shards,
                           T* total, double* squares) {
    thread_local std::vector<const T*> sources;
    for (int i = first; i < end; ++i) {
        const std::size_t at = pieces[i].offset;
        sources.clear();
        for (int s = 0; s < count; ++s) sources.push_back(shards[s] + at);
        squares[i] = row_kernels<T>().add_up(pieces[i].count, count, sources.data(), total + at);
    }
}
template <class T>
void CpuOps<T>::norm_of_squares(int count, const double* squares, const double* divisor, double* norm) {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += squares[i];
    *norm = std::sqrt(sum) / (divisor ? *divisor : 1);
}

template <class T>
void CpuOps<T>::round_weights(std::size_t, T*) {}

template <class T>
void CpuOps<T>::find_first_non_finite(std::size_t count, const T* x, std::int64_t* place) {
    const T* bad = std::find_if_not(x, x + count, [](T v) { return std::isfinite(v); });
    *place = bad == x + count ? -1 : bad - x;
}

template class CpuOps<float>;
template class CpuOps<double>;

}  // namespace normscope
