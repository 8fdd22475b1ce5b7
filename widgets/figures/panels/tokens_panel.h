// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// Similarity of the tokens of a sequence at every hidden state, and outliers of their entries and norms.
/// Options: quantity similarity | effective_rank | outlier | heaviest_norm; x depth | step.
PanelInfo tokensPanel();
Figure buildTokens(const PanelInput& input);

}  // namespace normscope::widgets
