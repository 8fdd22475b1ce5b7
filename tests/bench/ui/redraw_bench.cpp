// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/ui/redraw_bench.h"

#include "tests/bench/ui/measured_application.h"
#include "widgets/plots/plot_view.h"

#include <QEventLoop>
#include <cmath>

namespace normscope::app::bench {

namespace {

/// Rough curves: noise over a slope, so that no decimation finds a straight line.
std::shared_ptr<const widgets::Figure> figureOf(int curves, int points, int time) {
    auto figure = std::make_shared<widgets::Figure>();
    figure->title = QStringLiteral("redraw");
    widgets::Plot plot;
    plot.x.label = QStringLiteral("step");
    plot.y.label = QStringLiteral("loss");
    unsigned state = 12345u + static_cast<unsigned>(time);
    for (int c = 0; c < curves; ++c) {
        widgets::Curve curve;
        curve.name = QString::number(c + 1);
        curve.role = {widgets::Role::Kind::Run, c, 0};
        curve.label_at_end = false;
        for (int i = 0; i < points; ++i) {
            state = state * 1664525u + 1013904223u;
            curve.x.push_back(i);
            curve.y.push_back(4 + 0.05 * c - 2.0 * i / points + 0.3 * (state >> 8) / double(1u << 24));
        }
        plot.curves.push_back(std::move(curve));
    }
    figure->plots.push_back(std::move(plot));
    return figure;
}

}  // namespace

std::vector<double> redrawTimes(int curves, int points, int times) {
    widgets::PlotView view;
    view.resize(580, 360);
    view.setTitleShown(false);
    view.setFigure(figureOf(curves, points, -1));
    view.show();
    QEventLoop loop;
    for (int i = 0; i < 20; ++i) loop.processEvents(QEventLoop::AllEvents, 20);
    std::vector<double> all;
    for (int i = 0; i < times; ++i) {
        const auto figure = figureOf(curves, points, i);
        const Time begin = Clock::now();
        view.setFigure(figure);
        view.viewport()->repaint();
        all.push_back(milliseconds(Clock::now() - begin));
        loop.processEvents();
    }
    return all;
}

}  // namespace normscope::app::bench
