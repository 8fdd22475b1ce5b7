// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/figure_layout.h"

namespace normscope::widgets {

/// Width of the notes of the rows, of the colour bar and its labels at the right of a map.
double widthRightOf(const HeatMap& map, const RenderStyle& style);

/// Adds the cells of a map, its row and column names, its colour bar and the frame of the selected cell.
/// Cells have at least 6 pixels: a finer map is merged by maximum, with a chip. Needs area and maps (0 …
/// columns, 0 … rows).
void addHeatMap(const HeatMap& map, const RenderStyle& style, PlotLayout& layout);

/// The glyph of a run of a map: outcomeGlyph(), and a dot for one that is not trained yet.
Glyph cellGlyph(RunState state);

/// Ticks at the middle of the cells, named by `names` if not empty.
std::vector<Tick> cellTicks(int count, const QStringList& names);

}  // namespace normscope::widgets
