// SPDX-License-Identifier: GPL-3.0-or-later
// Included by one source file per instruction set, compiled with that set's flags.
#pragma once

#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/backend/row/activation.h"
#include "core/backend/row/cross_entropy.h"
#include "core/backend/row/elementwise.h"
#include "core/backend/row/gated.h"
#include "core/backend/row/norm.h"
#include "core/backend/row/rope.h"
#include "core/backend/row/soft_cap.h"
#include "core/backend/row/softmax.h"

namespace normscope {

template <class L>
struct RowKernelSet {
    using T = typename L::scalar;

    template <bool Centred>
    static void norm_forward_as(int rows, int d, const T* x, T eps, const T* gamma, const T* beta, T scale,
                                NormStatistics<T> s, T* y) {
        constexpr int kTogether = 4;
        const int together = rows - rows % kTogether;
        for (int r = 0; r < rows; ++r, x += d, y += d) {
            if (r >= together)
                row::norm_statistics<L, Centred>(x, d, eps, s.mean[r], s.rstd[r]);
            else if (r % kTogether == 0)
                row::norm_statistics_of<L, Centred, kTogether>(x, d, eps, s.mean + r, s.rstd + r);
            row::norm_apply<L>(x, d, s.mean[r], s.rstd[r], gamma, beta, scale, y);
        }
    }
    static void norm_forward(NormKind kind, int rows, int d, const T* x, T eps, const T* gamma, const T* beta,
                             T scale, NormStatistics<T> s, T* y) {
        switch (kind) {
            case NormKind::LayerNorm:
                return norm_forward_as<true>(rows, d, x, eps, gamma, beta, scale, s, y);
            case NormKind::RmsNorm:
                return norm_forward_as<false>(rows, d, x, eps, gamma, beta, scale, s, y);
        }
    }

    template <bool Centred>
    static void norm_backward_as(int rows, int d, const T* x, NormStatistics<T> s, const T* gamma,
                                 const T* dy, T scale, bool add, T* dx, T* dgamma, T* dbeta) {
        for (int r = 0; r < rows; ++r, x += d, dy += d, dx += d) {
            if (dgamma) row::norm_parameter_gradient<L>(x, d, s.mean[r], s.rstd[r], dy, scale, dgamma, dbeta);
            row::norm_project<L, Centred>(x, d, s.mean[r], s.rstd[r], gamma, dy, scale, add, dx);
        }
    }
    static void norm_backward(NormKind kind, int rows, int d, const T* x, NormStatistics<T> s, const T* gamma,
                              const T* dy, T scale, bool add, T* dx, T* dgamma, T* dbeta) {
        switch (kind) {
            case NormKind::LayerNorm:
                return norm_backward_as<true>(rows, d, x, s, gamma, dy, scale, add, dx, dgamma, dbeta);
            case NormKind::RmsNorm:
                return norm_backward_as<false>(rows, d, x, s, gamma, dy, scale, add, dx, dgamma, dbeta);
        }
    }

    template <bool Centred>
    static void norm_tangent_as(int rows, int d, const T* x, NormStatistics<T> s, const T* gamma, const T* tx,
                                T scale, T* ty) {
        for (int r = 0; r < rows; ++r, x += d, tx += d, ty += d) {
            row::norm_project<L, Centred>(x, d, s.mean[r], s.rstd[r], nullptr, tx, scale, false, ty);
            if (gamma)
                for_lanes<L>(d, [&](int i, auto part) {
                    L::store(ty + i, L::load(ty + i, part) * L::load(gamma + i, part), part);
                });
        }
    }

    static void norm_tangent(NormKind kind, int rows, int d, const T* x, NormStatistics<T> s, const T* gamma,
                             const T* tx, T scale, T* ty) {
        switch (kind) {
            case NormKind::LayerNorm:
                return norm_tangent_as<true>(rows, d, x, s, gamma, tx, scale, ty);
            case NormKind::RmsNorm:
                return norm_tangent_as<false>(rows, d, x, s, gamma, tx, scale, ty);
        }
    }

    static void softmax(int rows, int n, int first_row, bool causal, T scale, T* s) {
        for (int r = 0; r < rows; ++r, s += n) {
            const int length = causal ? first_row + r + 1 : n;
            row::softmax<L>(s, length, scale);
            for (int i = length; i < n; ++i) s[i] = 0;
        }
    }

    static void softmax_project(int rows, int n, int stride, const T* p, const T* g, T scale, T* out) {
        for (int r = 0; r < rows; ++r, p += stride, g += stride, out += stride)
            row::softmax_project<L>(p, g, n, scale, out);
    }

