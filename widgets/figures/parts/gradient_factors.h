// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// The factors of the gradient's change, from the samples of the residual probe: a plot per run, side by side
/// on one range, with the products from sub-layer 1 to x of the factors of the norms, of the shortcuts (where
/// one is not 1) and of the branches, and of all three: ‖∂L/∂h_0‖ ÷ ‖∂L/∂h_x‖. On the log axis the three
/// curves add up to the last. Each curve is named with its last value. Fills subtitle, summary and
/// empty_text.
void drawGradientFactors(Figure& figure, const PanelInput& input);

}  // namespace normscope::widgets
