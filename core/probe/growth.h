// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/probe_input.h"
#include "core/probe/probe_result.h"

namespace normscope {

/// Growth of the hidden states over depth ([K] §3, [E] Def. 3.1), over all tokens of the probe batch: ma = mean |x|,
/// var = variance over all entries (divided by count − 1), rms = ‖X‖_F/√(count), block_rms = max_i ‖x_i‖₂/√d; each
/// [2D+1]. bound_ma and bound_var [2D+1] come from R_k ([K] Theorem 4, theory/growth_bounds.h) and hold for any weights
/// as long as every branch so far ends in an output norm; NaN elsewhere.
template <class T>
ProbeResult probe_growth(ProbeInput<T>& input);

}  // namespace normscope
