// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/pass_ops.h"
#include "core/backend/row/adamw.h"
#include "core/backend/shared/instruction_set.h"
#include "core/backend/shared/low_precision.h"
#include "core/stack/stack_spec.h"

#include <cstddef>
#include <cstdint>

namespace normscope {

/// Thin loops over row math, one table per instruction set; every function works on `rows` consecutive rows,
/// is re-entrant, and the bits of a row do not depend on the other rows. Shapes: [rows, d] row-major.
template <class T>
struct RowKernels {
    void (*norm_forward)(NormKind, int rows, int d, const T* x, T eps, const T* gamma, const T* beta, T scale,
                         NormStatistics<T> out_statistics, T* y);
    /// dx = (add ? dx : 0) + scale·Jᵀdy; dgamma, dbeta accumulate over the rows in order (null: not
    /// computed). dx may be dy where nothing is added.
    void (*norm_backward)(NormKind, int rows, int d, const T* x, NormStatistics<T>, const T* gamma,
                          const T* dy, T scale, bool add, T* dx, T* dgamma, T* dbeta);
    /// ty = scale·J tx; ty may be tx.
    void (*norm_tangent)(NormKind, int rows, int d, const T* x, NormStatistics<T>, const T* gamma,
                         const T* tx, T scale, T* ty);
    /// Row r of [rows, n] (leading dimension n) becomes softmax(scale·s); causal rows keep first_row + r + 1
    /// entries and are zero after them.
    void (*softmax)(int rows, int n, int first_row, bool causal, T scale, T* s);
    /// out = scale·(diag(p) − ppᵀ)·g for the first n entries of rows `stride` apart; out may be g.
    void (*softmax_project)(int rows, int n, int stride, const T* p, const T* g, T scale, T* out);
    /// a = φ(h) and slope = φ'(h), which shares φ's exponential; a may be h.
    void (*activation)(Activation, std::size_t count, const T* h, T* a, T* slope);
    /// out = x ∘ y; out may be x or y.
    void (*multiply)(std::size_t count, const T* x, const T* y, T* out);
    /// losses[r] in nat, without the z-loss, which only dlogits includes; dlogits may be null or logits.
    void (*cross_entropy)(int rows, int V, const T* logits, const std::int32_t* targets, T scale, T z,
                          T* losses, T* dlogits);
    /// x = cap·tanh(x/cap), in place.
    void (*soft_cap)(std::size_t count, T cap, T* x);
    /// out = g ∘ ∂(soft cap) where it gave y; out may be g.
    void (*soft_cap_derivative)(std::size_t count, T cap, const T* y, const T* g, T* out);
    void (*adamw)(std::size_t count, const row::AdamWStep<T>&, T* p, const T* g, T* m, T* v);
    void (*axpby)(std::size_t count, T a, const T* x, T b, const T* y, T* out);
    void (*scale)(std::size_t count, T a, const T* x, T* out);
    /// out = Σ_s sources[s], in order; returns Σ out² in float64.
    double (*add_up)(std::size_t count, int n, const T* const* sources, T* out);
    /// In float64.
    double (*dot)(std::size_t count, const T* x, const T* y);
    /// x[r, :] += bias.
    void (*add_bias)(int rows, int d, const T* bias, T* x);
    /// sums[:] += Σ_r x[r, :], rows in order.
    void (*column_sums)(int rows, int d, const T* x, T* sums);
    /// Rotary positions of `heads` neighbouring heads in each of `rows` rows `stride` apart, in place; row r
    /// is rotated by the angles of angles[r, :] = d_head/2 cosines, then as many sines. d_head is even.
    void (*rope)(int rows, int heads, int d_head, int stride, const T* angles, bool inverse, T* x);
    /// a = φ(g) ∘ u of a gated activation with [g | u] = pre: [rows, 2·width], a: [rows, width].
    void (*gated)(Activation kind, int rows, int width, const T* pre, T* a);
    /// dpre: [rows, 2·width] from da: [rows, width].
    void (*gated_backward)(Activation kind, int rows, int width, const T* pre, const T* da, T* dpre);
    /// ta: [rows, width] from tpre: [rows, 2·width].
    void (*gated_tangent)(Activation kind, int rows, int width, const T* pre, const T* tpre, T* ta);
    /// out[r, :] = a·w ∘ x[r, :]; out may be x.
    void (*scale_columns)(int rows, int d, T a, const T* w, const T* x, T* out);
    /// sums[:] += a·Σ_r x[r, :] ∘ y[r, :], rows in order.
    void (*column_products)(int rows, int d, T a, const T* x, const T* y, T* sums);
    /// Every entry to the nearest of the format (low_precision.h), in place; whatever T is, these are
    /// float32.
    void (*round)(Rounding to, std::size_t count, float* x);
};

/// The static functions of `Set` as a table.
template <class T, class Set>
constexpr RowKernels<T> row_kernel_table() {
    return {
        .norm_forward = Set::norm_forward,
        .norm_backward = Set::norm_backward,
        .norm_tangent = Set::norm_tangent,
        .softmax = Set::softmax,
        .softmax_project = Set::softmax_project,
        .activation = Set::activation,
        .multiply = Set::multiply,
        .cross_entropy = Set::cross_entropy,
        .soft_cap = Set::soft_cap,
        .soft_cap_derivative = Set::soft_cap_derivative,
        .adamw = Set::adamw,
        .axpby = Set::axpby,
        .scale = Set::scale,
        .add_up = Set::add_up,
        .dot = Set::dot,
        .add_bias = Set::add_bias,
        .column_sums = Set::column_sums,
        .rope = Set::rope,
        .gated = Set::gated,
        .gated_backward = Set::gated_backward,
        .gated_tangent = Set::gated_tangent,
        .scale_columns = Set::scale_columns,
        .column_products = Set::column_products,
        .round = Set::round,
    };
}

template <class T>
const RowKernels<T>& row_kernels(Isa isa = best_isa());

}  // namespace normscope
