// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// The gates of GPAS ([G] §3.1, Fig. 3), one a layer, from the parameters alone; dimensionless:
///   alpha, act [D]: α and act(α);
///   factor [2D] = 1 − act(α), by which each sub-layer multiplies the signal at its gate's site in the
///   forward pass; 1 in a sub-layer without one (one of the two in a parallel layer that is gated at its
///   input, shortcut or output).
///   With SiLU it reaches 1.278: a gate with α < 0 enlarges, against β < 1 of [G] §3.1.
/// All NaN without GPAS. Label `site`: where the gates are.
template <class T>
ProbeResult probe_gates(ProbeInput<T>& input);

ProbeInfo gates_probe();

}  // namespace normscope
