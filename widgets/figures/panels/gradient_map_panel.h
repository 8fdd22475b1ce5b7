// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// Gradient norms of the held-out batch over layer and step: a heat map per run side by side, on one colour
/// scale (log₁₀) and one time scale, log₂(1 + step): what ends a run happens in its first steps. A column
/// shows the sample of its steps, or the one before where it has none; of several the one with the largest
/// value. A click on a cell shows its step in every panel. Option: quantity hidden | scaled | params.
PanelInfo gradientMapPanel();
Figure buildGradientMap(const PanelInput& input);

}  // namespace normscope::widgets
