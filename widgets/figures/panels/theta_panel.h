// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// Softmax sensitivity θ per layer and head, relative to the uniform row of the same length unless stated
/// otherwise. Options: quantity relative_mean | relative_low (5 % quantile) | relative_max |
/// relative_below_099 | over_tau | mean | max | below_099; x map (layer × head, a map per run) | step (mean
/// over a layer's heads) | row: the row of the selected layer and head with the lowest relative θ, stems on
/// the keys in S*; without a selection the lowest head's.
PanelInfo thetaPanel();
Figure buildTheta(const PanelInput& input);

}  // namespace normscope::widgets
