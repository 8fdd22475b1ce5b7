// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

namespace normscope::widgets {

/// Every norm site: its gain 1/σ_ε as lollipops, and below the share of energy that its null space erases,
/// against the share that a random gradient would lose. Options: erased backward | forward.
PanelInfo nullSpacePanel();
Figure buildNullSpace(const PanelInput& input);

}  // namespace normscope::widgets
