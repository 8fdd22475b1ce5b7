// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/probe_info.h"

namespace normscope {

/// How far the optimizer's update moves each group of tensors: update_ratio [groups] = ‖Δθ‖₂/‖θ‖₂ of the update made at
/// the sample's step, θ the weights before it (train/update_norms.h names the groups, in the order of the label
/// `groups`). NaN where the update was left out (overflow in FP16, a run that diverges), where θ is zero, or where who
/// measures has no optimizer. The label `update` says which update it is when it is not the run's own.
template <class T>
ProbeResult probe_updates(ProbeInput<T>& input);

/// The result's arrays and labels alone, where the update is known already.
ProbeResult updates_result(const UpdateNorms& update);

ProbeInfo updates_probe();

}  // namespace normscope
