// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"
#include "core/probe/spectra/token_block.h"

#include <cstddef>
#include <span>
#include <vector>

namespace normscope {

/// The kernel of a sub-layer's block at one token that follows from its form, for any weights of its branch.
struct NullStructure {
    int exact = 0;         ///< singular values that are 0
    int epsilon = 0;       ///< directions that would be null at ε = 0
    double predicted = 0;  ///< the singular value of the norm in such a direction; NaN without one
};

/// A post norm with k channels of γ = 0, J = N'·M with M = a·I + Δt·b·f' of full rank:
///   LayerNorm: exact = max(1, k): the direction 1 is lost, and so is every such channel (with k ≥ 1 the
///   covector diag(γ)⁻¹·1 no longer exists); at ε = 0 max(2, k), the difference being ε-directions. RMSNorm:
///   exact = k; at ε = 0 max(1, k).
/// At ε > 0 ẑ is not null: the norm's singular value there is gain·ε/(var + ε)·|⟨ẑ, γ∘g⟩|, g the unit
/// covector, so for γ = 1 NormJacobian's gain·ε/(var + ε). A token without variance has no ẑ. At ε = 0 both
/// kinds are exact. Without a shortcut (a = 0) a LayerNorm before or after the branch alone leaves 1 exact
/// null. Elsewhere nothing is predicted: a Pre-LN or Peri-LN block has full rank unless its weights make it
/// otherwise. `row` of the tape, from 0.
NullStructure null_structure(const Transformer<double>& model, const Tape<double>& tape, int sublayer,
                             int row);

/// The resolution of a singular value computed from float64 products of a [d, d] block: 16·d·ε₆₄·σ_max (d
/// = 64: 2.3e-13·σ_max). Products of length d and the decomposition lose some √d·ε₆₄ each; the rest is a
/// margin for cancellation inside the branch.
double block_resolution(int d, double largest);

/// The same for a product of blocks F_D … F_1: 16·d·ε₆₄·Σ_l ‖F_D…F_{l+1}‖_F·‖F_l‖_F·‖F_{l−1}…F_1‖_F, the
/// effect of the factors' round-off on a value (Weyl). Much larger than ε₆₄·σ_max where the factors' gains do
/// not add up.
double product_resolution(const std::vector<BlockMatrix>& factors, int d);

/// Structure and float64 together.
struct NullCount {
    double exact = 0;    ///< by structure; all d where the block is the zero matrix; NaN where not finite
    double epsilon = 0;  ///< ε-directions that float64 resolves
    double below_resolution = 0;  ///< values below the resolution that are not exact nulls: possibly 0
    double predicted = 0;         ///< see NullStructure
    double measured =
        0;  ///< the block's smallest value besides the exact nulls, where there is an ε-direction
};

/// `descending`: the block's d singular values.
NullCount count_nulls(const NullStructure& structure, std::span<const double> descending, double resolution);

}  // namespace normscope
