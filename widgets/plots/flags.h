// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/figure_layout.h"
#include "widgets/plots/plot_labels.h"

namespace normscope::widgets {

/// Height of the lane above a plot for the texts of its flags; 0 without flags.
double flagLaneHeight(const Plot& plot, const RenderStyle& style);

/// Adds poles, pennants and texts of a plot's flags. A text is placed right of its pole, the last one where
/// need be left of it; one that would reach the next pole is merged with the next flag's: changes of one knob
/// that follow each other become one ("Δt 1→0.5" and "Δt 0.5→0.2" are "Δt 1→0.2"), others are counted
/// ("Δt 1→0.2 +1"). Texts stay in the lane and do not overlap; without a lane (height 0: small multiples)
/// there are none. A text that does not fit at all goes into `outside` (may be null). Needs area and axis
/// maps.
void addFlags(const Plot& plot, const RenderStyle& style, const QRectF& lane, OutsideTexts* outside,
              PlotLayout& layout);

/// The text of flags [first, first + count) of a plot as one.
QString mergedFlagText(const Plot& plot, std::size_t first, std::size_t count);

}  // namespace normscope::widgets
