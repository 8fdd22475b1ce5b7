// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// How large and how small the values of a pass over the probe batch are, and which of them a short format
/// cannot hold (theory/number_format.h), per place [places]; label `places` names them in the order of
/// computation:
///
///   blocks.L.attn.qkv, .scores, .probabilities, .mixed, .branch    queries, keys and values as the scores
///   read them; q·k
///       before 1/(τ√d_h), without masked scores; probabilities without masked ones; heads' outputs before
///       W_O; Δt·b·λ∘y
///   blocks.L.ffn.pre, .hidden, .branch    before and after the activation (SwiGLU: gate and up; their
///   product); Δt·b·λ∘y hidden.K, logits, grad.hidden.K       K = 0 … 2D; ∂loss/∂h_K of the mean loss,
///   without a loss scale
///
///   amax, amin          the largest magnitude, and the smallest that is not 0 (NaN where all are 0)
///   over_FORMAT         share of entries above the format's largest finite number
///   under_FORMAT        share of entries that are not 0 and below its smallest normal number
///   lost_FORMAT         share of entries that are not 0 and become 0: at most half its smallest subnormal
///
/// with FORMAT fp16, bf16, e4m3, e5m2, each without a scale. All are NaN where an entry is NaN.
template <class T>
ProbeResult probe_ranges(ProbeInput<T>& input);

ProbeInfo ranges_probe();

}  // namespace normscope
