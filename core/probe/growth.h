// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/probe_input.h"
#include "core/probe/probe_result.h"

namespace normscope {

/// Growth of the hidden states over depth ([K] §3, [E] Def. 3.1), over all tokens of the probe batch; every array is
/// [2D+1] and dimensionless, NaN where a hidden state is not finite:
///
///   ma, var, rms     mean |x|; variance over all entries (divided by count − 1); ‖X‖_F/√count; each with its jackknife
///                    error over the sequences (ma_error, var_error, rms_error)
///   block_rms        max_i ‖x_i‖₂/√d, a maximum: no error
///   bound_ma, bound_var    from R_k ([K] Theorem 4 with the gates of GPAS, theory/growth_bounds.h): hold for any
///                    weights while every branch so far ends in an output norm and no sum is normed again, else NaN
///   bound_uniform_ma the paper's looser form ([K] eq. 11–12), one γ_max, β_max, Δt|b| for that whole prefix; NaN
///                    throughout where a shortcut is scaled or gated or an output gated: the form is then false
///   gpas_estimate    of the variance: [G] eq. 16 (gpas_variance_step) from the embedding's variance on, in which a
///                    branch adds σ to the stream's σ² whatever the weights: an estimate, no bound. From the first
///                    sub-layer on that the recursion does not describe (a gate elsewhere than at the output, a post norm, Δt·b or
///                    a ≠ 1) it is NaN, and throughout without GPAS
template <class T>
ProbeResult probe_growth(ProbeInput<T>& input);

}  // namespace normscope
