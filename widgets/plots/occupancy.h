// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/figure_layout.h"

#include <cstdint>
#include <vector>

namespace normscope::widgets {

/// Which parts of a plot's area its curves and dots cover, on a grid of small squares: built once in time
/// proportional to the length of the curves, then asked for many places of a text.
class Occupancy {
  public:
    /// `cell`: side of a square, in the layout's unit.
    Occupancy(const PlotLayout& layout, double cell);

    /// Squares under this rectangle that a curve or a dot touches; those outside the area are free.
    int covered(const QRectF& rect) const;

  private:
    void mark(const QPointF& at);

    QRectF area_;
    double cell_;
    int columns_, rows_;
    std::vector<std::uint8_t> touched_;  ///< rows × columns
};

}  // namespace normscope::widgets
