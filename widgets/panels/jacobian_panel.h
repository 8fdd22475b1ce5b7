// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

namespace normscope::widgets {

/// Singular values of the last token's Jacobian blocks. Options: view fan (min, 5, 50, 95 %, max over the
/// depth, with a "0" lane of exact nulls) | ridges (a histogram per layer, a column per run) | end_to_end
/// (σ_i against i); map layers | sublayers; bound on | off (σ_min ≥ 1 − ‖A‖ where the shortcut is the
/// identity).
PanelInfo jacobianPanel();
Figure buildJacobian(const PanelInput& input);

}  // namespace normscope::widgets
