// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/figure_layout.h"

namespace normscope::widgets {

/// The font of a text shape.
const QFont& fontOf(TextShape::Font font, const RenderStyle& style);

/// Width and height of a text in one of the style's fonts.
QSizeF textSize(const QString& text, TextShape::Font font, const RenderStyle& style);

/// How much room the names at the lines' ends need at the right; 0 where no curve has one.
double endLabelWidth(const Plot& plot, const RenderStyle& style);

/// Adds names at the lines' ends, names of reference lines and plateaus, end mark labels, chips and frame
/// marks. Needs area, maps; `right` is where the room for end labels ends, `lane` the lane under the plot
/// (null = none).
void addLabels(const Plot& plot, const RenderStyle& style, double right, const QRectF& lane,
               PlotLayout& layout);

}  // namespace normscope::widgets
