// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// Spectra of the back-propagated Jacobians over the whole of sequence 0, maps [n·d, n·d] (final norm and
/// head not included), from JVPs and VJPs alone where they are large; k = min(16, n·d). Unlike jacobian (the
/// last token's block) they show how attention passes signals between tokens. sublayer_top [2D, k], layer_top
/// [D, k], end_to_end_top [k]: largest singular values, descending. end_to_end_bottom [k]: smallest,
/// ascending; Ritz values are upper bounds of them, so where n·d is above 1024 their error reaches down to 0.
/// …_error of the same shape each: the true value lies within value ± error (backend/cpu/block_lanczos.h).
/// stable_rank [D] = ‖J_l‖_F²/‖J_l‖₂² with stable_rank_error (0 where exact, else one standard error),
/// alignment [D−1], product_gain [], lyapunov [k] with lyapunov_error: see depth_measures.h; alignment is
/// omitted in a stack of one layer. Memory: at most 256 MB for a search, one search at a time, in addition to
/// the passes' buffers (jacobian_map.h).
template <class T>
ProbeResult probe_spectra(ProbeInput<T>& input);

ProbeInfo spectra_probe();

}  // namespace normscope
