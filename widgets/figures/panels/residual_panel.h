// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// Size and direction of each branch relative to the stream it is added to, by sub-layer. Options: quantity
/// branch_ratio | branch_cosine; x depth | step.
PanelInfo residualPanel();
Figure buildResidual(const PanelInput& input);

}  // namespace normscope::widgets
