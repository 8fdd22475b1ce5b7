// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// Growth of the hidden state with depth, with a bound where branches begin or end with a norm, the variance
/// estimate of GPAS and, per run, the class of growth. Options: quantity rms | ma | var | block_rms;
/// normalise off | on (÷ the embedding's value); bound sharp | uniform (the paper's looser forms) | off;
/// estimate on | off (with quantity var); growth_class on | off; x depth | step.
PanelInfo growthPanel();
Figure buildGrowth(const PanelInput& input);

}  // namespace normscope::widgets
