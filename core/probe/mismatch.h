// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/probe_input.h"
#include "core/probe/probe_result.h"

namespace normscope {

/// Forward mismatch of low precision ([B]: same weights, same batch): ‖y_low − y_32‖_F / ‖y_32‖_F between a
/// forward pass in emulated BF16 or FP16, weights rounded too, and one in float32. bf16_hidden, fp16_hidden
/// [2D+1] of the hidden states, bf16_logits, fp16_logits [] of the logits. NaN where y_32 is zero or a number
/// is not finite, as after an overflow in FP16. The weights are those that the model's passes see: of a run
/// in BF16 those in BF16.
template <class T>
ProbeResult probe_mismatch(ProbeInput<T>& input);

}  // namespace normscope
