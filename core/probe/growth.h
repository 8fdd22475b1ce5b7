// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// Growth of the hidden states over depth ([K] §3, [E] Def. 3.1), over all tokens of the probe batch; every
/// array is [2D+1] and dimensionless, NaN where a hidden state is not finite:
///
///   ma, var, rms     mean |x|; variance over all entries (divided by count − 1); ‖X‖_F/√count; each with its
///                    jackknife error over the sequences (ma_error, var_error, rms_error)
///   block_rms        max_i ‖x_i‖₂/√d, a maximum: no error
///   bound_ma, bound_var    from R_k (bounded_branch_norms, theory/growth_bounds.h; gates of GPAS included)
///                          while every
///                    branch so far ends in an output norm ([K] Theorem 4: for any weights) or begins with an
///                    input norm (ours: from the current weights, branch_bound.h) and no sum is normed again,
///                    else NaN. Up to the rounding of the passes. Spectral norms enter from above, per matrix
///                    at most √⌈d/64⌉·1.14 times too large (a head's: ⌈d_head/64⌉·1.14 times)
///   bound_uniform_ma the paper's looser form for output norms ([K] eq. 11–12), one γ_max, β_max, Δt|b| for
///   that whole
///                    prefix; NaN throughout where a shortcut is scaled or gated or an output gated: the form
///                    is then false
///   bound_product_ma the paper's form for input norms ([K] Theorem 3, pre_norm_bounds; √d restored,
///   LayerNorm and the
///                    feed-forward map ours), from the first sub-layer on while branches are without bias,
///                    β_in = 0 and layers serial, else NaN. Reads the shortest token of each norm's input
///   gpas_estimate    of the variance: [G] eq. 16 (gpas_variance_step) from the embedding's variance on, in
///                    which a branch adds σ to the stream's σ² for any weights: an estimate, not a bound.
///                    From the first sub-layer on that the recursion does not describe (a gate elsewhere than
///                    at the output, a post norm, Δt·b or a ≠ 1) it is NaN, and throughout without GPAS
template <class T>
ProbeResult probe_growth(ProbeInput<T>& input);

ProbeInfo growth_probe();

}  // namespace normscope
