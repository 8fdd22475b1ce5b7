// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"

namespace normscope {

/// A bound of the norm of a token of a sub-layer's branch with normed input, from the current parameters:
///
///     U = |s|·(√d·‖γ_in‖∞ + ‖β_in‖₂)                       a normed token; s: the factors after the norm
///     attention     B = Σ_h ‖W^O_h W^V_h‖₂·U + ‖W^O b^V + b^O‖₂     rows of A are convex combinations
///     feed-forward  B = ‖W₂‖₂·(‖W₁‖₂·U + ‖b₁‖₂) + ‖b₂‖₂             |act(z)| <= |z| for ReLU, GELU, SiLU
///     SwiGLU        B = ‖W_down‖₂·min(‖g‖₂·‖u‖∞, ‖g‖∞·‖u‖₂) + ‖b_down‖₂ of gate g and up u, each by
///                   ‖g‖₂ <= ‖W_g‖₂·U + ‖b_g‖₂ and ‖g‖∞ <= max_i(‖row i of W_g‖₂·U + |b_g,i|)
///
/// Spectral norms from above (spectral_bound.h), with heads that share a value head counted separately.
/// Queries, keys, their norms, positions and the temperature do not enter. All in float64, dimensionless.
struct BranchBound {
    double gamma = 0;      ///< ‖γ_in‖∞
    double token = 0;      ///< B; NaN or infinite where a parameter is, or a product overflows
    double gain = 0;       ///< ‖f(u)‖₂ <= gain·‖u‖₂ for ‖u‖₂ <= U, where unbiased
    bool unbiased = true;  ///< β_in and all biases that enter B are zero
};

/// The sub-layer must have an input norm. `factor` is s: LNS' 1/√ℓ times the factor of a gate after the norm.
template <class T>
BranchBound branch_bound(const Transformer<T>& model, std::size_t sublayer, double factor);

/// ‖v‖∞ of [count] parameters at `offset`: 0 for an absent tensor, NaN where an entry is.
template <class T>
double largest_magnitude(const Transformer<T>& model, std::size_t offset, std::size_t count);

}  // namespace normscope
