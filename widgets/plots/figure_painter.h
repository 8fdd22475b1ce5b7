// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/figure_layout.h"

#include <QPainter>

namespace normscope::widgets {

/// Draws all of a layout except the frames (axis lines, grid), which Qt Charts draws below it.
void paintFigure(QPainter& painter, const FigureLayout& layout, const RenderStyle& style);

}  // namespace normscope::widgets
