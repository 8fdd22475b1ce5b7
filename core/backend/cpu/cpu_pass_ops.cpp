// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/cpu_pass_ops.h"

#include "core/backend/cpu/cpu_attention.h"

#include <algorithm>

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
bool CpuLayerOps<T>::prefers_transposed() const {
    return std::is_same_v<T, float>;  // jit_gemm.h; the library that multiplies in float64 packs its operands
                                      // anyway
}
template <class T>
int CpuLayerOps<T>::step_rows() const {
    return kStepRows;
}

template <class T>
void CpuLayerOps<T>::linear(int R, int out, int in, const T* x, const LinearWeights<T>& w, T* y) {
    kernels_.linear(R, out, in, x, w, y);
}
template <class T>
void CpuLayerOps<T>::linear_input_gradient(int R, int out, int in, const T* dy, const T* weight, T* dx) {
    kernels_.products.nn(R, in, out, 1, dy, out, weight, in, 0, dx, in);
}
template <class T>
void CpuLayerOps<T>::linear_weight_gradient(int R, int out, int in, const T* dy, const T* x, bool fresh,
                                            T* dW) {
    kernels_.weight_gradient(R, out, in, dy, x, fresh, dW);
}
template <class T>
void CpuLayerOps<T>::column_sums(int R, int d, const T* x, T* sums) {
    kernels_.rows.column_sums(R, d, x, sums);
}
template <class T>
void CpuLayerOps<T>::transpose_weight(int out, int in, const T* weight, T* transposed) {
    transpose(out, in, weight, in, transposed);
}

template <class T>
void CpuLayerOps<T>::norm_forward(const NormRows<T>& n, const T* eps, const T* scale, T* y) {
    kernels_.rows.norm_forward(n.kind, n.rows, n.d, n.x, *eps, n.gamma, n.beta, value(scale), n.statistics,
                               y);
}
template <class T>
void CpuLayerOps<T>::residual_norm(const NormRows<T>& n, const T* eps, const T* scale, const T* a, const T* x,
                                   const T* b, const T* f, T* z, T* y, double* squares) {
    const std::size_t count = static_cast<std::size_t>(n.rows) * static_cast<std::size_t>(n.d);
    kernels_.rows.axpby(count, value(a), x, value(b), f, z);
    norm_forward(n, eps, scale, y);
    if (squares) *squares += kernels_.rows.dot(count, z, z);
}
template <class T>
void CpuLayerOps<T>::embedding_norm(int sequences, int length, const std::int32_t* tokens, const T* table,
                                    const T* positions, T* x, const NormRows<T>& n, const T* eps,
                                    const T* scale, T* y, double* squares) {
    embedding_forward(sequences, length, n.d, tokens, table, positions, x);
    norm_forward(n, eps, scale, y);
    const std::size_t count = static_cast<std::size_t>(n.rows) * static_cast<std::size_t>(n.d);
    if (squares) *squares += kernels_.rows.dot(count, x, x);
}
template <class T>
void CpuLayerOps<T>::norm_vjp(const NormRows<T>& n, const T* dy, const T* scale, bool add, T* dx, T* dgamma,
                              T* dbeta, double* squares, const BranchGradient<T>& before) {
    kernels_.rows.norm_backward(n.kind, n.rows, n.d, n.x, n.statistics, n.gamma, dy, value(scale), add, dx,
                                dgamma, dbeta);
    const std::size_t count = static_cast<std::size_t>(n.rows) * static_cast<std::size_t>(n.d);
    if (squares) *squares += kernels_.rows.dot(count, dx, dx);
    if (!before.rows) return;
    kernels_.rows.scale(count, value(before.factor), dx, before.rows.floats);
    if (before.sums) column_sums(n.rows, n.d, before.rows.floats, before.sums);
}
template <class T>
void CpuLayerOps<T>::norm_jvp(const NormRows<T>& n, const T* tx, const T* scale, T* ty) {
    kernels_.rows.norm_tangent(n.kind, n.rows, n.d, n.x, n.statistics, n.gamma, tx, value(scale), ty);
}

template <class T>
void CpuLayerOps<T>::attention_forward(const AttentionShape& shape, int sequences,
                                       const AttentionWeights<T>& w, const T* u, const AttentionTape<T>& tape,
                                       T* f) {
    cpu_attention_forward(kernels_, shape, sequences, w, u, tape, f);
}
template <class T>
void CpuLayerOps<T>::attention_vjp(const AttentionShape& shape, int sequences, int directions,
                                   const AttentionWeights<T>& w, const AttentionTape<T>& tape, const T* u,
                                   const T* df, T* du, const AttentionGradients<T>* gradients) {
    cpu_attention_vjp(kernels_, shape, sequences, directions, w, tape, u, df, du, gradients);
}
template <class T>
void CpuLayerOps<T>::attention_jvp(const AttentionShape& shape, int first_token, int directions,
                                   const AttentionWeights<T>& w, const AttentionTape<T>& tape, const T* tu,
                                   T* tf) {
    cpu_attention_jvp(kernels_, shape, first_token, directions, w, tape, tu, tf);
}

