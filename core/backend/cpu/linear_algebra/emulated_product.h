// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/low_precision.h"

namespace normscope {

/// The three forms of matmul.h: A·Bᵀ, A·B, Aᵀ·B, with the same shapes.
enum class Product { Nt, Nn, Tn };

/// C = alpha·op(A)·op(B) + beta·C in an emulated format, accumulated in float32. `rounding` is not None.
/// Pure: the new C, including beta·C, is one rounded result. Autocast: the operands are
/// rounded, the product of them is a rounded result, and beta·C is added to it in float32 (a parameter's
/// gradient). TF32, under either policy: the operands are rounded and nothing else.
void emulated_product(Rounding rounding, PrecisionPolicy policy, Product form, int M, int N, int K,
                      float alpha, const float* A, int lda, const float* B, int ldb, float beta, float* C,
                      int ldc);

/// A linear layer in an emulated format: y[R, out] = x[R, in]·Wᵀ + bias. Pure: the product is rounded, then
/// the sum. Autocast: x, W and the bias are rounded, and their sum once, as torch.nn.functional.linear does.
/// TF32: x and W are rounded. `transposed` is Wᵀ [in, out], under autocast and TF32 already rounded, or null:
/// then `weight` is read, W [out, in]. `bias` [out] or null.
void emulated_linear(Rounding rounding, PrecisionPolicy policy, int R, int out, int in, const float* x,
                     const float* transposed, const float* weight, const float* bias, float* y);

}  // namespace normscope
