// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/figure_layout.h"

namespace normscope::widgets {

/// Room that the colour bar and its labels need at the right of a map.
double colourBarWidth(const HeatMap& map, const RenderStyle& style);

/// Adds the cells of a map, its row and column names, its colour bar and the frame of the selected cell.
/// Cells keep 6 pixels at least: a finer map is merged by maximum, and a chip says so. Needs area and maps (0
/// … columns, 0 … rows).
void addHeatMap(const HeatMap& map, const RenderStyle& style, PlotLayout& layout);

/// Ticks at the middle of the cells, named by `names` where there are any.
std::vector<Tick> cellTicks(int count, const QStringList& names);

}  // namespace normscope::widgets
