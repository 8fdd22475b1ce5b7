// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

namespace normscope {

/// Bounds of a residual step I + A from the spectral norm of its branch, and of a stack of them. The norms
/// are those of maps R^d → R^d, so for attention they are those of the full nd × nd Jacobian. All throw
/// InputError on a negative or non-finite norm.

/// σ_min(I + A) >= max(0, 1 − ‖A‖₂), [N] Theorem 4.6 (from the singular value form of Weyl's inequality, eq.
/// 32; its derivation there drops cross terms, the inequality holds). 0 is a vacuous bound.
double residual_min_singular_value(double branch_norm);
/// Π_ℓ (1 − ‖A_ℓ‖₂), [N] Theorem 6.4; 0 as soon as one norm reaches 1. It tends to 0 with depth: no uniform
/// bound.
double residual_min_singular_value(std::span<const double> branch_norms);

/// κ(I + J) <= (1 + ρ)/(1 − ρ) for ‖J‖₂ <= ρ < 1, [B] Theorem 2; infinity for ρ >= 1, where there is no
/// bound.
double residual_condition_number(double branch_norm);
/// The product over a stack, [B] Corollary of Theorem 2.
double residual_condition_number(std::span<const double> branch_norms);

/// Π (1 + ρ_ℓ) >= ‖Π (I + J_ℓ)‖₂: an exact bound on the growth of forward errors for any ρ. Erratum: [B] uses
/// it as a relaxation of the condition number, which it underestimates.
double residual_amplification(std::span<const double> branch_norms);

}  // namespace normscope
