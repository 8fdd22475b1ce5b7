// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

namespace normscope {

/// Bounds of a residual step I + A from the spectral norm of its branch, and of a stack of them. The norms
/// are those of maps R^d → R^d, so for attention they are those of the full nd × nd Jacobian. Both throw
/// InputError on a negative or non-finite norm.

/// σ_min(I + A) >= max(0, 1 − ‖A‖₂), [N] Theorem 4.6 (from the singular value form of Weyl's inequality, eq.
/// 32; its derivation there drops cross terms, the inequality holds). 0 is a vacuous bound.
double residual_min_singular_value(double branch_norm);
/// Π_ℓ (1 − ‖A_ℓ‖₂), [N] Theorem 6.4; 0 as soon as one norm reaches 1. It tends to 0 with depth: no uniform
/// bound.
double residual_min_singular_value(std::span<const double> branch_norms);

}  // namespace normscope
