// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/plot_labels.h"

namespace normscope::widgets {

// Texts in the plot area, placed where they cover no curve, or least. All need area, axis maps and curves,
// and the texts that are there already.

/// "+ 3 more", in the place of what does not fit.
QString moreText(int count);

/// Of a line whose name is placed at it: paper has the names of all lines in one column.
bool isNamedInside(const ReferenceLine& line, const RenderStyle& style);

/// How a run ended: next to its last point, at the height where the label covers least.
void addEndMarkLabels(const Plot& plot, const RenderStyle& style, const LabelSpace& space,
                      PlotLayout& layout);

/// Names of vertical lines: at the line, as far up as nothing is covered.
void addVerticalNames(const Plot& plot, const RenderStyle& style, const LabelSpace& space,
                      PlotLayout& layout);

/// Names of horizontal lines: above or below the line, at the first place from the right end on that covers
/// nothing; where there is none, a little farther from the line; else where least is covered.
void addInsideNames(const Plot& plot, const RenderStyle& style, PlotLayout& layout);

/// Chips in the rows above and below the plot while they fit, else in its corners; those of its middle there,
/// where they cover nothing.
void addChips(const Plot& plot, const RenderStyle& style, const LabelSpace& space, PlotLayout& layout);

}  // namespace normscope::widgets
