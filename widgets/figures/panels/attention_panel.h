// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// How concentrated attention is: entropy ÷ ln of the row's length, largest logit, or mass on the first
/// token, as a map layer × head per run, or over the steps (mean over a layer's heads). Options: quantity
/// entropy | max_logit | sink_mass; x map | step.
PanelInfo attentionPanel();
Figure buildAttention(const PanelInput& input);

}  // namespace normscope::widgets
