// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/figure_layout.h"

#include <QChart>
#include <QValueAxis>

namespace normscope::widgets {

/// The frame of one plot, drawn by Qt Charts: axis lines and grid. A log axis is a value axis that holds
/// log10 of the data. Labels, sub-ticks and curves are drawn above it: Qt's category axis, which supports
/// named ticks, loses labels and grid in a fixed plot area and costs 0.7 ms per plot, and a line series 0.9
/// µs per point. Every setter of Qt Charts lays the chart out again, so only what changed is set.
class ChartFrame {
  public:
    /// The chart belongs to `scene`, which deletes it.
    explicit ChartFrame(QGraphicsScene* scene);

    void place(const PlotLayout& plot, const RenderStyle& style);
    void remove();

  private:
    void setStyle(const RenderStyle& style);

    QChart* chart_;
    QValueAxis* x_;
    QValueAxis* y_;
};

}  // namespace normscope::widgets
