// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/figure_layout.h"

#include <optional>
#include <vector>

namespace normscope::widgets {

/// Skips every second, third, … label until all are `gap` pixels apart; the first is always kept.
void thinLabels(std::vector<TickShape>& ticks, double gap, bool vertical);

/// Grid lines at the labelled ticks where these are even in axis coordinates; at the decades of an uneven log
/// axis; none elsewhere.
std::optional<GridSteps> gridOf(const std::vector<TickShape>& ticks, const AxisMap& map);

}  // namespace normscope::widgets
