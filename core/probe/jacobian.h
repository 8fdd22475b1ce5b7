// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// Jacobians of the sub-layers, the layers and the stack (final norm and head not included), back-propagated
/// sense
/// ([N] §3–6), all numbers dimensionless. Evaluated in float64 with the run's own (rounded) weights, for any
/// precision of the run, so that a null is not a rounding error; D layers, width d, n tokens.
///
/// The block of one token, ∂(token out)/∂(token in): the theorems are about maps R^d → R^d. Exact for the
/// feed-forward sub-layer, the diagonal block for attention. Singular values descending, of the last token of
/// sequence 0:
///   sublayer_sv [2D, d], layer_sv [D, d], end_to_end_sv [d];
///   branch_norm [2D] = ‖J − a·I‖₂ where there is no post norm, else NaN: σ_min ≥ 1 − ‖A‖ for a = 1 ([N]
///   Thm 4.6); exact_nulls, epsilon_directions, below_resolution [2D]: counted from structure and float64
///   (spectra/null_count.h), layer_exact_nulls, layer_below_resolution [D], end_to_end_exact_nulls,
///   end_to_end_below_resolution []. What is below the resolution is 0 or not: it is never counted as a null.
///   Of a product the exact nulls are the most that one factor forces; epsilon_sigma, epsilon_predicted [2D]:
///   the ε-direction's singular value in the block, and that of the norm alone, NaN where there is none.
/// cumulative_median [D] = the median singular value of the product of the blocks of the layers 1 … l, and
/// cumulative_slope [] = the least-squares slope of its logarithm over l = 0 … D, in nat a layer: how fast
/// half of the directions grow or decay with depth. NaN in a stack that is not causal, and the slope where
/// float64 cannot tell a median from 0. Of other tokens and sequences: position_sv [2D, P, d],
/// position_end_to_end_sv [P, d] (sequence 0, the tokens that label `positions` numbers from 1); mean_sv [2D,
/// d] with mean_sv_error, means of the i-th value over the blocks that label `mean` names (those tokens, and
/// last tokens of other sequences), error by the jackknife over them, and end_to_end_top [S], the largest
/// end-to-end value of each of the first S sequences (in the run's scalar type, without rounding).
///
/// The full map, all tokens to all tokens of sequence 0, or of its first tokens (label `full_map`): full_top,
/// full_bottom [2D], full_end_to_end [2] (largest, smallest), with …_error: |true − value| ≤ error
/// (spectra/full_map.h).
///
/// spectra/jacobian_plan.h determines from the shape how much of this is measured; the rest is NaN, and the
/// label `measured` lists it. There, in a wide stack, a layer starts from the hidden state that the run
/// itself computed.
template <class T>
ProbeResult probe_jacobian(ProbeInput<T>& input);

ProbeInfo jacobian_probe();

}  // namespace normscope