template <class T>
void CpuLayerOps<T>::embedding_forward(int sequences, int length, int d, const std::int32_t* tokens,
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
void CpuLayerOps<T>::embedding_vjp(int sequences, int length, int d, const std::int32_t* tokens, const T* dx,
                                   int, T* dtable, int, T* dpositions) {
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
void CpuLayerOps<T>::round_weights(std::size_t, T*) {}

template <class T>
void CpuElementwiseOps<T>::pass_coefficients(int sublayers, const CoefficientRule* rules, PassRule rule,
                                             const Numerics* numbers, const T* parameters,
                                             PassCoefficients<T>* pass, SublayerCoefficients<T>* out) {
    *pass = whole_pass_coefficients<T>(*numbers, rule);
    for (int i = 0; i < sublayers; ++i) out[i] = sublayer_coefficients<T>(rules[i], *numbers, parameters);
}

template <class T>
void CpuElementwiseOps<T>::copy(std::size_t count, const T* from, T* to) {
    std::copy_n(from, count, to);
}
template <class T>
void CpuElementwiseOps<T>::zero(const ArenaPiece* pieces, int count, T* arena, int others, double* numbers) {
    for (int i = 0; i < count; ++i) std::fill_n(arena + pieces[i].offset, pieces[i].count, T(0));
    std::fill_n(numbers, others, 0.0);
}

template <class T>
void CpuElementwiseOps<T>::activation(Activation kind, std::size_t count, const T* h, T* a, T* slope) {
    rows_.activation(kind, count, h, a, slope);
}
template <class T>
void CpuElementwiseOps<T>::multiply(std::size_t count, const T* x, const T* y, T* out) {
    rows_.multiply(count, x, y, out);
}
template <class T>
void CpuElementwiseOps<T>::gated(Activation kind, int R, int width, const T* pre, T* a) {
    rows_.gated(kind, R, width, pre, a);
}
template <class T>
void CpuElementwiseOps<T>::gated_vjp(Activation kind, int R, int width, const T* pre, const T* da, T* dpre) {
    rows_.gated_backward(kind, R, width, pre, da, dpre);
}
template <class T>
void CpuElementwiseOps<T>::gated_jvp(Activation kind, int R, int width, const T* pre, const T* tpre, T* ta) {
    rows_.gated_tangent(kind, R, width, pre, tpre, ta);
}
template <class T>
void CpuElementwiseOps<T>::axpby(std::size_t count, const T* a, const T* x, const T* b, const T* y, T* out) {
    rows_.axpby(count, value(a), x, value(b), y, out);
}
template <class T>
void CpuElementwiseOps<T>::scale(std::size_t count, const T* a, const T* x, T* out) {
    rows_.scale(count, value(a), x, out);
}
template <class T>
void CpuElementwiseOps<T>::scale_columns(int R, int d, const T* w, const T* x, T* out) {
    rows_.scale_columns(R, d, 1, w, x, out);
}
template <class T>
void CpuElementwiseOps<T>::soft_cap(std::size_t count, T cap, T* x) {
    rows_.soft_cap(count, cap, x);
}
template <class T>
void CpuElementwiseOps<T>::soft_cap_vjp(std::size_t count, T cap, const T* y, const T* g, T* out) {
    rows_.soft_cap_derivative(count, cap, y, g, out);
}

template <class T>
void CpuElementwiseOps<T>::column_products(int R, int d, const T* a, const T* x, const T* y, T* sums) {
    rows_.column_products(R, d, value(a), x, y, sums);
}
template <class T>
void CpuElementwiseOps<T>::add_dot(std::size_t count, const T* x, const T* y, const double* factor, T* out) {
    *out += static_cast<T>(*factor * rows_.dot(count, x, y));
}
template <class T>
void CpuElementwiseOps<T>::multiply_rows(int R, int d, const T* x, const T* y, T* out, T* sums) {
    rows_.multiply(static_cast<std::size_t>(R) * static_cast<std::size_t>(d), x, y, out);
    rows_.column_sums(R, d, out, sums);
}
template <class T>
void CpuElementwiseOps<T>::delay_sums() {}
template <class T>
void CpuElementwiseOps<T>::finish_sums() {}
template <class T>
void CpuElementwiseOps<T>::add_squares(int arrays, std::size_t count, std::size_t stride, const T* x,
                                       double* out) {
    for (int i = 0; i < arrays; ++i, x += stride) out[i] += rows_.dot(count, x, x);
}

template <class T>
void CpuElementwiseOps<T>::cross_entropy(int R, int V, const T* logits, const std::int32_t* targets,
                                         const T* scale, T z, T* losses, T* dlogits) {
    rows_.cross_entropy(R, V, logits, targets, dlogits ? value(scale) : T(1), z, losses, dlogits);
}

template class CpuLayerOps<float>;
template class CpuLayerOps<double>;
template class CpuElementwiseOps<float>;
template class CpuElementwiseOps<double>;

}  // namespace normscope
