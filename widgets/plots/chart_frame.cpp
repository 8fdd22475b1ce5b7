// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/chart_frame.h"

#include <QGraphicsLayout>
#include <QGraphicsScene>
#include <QLegend>
#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

// Of every chart, whatever the size of the figure: another geometry lays the axes out a second time.
constexpr QRectF kGeometry(0, 0, 16384, 16384);

void placeAxis(QValueAxis& axis, const AxisMap& map, const std::optional<GridSteps>& grid) {
    const double low = toEven(map.scale, map.low), high = toEven(map.scale, map.high);
    if (axis.isGridLineVisible() != grid.has_value()) axis.setGridLineVisible(grid.has_value());
    // Never combine a fine step with a wide range, not even between two calls: Qt would lay out millions of
    // lines.
    const double step = grid ? grid->interval : high - low;
    if (axis.tickInterval() < step) axis.setTickInterval(step);
    if (axis.min() != low || axis.max() != high) axis.setRange(low, high);
    if (axis.tickInterval() != step) axis.setTickInterval(step);
    const double anchor = grid ? grid->anchor : low;
    if (axis.tickAnchor() != anchor) axis.setTickAnchor(anchor);
}

}  // namespace

ChartFrame::ChartFrame(QGraphicsScene* scene)
    : chart_(new QChart), x_(new QValueAxis(chart_)), y_(new QValueAxis(chart_)) {
    chart_->legend()->hide();
    chart_->setBackgroundVisible(false);
    chart_->layout()->setContentsMargins(0, 0, 0, 0);
    chart_->setMargins(QMargins());
    chart_->setAcceptedMouseButtons(Qt::NoButton);
    for (QValueAxis* axis : {x_, y_}) {
        axis->setLabelsVisible(false);
        axis->setTickType(QValueAxis::TicksDynamic);
        axis->setTickInterval(1);
    }
    chart_->setGeometry(kGeometry);
    scene->addItem(chart_);
    chart_->addAxis(x_, Qt::AlignBottom);
    chart_->addAxis(y_, Qt::AlignLeft);
}

void ChartFrame::place(const PlotLayout& plot, const RenderStyle& style) {
    setStyle(style);
    if (chart_->plotArea() != plot.area) {
        chart_->setPlotArea(plot.area);
        chart_->layout()->invalidate();  // Qt moves the series with the area, but not the axes
    }
    placeAxis(*x_, plot.x, plot.x_grid);
    placeAxis(*y_, plot.y, plot.y_grid);
    // Qt Charts would lay out in the next iteration of the event loop, a frame after the curves, and on paper
    // never.
    chart_->layout()->activate();
}

void ChartFrame::setStyle(const RenderStyle& style) {
    const QPen line(style.theme.axis, 0.8 * style.thin), grid(style.theme.grid, 0.8 * style.thin);
    for (QValueAxis* axis : {x_, y_}) {
        if (axis->linePen() != line) axis->setLinePen(line);
        if (axis->gridLinePen() != grid) axis->setGridLinePen(grid);
    }
}

void ChartFrame::remove() {
    delete chart_;
    chart_ = nullptr;
}

}  // namespace normscope::widgets
