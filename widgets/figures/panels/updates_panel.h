// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// How far a step moves each group of tensors: the embedding and the sub-layers along the depth, head, norms
/// and scales after them. Options: x depth | step.
PanelInfo updatesPanel();
Figure buildUpdates(const PanelInput& input);

}  // namespace normscope::widgets
