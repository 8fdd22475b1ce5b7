// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// How far the forward pass in a low precision is from the one in FP32, same weights and batch, along the
/// depth, with its error over the measured sequences. Options: format bf16 | fp16; policy pure | autocast
/// (what is rounded); x depth | step.
PanelInfo mismatchPanel();
Figure buildMismatch(const PanelInput& input);

}  // namespace normscope::widgets
