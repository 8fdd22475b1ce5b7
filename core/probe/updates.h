// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// The optimizer's update of each group of tensors, made at the sample's step (train/update_norms.h defines
/// all three and names the groups, in the order of the label `groups`), each [groups]:
///   update_ratio  ‖Δθ‖₂/‖θ‖₂, θ the weights before it
///   under_eps     share of the entries with √v̂ < ε, where Adam divides by ε
///   bf16_unmoved  share of the entries that would not move if BF16 were their only copy
/// NaN where the update was skipped (overflow in FP16, a run that diverges),
/// where θ is zero, or without an optimizer. The label `update` describes the update if it is not the run's
/// own.
template <class T>
ProbeResult probe_updates(ProbeInput<T>& input);

/// The result's arrays and labels for a given update.
ProbeResult updates_result(const UpdateNorms& update);
/// The inverse, of a result of this version.
UpdateNorms update_of_result(const ProbeResult& result);

ProbeInfo updates_probe();

}  // namespace normscope
