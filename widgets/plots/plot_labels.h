// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/figure_layout.h"

namespace normscope::widgets {

/// The font of a text shape.
const QFont& fontOf(TextShape::Font font, const RenderStyle& style);

/// Width and height of a text in one of the style's fonts.
QSizeF textSize(const QString& text, TextShape::Font font, const RenderStyle& style);

/// How much room the names of curves, reference lines and plateaus need at the right; 0 where there are none.
double endLabelWidth(const Plot& plot, const RenderStyle& style);

/// Free room around a plot area that labels may use.
struct LabelRoom {
    double right = 0;                       ///< where the room for names at the lines' ends ends
    QRectF lane;                            ///< lane under the plot area; null = none
    QRectF above, below_left, below_right;  ///< for chips, beside the axis labels; null = none
};

/// Adds names at the right ends of curves, reference lines and plateaus, end mark labels, chips and frame
/// marks. Chips stand outside the plot area, over no data, while there is room. Needs area and axis maps.
void addLabels(const Plot& plot, const RenderStyle& style, const LabelRoom& room, PlotLayout& layout);

}  // namespace normscope::widgets
