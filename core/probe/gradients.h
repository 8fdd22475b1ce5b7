// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// The gradient at each depth: hidden [2D+1] = ‖∂loss/∂h_k‖_F over the batch, scaled [2D+1] =
/// ‖h_k‖_F·‖∂loss/∂h_k‖_F, which is invariant to the scale of h; both with their jackknife error over the
/// sequences (hidden_error, scaled_error). params [D, 2] = L2 norm over the attention / feed-forward
/// sub-layer's tensors, total [] = over all parameters. loss [] = the mean cross-entropy
/// whose gradient this is, with its jackknife error.
///
/// And what the loss does not see: it is log Z − the target's logit, log Z = log Σ exp(logits), so a shift of
/// all logits of a token by the same number changes no loss and no gradient. log_z [] = mean of log Z over
/// the tokens, log_z_spread [] = its standard deviation over them (n in its divisor), both in nat with their
/// jackknife error; max_logit [] = the largest |logit|. After a soft cap, as the loss reads them, and from
/// the logits in float64. NaN where a logit is not finite.
template <class T>
ProbeResult probe_gradients(ProbeInput<T>& input);

ProbeInfo gradients_probe();

}  // namespace normscope
