// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// The predictors of the low-precision error ([B]) along the depth, without the unit round-off u, and what u
/// times their sum is next to the error that was measured at the same step, if it was. Options: predictor v2
/// | v1, format bf16 | fp16, x depth | step.
PanelInfo fragilityPanel();
Figure buildFragility(const PanelInput& input);

}  // namespace normscope::widgets
