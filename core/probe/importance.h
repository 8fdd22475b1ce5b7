// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// The importance of layers by removal ([G] Fig. 7), in nat: the change of the mean loss over the probe batch
/// when branches are set to zero, y = 0 in the one form (core/stack/scheme.h), evaluated exactly; shortcut,
/// post norm and gates remain:
///   sublayer [2D]: one branch; layer [D]: both branches of a layer; each with its jackknife error over the
///   sequences, of the paired difference. Positive: the loss rises.
///   loss []: the mean loss with all branches.
/// In the run's own precision. The wall time is that of 3D forward passes. All NaN for a batch without
/// targets.
template <class T>
ProbeResult probe_importance(ProbeInput<T>& input);

ProbeInfo importance_probe();

}  // namespace normscope
