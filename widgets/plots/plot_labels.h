// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/figure_layout.h"

namespace normscope::widgets {

/// The font of a text shape.
const QFont& fontOf(TextShape::Font font, const RenderStyle& style);

/// Width and height of a text in one of the style's fonts.
QSizeF textSize(const QString& text, TextShape::Font font, const RenderStyle& style);

/// Width of the names of curves, reference lines and plateaus at the right; 0 if there are none.
double endLabelWidth(const Plot& plot, const RenderStyle& style);

/// Texts that have no free place in a plot: placed in rows under the figure. `notes` have their rows already.
struct OutsideTexts {
    std::vector<Note> notes, fresh;
    bool names_do_not_fit = false;  ///< of curves, at their ends

    void take(const Note& note);
};

/// Free space around a plot area for labels.
/// Rows of the lane under a plot: one for each run that has marks in it; at least one.
int laneRows(const Plot& plot);

struct LabelSpace {
    double right = 0;                       ///< right end of the space for curve names
    QRectF lane;                            ///< lane under the plot area; null = none
    bool lane_named = true;                 ///< its name at its left, where no other plot lies
    QRectF above, below_left, below_right;  ///< for chips, next to the axis labels; null = none
    OutsideTexts* outside = nullptr;        ///< for what would cover a curve; null = it covers it
    bool names = true;                      ///< of curves and lines, at the right
};

/// Adds names at the right ends of curves, reference lines and plateaus, end mark labels, chips and frame
/// marks. Chips are placed outside the plot area while they fit. Needs area and axis maps.
void addLabels(const Plot& plot, const RenderStyle& style, const LabelSpace& space, PlotLayout& layout);

}  // namespace normscope::widgets
