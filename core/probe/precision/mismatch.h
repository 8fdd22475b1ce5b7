// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_info.h"

namespace normscope {

/// Forward mismatch of low precision ([B]: same weights, same batch): ‖y_low − y_32‖_F / ‖y_32‖_F between a
/// forward pass in an emulated format and one in float32, under both policies (low_precision.h).
///
/// Arrays: FORMAT_hidden [2D+1] of the hidden states and FORMAT_logits [] of the logits (before the
/// cross-entropy, after a soft cap), dimensionless, with FORMAT bf16, fp16 (pure: every result rounded,
/// weights too), bf16_autocast and fp16_autocast. Each has a NAME_error, by the jackknife over the measured
/// sequences: the first two of the batch (label "sampled"). Values are NaN where y_32 is zero or a value is
/// not finite, as after an overflow in FP16; errors also with fewer than two sequences.
///
/// An entry of the recipe may choose formats (ProbeInput::measures): the passes of others are not made, and
/// their values are NaN.
///
/// The weights are those that the model's passes read: of a run in pure BF16 those in BF16.
template <class T>
ProbeResult probe_mismatch(ProbeInput<T>& input);

ProbeInfo mismatch_probe();

}  // namespace normscope
