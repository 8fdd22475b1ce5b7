// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

namespace normscope::widgets {

/// What each branch adds to the stream that it joins: size and direction, by sub-layer.
/// Options: quantity branch_ratio | branch_cosine; x depth | step.
PanelInfo residualPanel();
Figure buildResidual(const PanelInput& input);

}  // namespace normscope::widgets
