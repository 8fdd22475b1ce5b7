// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/groups/ribbon.h"
#include "widgets/figures/parts/panel.h"
#include "widgets/figures/runs/run_group.h"

namespace normscope::widgets {

/// ‖∂L/∂h‖ of the groups of runs, in their order, of the samples that the panel of gradients shows: of
/// several runs the median over those that were measured at the step that most samples have, else at the
/// group's newest. Without a sample the ribbon has no values.
std::vector<Ribbon> gradientRibbons(const PanelInput& input, const RunGroups& groups);

}  // namespace normscope::widgets
