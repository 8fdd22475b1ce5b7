// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <type_traits>

#include "core/backend/cpu/matmul.h"
#include "core/backend/cpu/row_kernels.h"
#include "core/model/emulated_product.h"
#include "core/model/parameters.h"
#include "core/stack/stack_spec.h"

namespace normscope {

/// Under GPAS with stop-gradient the back-propagated Jacobian differs from the derivative of the forward map: per gate
/// the factor is 1 instead of 1 − act(g) ([G] §3). Passes that multiply by a Jacobian are told which one.
enum class Jacobian { Backprop, Forward };

/// The numbers of the forward map that may move while a run goes on.
struct Numerics {
    double residual_step = 1;  ///< Δt
    double temperature = 1;    ///< τ
    double eps = 1e-5;         ///< of every norm
};

/// Rows of the batch that one thread works on: whole sequences, cut from the shape alone.
struct Shard {
    int first_sequence = 0, sequences = 0;
    /// A pull-back may carry several directions through the same rows of the tape: its gradients are then
    /// [directions, R, d]. Parameter gradients are defined for one direction only.
    int directions = 1;
};

/// What every part of a pass looks at: the stack, its numbers, its parameters, and the kernels to compute with.
template <class T>
struct Pass {
    const StackSpec& spec;
    const Numerics& numerics;
    const ParameterTable& table;
    const T* parameters;
    const RowKernels<T>& kernels;
    const T* turned;  ///< Tape::turned, or null: the linear layers read the weights as they are stored
    const T* angles;  ///< of rotary positions (rope_table.h); null without them
    /// Of float32 results; the kernels are then rounded_kernels() or autocast_kernels() of the same. Under autocast the
    /// weights in `turned` are rounded already.
    Rounding rounding = Rounding::None;
    PrecisionPolicy policy = PrecisionPolicy::Pure;
    bool fresh_gradients = false;         ///< the blocks' weight gradients hold nothing yet

    const T* at(std::size_t offset) const { return offset == kAbsent ? nullptr : parameters + offset; }
    T eps() const { return static_cast<T>(numerics.eps); }

    // Every product of a pass goes through these three (see matmul.h for the shapes).
    void nt(int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C, int ldc) const {
        if (emulated()) return emulate(Product::Nt, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
        matmul_nt<T>(M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    void nn(int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C, int ldc) const {
        if (emulated()) return emulate(Product::Nn, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
        matmul_nn<T>(M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    void tn(int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C, int ldc) const {
        if (emulated()) return emulate(Product::Tn, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
        matmul_tn<T>(M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    /// A linear layer: y[R, out] = x[R, in]·Wᵀ + bias, W [out, in] and the bias (kAbsent: none) by their offsets.
    void linear(int R, int out, int in, const T* x, std::size_t weight, std::size_t bias, T* y) const {
        if (emulated()) return emulate_linear(R, out, in, x, weight, bias, y);
        if (turned)
            matmul_nn<T>(R, out, in, 1, x, in, turned + weight, out, 0, y, out);
        else
            matmul_nt<T>(R, out, in, 1, x, in, parameters + weight, in, 0, y, out);
        if (bias != kAbsent) kernels.add_bias(R, out, parameters + bias, y);
    }

    /// The gradient of a weight matrix of a block, dW[M,N] += A[K,M]ᵀ·B[K,N]. Each is written once a pass, so a fresh
    /// buffer is overwritten: it need not be cleared first.
    void weight_gradient(int M, int N, int K, const T* A, int lda, const T* B, int ldb, T* dW) const {
        tn(M, N, K, 1, A, lda, B, ldb, fresh_gradients ? T(0) : T(1), dW, N);
    }

  private:
    bool emulated() const { return std::is_same_v<T, float> && rounding != Rounding::None; }
    void emulate(Product form, int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
                 int ldc) const {
        if constexpr (std::is_same_v<T, float>)
            emulated_product(rounding, policy, form, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    void emulate_linear(int R, int out, int in, const T* x, std::size_t weight, std::size_t bias, T* y) const {
        if constexpr (std::is_same_v<T, float>)
            emulated_linear(rounding, policy, R, out, in, x, turned ? turned + weight : nullptr, at(weight), at(bias),
                            y);
    }
};

/// A place in a gradient buffer that may not be wanted.
template <class T>
inline T* gradient_at(T* gradients, std::size_t offset) {
    return gradients && offset != kAbsent ? gradients + offset : nullptr;
}

}  // namespace normscope
