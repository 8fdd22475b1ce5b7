// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

namespace normscope {

/// ‖diag(p) − ppᵀ‖₂ of a softmax row p (entries >= 0, sum 1), dimensionless: τ times the spectral norm of the
/// softmax Jacobian ([E] Remark B.2, [B] Lemma 2: at most ½). The matrix is diag(p) minus rank one, so its
/// largest eigenvalue is the root of the secular equation Σ p_i²/(p_i − λ) = 1 between the two largest
/// entries; where they are equal it is that entry. Solved by bisection in p_max − λ, to round-off (absolute,
/// about 1e-16). Throws InputError on an empty row and on a negative or NaN entry. Any thread.
double softmax_jacobian_norm(std::span<const double> p);

/// The same by power iterations of unit vectors from `start` [p.size()], as [B] App. A.6: never above the
/// norm, and far below it while the start has little of the leading eigenvector.
double softmax_jacobian_norm_by_power(std::span<const double> p, std::span<const double> start,
                                      int iterations);

}  // namespace normscope
