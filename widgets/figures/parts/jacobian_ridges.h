// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// The filled view of the Jacobian panel: a row per layer (or sub-layer), a plot per run, one shared σ axis.
/// Each ridge is a histogram of log₁₀ σ, the highest bin of all as high as a row. A chip counts the exact
/// nulls. `array`: layer_sv, sublayer_sv or mean_sv.
void drawRidges(Figure& figure, const PanelInput& input, const std::string& array);

}  // namespace normscope::widgets
