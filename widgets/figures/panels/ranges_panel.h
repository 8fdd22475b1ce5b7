// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// The largest magnitude at one kind of place along the depth, with the largest and the smallest normal
/// number of a format, and the shares of entries that it cannot hold. Options: place, format, x depth | step.
PanelInfo rangesPanel();
Figure buildRanges(const PanelInput& input);

}  // namespace normscope::widgets
