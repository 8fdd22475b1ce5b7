// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// How the gradient of each token is carried from the last hidden state to hidden state k: a norm over the
/// batch (probe gradients) is that of its largest tokens, of which one in sixty-four may carry nine tenths.
///
/// With g = ∂loss/∂h_k of one token: median_token, lower_quartile, upper_quartile [2D+1] = over the tokens of
/// the batch, of ‖g_k‖/‖g_{2D}‖. Tokens that have no gradient at the last hidden state (no target) are left
/// out; NaN where none is left.
/// first_token_share [2D+1] = Σ_b ‖g_k of token 1‖² ÷ Σ over all tokens; participation [2D+1] = mean over the
/// sequences of (Σσ²)²/Σσ⁴, σ the singular values of the tokens' gradients [n, d]: 1 if they all have one
/// direction, min(n, d) if every direction has the same part. Both with their jackknife error over the
/// sequences (…_error), NaN where the gradient is 0. All dimensionless.
template <class T>
ProbeResult probe_transport(ProbeInput<T>& input);

ProbeInfo transport_probe();

}  // namespace normscope
