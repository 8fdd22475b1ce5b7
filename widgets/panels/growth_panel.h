// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

namespace normscope::widgets {

/// Growth of the hidden state with depth, with the Peri-LN bound where one applies.
/// Options: quantity rms | ma | var | block_rms; normalise off | x0 (÷ the embedding's value); bound on |
/// off; x depth | step.
PanelInfo growthPanel();
Figure buildGrowth(const PanelInput& input);

}  // namespace normscope::widgets
