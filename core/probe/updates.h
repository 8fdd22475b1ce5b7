// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// The size of the optimizer's update of each group of tensors: update_ratio [groups] = ‖Δθ‖₂/‖θ‖₂ of the
/// update made at the sample's step, θ the weights before it (train/update_norms.h names the groups, in the
/// order of the label `groups`). NaN where the update was skipped (overflow in FP16, a run that diverges),
/// where θ is zero, or without an optimizer. The label `update` describes the update if it is not the run's
/// own.
template <class T>
ProbeResult probe_updates(ProbeInput<T>& input);

/// The result's arrays and labels for a given update.
ProbeResult updates_result(const UpdateNorms& update);

ProbeInfo updates_probe();

}  // namespace normscope
