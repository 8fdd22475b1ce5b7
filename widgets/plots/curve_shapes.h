// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/figure_layout.h"

namespace normscope::widgets {

/// Colour, width and dash of a curve by its kind and role.
LineShape curvePen(const Curve& curve, const RenderStyle& style);

/// Adds bands, plateaus, reference lines, stems, curves with their gap marks, end marks with hatching. Needs
/// area and maps.
void addShapes(const Plot& plot, const RenderStyle& style, PlotLayout& layout);

/// The last point of a curve that its axes can show, in pixels; NaN coordinates if there is none.
QPointF lastVisiblePoint(const Curve& curve, const PlotLayout& layout);

/// Where a curve's branch is drawn, in pixels; nullopt without one, and where it is outside the plot.
std::optional<QPointF> branchPoint(const Curve& curve, const PlotLayout& layout);

}  // namespace normscope::widgets