    template <Activation A>
    static void activation_as(std::size_t count, const T* h, T* a, T* slope) {
        for_lanes<L>(static_cast<int>(count), [&](int i, auto part) {
            const auto at = row::activation<L, A>(L::load(h + i, part));
            L::store(a + i, at.value, part);
            L::store(slope + i, at.slope, part);
        });
    }
    static void activation(Activation kind, std::size_t count, const T* h, T* a, T* slope) {
        switch (kind) {
            case Activation::GeluTanh:
                return activation_as<Activation::GeluTanh>(count, h, a, slope);
            case Activation::GeluErf:
                return activation_as<Activation::GeluErf>(count, h, a, slope);
            case Activation::Relu:
                return activation_as<Activation::Relu>(count, h, a, slope);
            case Activation::Silu:
            case Activation::SwiGlu:
                return activation_as<Activation::Silu>(count, h, a, slope);
            case Activation::GeGlu:
                return activation_as<Activation::GeluTanh>(count, h, a, slope);
        }
    }
    static void multiply(std::size_t count, const T* x, const T* y, T* out) {
        row::multiply<L>(static_cast<int>(count), 1, x, y, out);
    }

    static void cross_entropy(int rows, int V, const T* logits, const std::int32_t* targets, T scale, T z,
                              T* losses, T* dlogits) {
        for (int r = 0; r < rows; ++r)
            losses[r] =
                row::cross_entropy<L>(logits + static_cast<std::size_t>(r) * V, V, targets[r], scale, z,
                                      dlogits ? dlogits + static_cast<std::size_t>(r) * V : nullptr);
    }
    static void soft_cap(std::size_t count, T cap, T* x) {
        row::soft_cap<L>(static_cast<int>(count), cap, x);
    }
    static void soft_cap_derivative(std::size_t count, T cap, const T* y, const T* g, T* out) {
        row::soft_cap_derivative<L>(static_cast<int>(count), cap, y, g, out);
    }

    static void adamw(std::size_t count, const row::AdamWStep<T>& step, T* p, const T* g, T* m, T* v) {
        row::adamw<L>(static_cast<int>(count), step, p, g, m, v);
    }
    static void axpby(std::size_t count, T a, const T* x, T b, const T* y, T* out) {
        row::axpby<L>(static_cast<int>(count), a, x, b, y, out);
    }
    static void scale(std::size_t count, T a, const T* x, T* out) {
        row::scale<L>(static_cast<int>(count), a, x, out);
    }
    static double add_up(std::size_t count, int n, const T* const* sources, T* out) {
        return row::add_up<L>(static_cast<int>(count), n, sources, out);
    }
    static double dot(std::size_t count, const T* x, const T* y) {
        return row::dot<L>(static_cast<int>(count), x, y);
    }
    static void add_bias(int rows, int d, const T* bias, T* x) {
        for (int r = 0; r < rows; ++r, x += d) row::axpby<L>(d, 1, x, 1, bias, x);
    }
    static void column_sums(int rows, int d, const T* x, T* sums) {
        for (int r = 0; r < rows; ++r, x += d) row::axpby<L>(d, 1, sums, 1, x, sums);
    }
    static void scale_columns(int rows, int d, T a, const T* w, const T* x, T* out) {
        for (int r = 0; r < rows; ++r, x += d, out += d) row::multiply<L>(d, a, w, x, out);
    }
    static void column_products(int rows, int d, T a, const T* x, const T* y, T* sums) {
        for (int r = 0; r < rows; ++r, x += d, y += d) row::add_product<L>(d, a, x, y, sums);
    }

    static void rope(int rows, int heads, int d_head, int stride, const T* angles, bool inverse, T* x) {
        const int half = d_head / 2;
        for (int r = 0; r < rows; ++r, x += stride, angles += d_head)
            for (int h = 0; h < heads; ++h)
                row::rope<L>(x + static_cast<std::size_t>(h) * d_head, half, angles, angles + half, inverse);
    }

    static void gated(Activation kind, int rows, int width, const T* pre, T* a) {
        row::with_gate(kind, [&](auto gate) {
            for (int r = 0; r < rows; ++r, pre += 2 * width, a += width)
                row::gated<L, gate>(width, pre, pre + width, a);
        });
    }
    static void gated_backward(Activation kind, int rows, int width, const T* pre, const T* da, T* dpre) {
        row::with_gate(kind, [&](auto gate) {
            for (int r = 0; r < rows; ++r, pre += 2 * width, dpre += 2 * width, da += width)
                row::gated_backward<L, gate>(width, pre, pre + width, da, dpre, dpre + width);
        });
    }
    static void gated_tangent(Activation kind, int rows, int width, const T* pre, const T* tpre, T* ta) {
        row::with_gate(kind, [&](auto gate) {
            for (int r = 0; r < rows; ++r, pre += 2 * width, tpre += 2 * width, ta += width)
                row::gated_tangent<L, gate>(width, pre, pre + width, tpre, tpre + width, ta);
        });
    }

    static void round(Rounding to, std::size_t count, float* x) {
        if (to == Rounding::Bf16)
            for (std::size_t i = 0; i < count; ++i) x[i] = round_to_bf16(x[i]);
        else if (to == Rounding::Fp16)
            for (std::size_t i = 0; i < count; ++i) x[i] = round_to_fp16(x[i]);
        else if (to == Rounding::Tf32)
            for (std::size_t i = 0; i < count; ++i) x[i] = round_to_tf32(x[i]);
    }

    static constexpr RowKernels<T> table = row_kernel_table<T, RowKernelSet>();
};

}  // namespace normscope
