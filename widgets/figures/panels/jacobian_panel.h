// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// Singular values of the Jacobians. Options: view fan (min, 5, 50, 95 %, max over the depth, with a "0" lane
/// of the counts: exact nulls, ε, ?) | ridges (a histogram per layer, a column per run) | end_to_end (σ_i
/// against i); map layers | sublayers; block last (the last token's) | positions (σ₁ at each measured token)
/// | mean (sub-layers) | full (σ₁ and σ_min of the full map, with error bands); bound on | off (σ_min ≥ 1 −
/// ‖A‖ where the shortcut is the identity, of the last token's block). Where a block has no such view the
/// nearest one is drawn; axis title and subtitle name it.
PanelInfo jacobianPanel();
Figure buildJacobian(const PanelInput& input);

}  // namespace normscope::widgets
