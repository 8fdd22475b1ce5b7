// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/figure_layout.h"

namespace normscope::widgets {

/// Width of the notes of the rows, of the colour bar and its labels at the right of a map.
double widthRightOf(const HeatMap& map, const RenderStyle& style);

/// Adds the cells of a map, its row and column names, its colour bar and the frame of the selected cell.
/// Cells have at least 6 pixels: a finer map is merged by maximum, with a chip. Needs area and maps (0 …
/// columns, 0 … rows). In a grid of maps with one scale, only one has the bar, and mergedText() is stated
/// once.
void addHeatMap(const HeatMap& map, const RenderStyle& style, PlotLayout& layout);
void addHeatMapInGrid(const HeatMap& map, const RenderStyle& style, bool bar, PlotLayout& layout);

/// "largest of 2 × 2 cells"; empty for one cell.
QString mergedText(int merged);

/// The glyph of a run of a map: outcomeGlyph(), and a dot for one that is not trained yet.
Glyph cellGlyph(RunState state);

/// Ticks at the middle of the cells, named by `names` if not empty.
std::vector<Tick> cellTicks(int count, const QStringList& names);

}  // namespace normscope::widgets
