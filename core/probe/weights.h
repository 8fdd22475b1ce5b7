// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// Norms of the weight matrices, from the parameters alone, in float64; label `matrices` names the M columns
/// (wq, wk, wv, wo and those of the feed-forward map, as the tensors are called):
///   frobenius, spectral [D, M]: ‖W‖_F and ‖W‖₂ (relative error at most 1e-7, matrix_norms.h);
///   stable_rank [D, M] = ‖W‖_F²/‖W‖₂²: 1 for a matrix of rank one, at most its smaller side; NaN for a
///   matrix of zeros;
///   sublayer_norm [D, 2]: L2 norm over all tensors of the attention, of the FFN, with their norms, biases
///   and scale and without the layer's gate: the weight norm of [G] Fig. 6, whose ratio compares two runs.
template <class T>
ProbeResult probe_weights(ProbeInput<T>& input);

ProbeInfo weights_probe();

}  // namespace normscope
