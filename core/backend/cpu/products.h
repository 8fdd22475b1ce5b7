// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cpu/kernels/row_kernels.h"
#include "core/backend/cpu/linear_algebra/emulated_product.h"
#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/backend/cpu/operand_formats.h"
#include "core/backend/pass_ops.h"

#include <type_traits>

namespace normscope {

/// The GEMMs of a pass on the CPU (shapes: matmul.h), each rounded in an emulated precision.
template <class T>
struct Products {
    Rounding rounding = Rounding::None;  ///< of float32 results
    PrecisionPolicy policy = PrecisionPolicy::Pure;
    const OperandFormat* operands =
        nullptr;  ///< where not null, of float32 operands, and nothing else is rounded

    void nt(int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
            int ldc) const {
        if (emulated()) return emulate(Product::Nt, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
        matmul_nt<T>(M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    void nn(int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
            int ldc) const {
        if (emulated()) return emulate(Product::Nn, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
        matmul_nn<T>(M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    void tn(int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
            int ldc) const {
        if (emulated()) return emulate(Product::Tn, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
        matmul_tn<T>(M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
    }

  private:
    bool emulated() const { return std::is_same_v<T, float> && (rounding != Rounding::None || operands); }
    void emulate(Product form, int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta,
                 T* C, int ldc) const {
        if constexpr (std::is_same_v<T, float>) {
            if (operands)
                return product_of_rounded(*operands, form, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
            emulated_product(rounding, policy, form, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
        }
    }
};

/// The kernels of the CPU's operations: row loops of one instruction set, and GEMM. An emulated precision is
/// another pair.
template <class T>
struct CpuKernels {
    RowKernels<T> rows;
    Products<T> products;
    Products<T> scores = products, mixing = products;  ///< of attention's forward pass: QKᵀ and PV

    /// y[R, out] = x[R, in]·Wᵀ + bias.
    void linear(int R, int out, int in, const T* x, const LinearWeights<T>& w, T* y) const {
        if constexpr (std::is_same_v<T, float>)
            if (products.rounding != Rounding::None)
                return emulated_linear(products.rounding, products.policy, R, out, in, x, w.transposed,
                                       w.weight, w.bias, y);
        if (products.operands)
            products.nt(R, out, in, 1, x, in, w.weight, in, 0, y, out);
        else if (w.transposed)
            matmul_nn<T>(R, out, in, 1, x, in, w.transposed, out, 0, y, out);
        else
            matmul_nt<T>(R, out, in, 1, x, in, w.weight, in, 0, y, out);
        if (w.bias) rows.add_bias(R, out, w.bias, y);
    }
    /// dW[out, in] = (fresh ? 0 : dW) + dyᵀ·x: an overwritten buffer need not be cleared.
    void weight_gradient(int R, int out, int in, const T* dy, const T* x, bool fresh, T* dW) const {
        products.tn(out, in, R, 1, dy, out, x, in, fresh ? T(0) : T(1), dW, in);
    }
};

}  // namespace normscope
