// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/kernels/rounded_kernels.h"

namespace normscope {

namespace {

template <Rounding R>
struct RoundedKernels {
    static const RowKernels<float>& plain() { return row_kernels<float>(); }
    static void round(std::size_t count, float* x) { plain().round(R, count, x); }
    static std::size_t area(int rows, int d) {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(d);
    }

    static void norm_forward(NormKind kind, int rows, int d, const float* x, float eps, const float* gamma,
                             const float* beta, float scale, NormStatistics<float> statistics, float* y) {
        plain().norm_forward(kind, rows, d, x, eps, gamma, beta, scale, statistics, y);
        round(area(rows, d), y);
    }
    static void norm_backward(NormKind kind, int rows, int d, const float* x,
                              NormStatistics<float> statistics, const float* gamma, const float* dy,
                              float scale, bool add, float* dx, float* dgamma, float* dbeta) {
        plain().norm_backward(kind, rows, d, x, statistics, gamma, dy, scale, add, dx, dgamma, dbeta);
        round(area(rows, d), dx);
        if (dgamma) round(static_cast<std::size_t>(d) + norm_kind_row(kind).own.size(), dgamma);
        if (dbeta) round(static_cast<std::size_t>(d), dbeta);
    }
    static void norm_tangent(NormKind kind, int rows, int d, const float* x, NormStatistics<float> statistics,
                             const float* gamma, const float* tx, float scale, float* ty) {
        plain().norm_tangent(kind, rows, d, x, statistics, gamma, tx, scale, ty);
        round(area(rows, d), ty);
    }
    static void softmax(int rows, int n, int first_row, bool causal, float scale, float* s) {
        plain().softmax(rows, n, first_row, causal, scale, s);
        round(area(rows, n), s);
    }
    static void softmax_project(int rows, int n, int stride, const float* p, const float* g, float scale,
                                float* out) {
        plain().softmax_project(rows, n, stride, p, g, scale, out);
        for (int r = 0; r < rows; ++r) round(static_cast<std::size_t>(n), out + area(r, stride));
    }
    // The slope is not a separate result: the derivative that multiplies by it rounds.
    static void activation(Activation kind, std::size_t count, const float* h, float* a, float* slope) {
        plain().activation(kind, count, h, a, slope);
        round(count, a);
    }
    static void multiply(std::size_t count, const float* x, const float* y, float* out) {
        plain().multiply(count, x, y, out);
        round(count, out);
    }
    static void cross_entropy(int rows, int V, const float* logits, const std::int32_t* targets, float scale,
                              float z, float* losses, float* dlogits) {
        plain().cross_entropy(rows, V, logits, targets, scale, z, losses, dlogits);
        if (dlogits) round(area(rows, V), dlogits);
    }
    static void soft_cap(std::size_t count, float cap, float* x) {
        plain().soft_cap(count, cap, x);
        round(count, x);
    }
    static void soft_cap_derivative(std::size_t count, float cap, const float* y, const float* g,
                                    float* out) {
        plain().soft_cap_derivative(count, cap, y, g, out);
        round(count, out);
    }
    static void adamw(std::size_t count, const row::AdamWStep<float>& step, float* p, const float* g,
                      float* m, float* v) {
        plain().adamw(count, step, p, g, m, v);
    }
    static void axpby(std::size_t count, float a, const float* x, float b, const float* y, float* out) {
        plain().axpby(count, a, x, b, y, out);
        round(count, out);
    }
    static void scale(std::size_t count, float a, const float* x, float* out) {
        plain().scale(count, a, x, out);
        round(count, out);
    }
    // The optimizer's side: shards are summed in float32.
    static double add_up(std::size_t count, int n, const float* const* sources, float* out) {
        return plain().add_up(count, n, sources, out);
    }
    static double dot(std::size_t count, const float* x, const float* y) { return plain().dot(count, x, y); }
    static void add_bias(int rows, int d, const float* bias, float* x) {
        plain().add_bias(rows, d, bias, x);
        round(area(rows, d), x);
    }
    static void column_sums(int rows, int d, const float* x, float* sums) {
        plain().column_sums(rows, d, x, sums);
        round(static_cast<std::size_t>(d), sums);
    }
    static void rope(int rows, int heads, int d_head, int stride, const float* angles, bool inverse,
                     float* x) {
        plain().rope(rows, heads, d_head, stride, angles, inverse, x);
        for (int r = 0; r < rows; ++r) round(area(heads, d_head), x + area(r, stride));
    }
    static void gated(Activation kind, int rows, int width, const float* pre, float* a) {
        plain().gated(kind, rows, width, pre, a);
        round(area(rows, width), a);
    }
    static void gated_backward(Activation kind, int rows, int width, const float* pre, const float* da,
                               float* dpre) {
        plain().gated_backward(kind, rows, width, pre, da, dpre);
        round(area(rows, 2 * width), dpre);
    }
    static void gated_tangent(Activation kind, int rows, int width, const float* pre, const float* tpre,
                              float* ta) {
        plain().gated_tangent(kind, rows, width, pre, tpre, ta);
        round(area(rows, width), ta);
    }
    static void scale_columns(int rows, int d, float a, const float* w, const float* x, float* out) {
        plain().scale_columns(rows, d, a, w, x, out);
        round(area(rows, d), out);
    }
    static void column_products(int rows, int d, float a, const float* x, const float* y, float* sums) {
        plain().column_products(rows, d, a, x, y, sums);
        round(static_cast<std::size_t>(d), sums);
    }
    static void round(Rounding to, std::size_t count, float* x) { plain().round(to, count, x); }

    static constexpr RowKernels<float> table = row_kernel_table<float, RoundedKernels>();
};

}  // namespace

const RowKernels<float>& rounded_kernels(Rounding to) {
    switch (to) {
        case Rounding::None:
            break;
        case Rounding::Bf16:
            return RoundedKernels<Rounding::Bf16>::table;
        case Rounding::Fp16:
            return RoundedKernels<Rounding::Fp16>::table;
        case Rounding::Tf32:
            break;
    }
    return row_kernels<float>();
}

}  // namespace normscope
