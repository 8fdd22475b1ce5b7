// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope {

/// Upper bounds of largest singular values, from Gram matrices and GEMM alone: many times cheaper than the
/// singular values. No result lies below the value by more than the rounding of a product in T; none is an
/// estimate. NaN where an entry, or a sum of squares, is not finite.
///
/// Both rest on σ_1 <= (Σ_i σ_i^32)^{1/32} (the Schatten norm of order 32), at most r^{1/32} times σ_1 for
/// rank r: 1.139 for 64. The power is three squarings of the Gram matrix. No Gram matrix is larger than the
/// width below; a larger matrix is cut into pieces.
inline constexpr int kSpectralBoundWidth = 64;

/// ‖W‖₂ of a row-major [rows, columns] matrix whose rows are ld apart. Its shorter side is cut into m pieces
/// of 64 (the last may be smaller), ‖W‖₂² <= Σ_i ‖W_i‖₂²: at most √m times too large for that.
template <class T>
double spectral_norm_bound(int rows, int columns, const T* matrix, int ld);

/// ‖L·R‖₂ of L [rows, inner] and R [inner, columns]. λ_max of (LᵀL)(RRᵀ), inner × inner; no [rows, columns]
/// matrix is made. An inner width over 64 is cut into pieces, ‖LR‖₂ <= Σ_i ‖L_i R_i‖₂: at most m times too
/// large for that.
template <class T>
double product_norm_bound(int rows, int inner, int columns, const T* left, int left_ld, const T* right,
                          int right_ld);

}  // namespace normscope
