// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// The size of the maps of paths: so many tokens as make n·d at most this.
inline constexpr int kPathsSize = 1024;

/// The paths through a residual stack ([E] Theorem 5.4): with the Jacobian of layer k written as I + J_k,
/// that of the layers 1 … m is I + Σ J_k + R. Spectral norms over m = 1 … D, [D] each, dimensionless:
///   whole = ‖Π(I + J_k)‖₂; first_order = ‖Σ J_k‖₂; remainder = ‖R‖₂, R = Π(I + J_k) − I − Σ J_k. The
///   remainder is small only where first_order is: R has all products of two J_k and more.
/// Dense matrices in float64 with the run's own weights, back-propagated sense, over the first tokens of
/// sequence 0 (label `tokens`); without final norm and head. Relative error at most 1e-7 (matrix_norms.h).
/// All NaN in a stack wider than kPathsSize, or where an entry is not finite.
template <class T>
ProbeResult probe_paths(ProbeInput<T>& input);

ProbeInfo paths_probe();

}  // namespace normscope
