// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/figure.h"

#include <optional>

namespace normscope::widgets {

/// The strip under a depth plot: each later run's measured curve divided by run 0's at the same x, on a log
/// axis that is symmetric around 1. Only curves of the same step (Curve::step) are divided by one another.
/// NaN where either is missing, non-finite or not positive. Nullopt where no x is shared.
std::optional<Plot> ratioStrip(const Plot& plot);

/// Sets the axis of such a strip to [1/span, span], with a margin, and its ticks; a span below 2 is 2.
void setRatioSpan(Plot& strip, double span);
double ratioSpan(const Plot& strip);

/// Adds a curve of theory to a plot of measured ones. Points more than ten times outside the measured values
/// are cut, and a chip names the farthest ("bound 3e9 ↑"), so that a loose bound does not set the range.
/// Points that are not positive or not finite are gaps. `word` names the curve in the chip.
void addBound(Plot& plot, Curve bound, const QString& word = "bound");

}  // namespace normscope::widgets
