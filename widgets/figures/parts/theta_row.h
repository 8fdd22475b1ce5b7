// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// Draws the attention row with the lowest relative θ of the selected layer and head (of the lowest head
/// where none is selected), a plot per run: stems on the keys in S*, pale dots on the others. Chips name θ, θ
/// of the uniform row, the prefix heuristic's value and the peaked-row bound. Fills subtitle, summary and the
/// texts for missing samples.
void drawThetaRow(Figure& figure, const PanelInput& input);

}  // namespace normscope::widgets
