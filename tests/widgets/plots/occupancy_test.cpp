// SPDX-License-Identifier: GPL-3.0-or-later
// Free places for texts: squares that a curve or a dot touches, and the texts that are placed by them.
#include "widgets/plots/occupancy.h"

#include "tests/support/test_main.h"
#include "tests/widgets/plots/sample_figures.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/plots/collisions.h"
#include "widgets/plots/figure_layout.h"

#include <QtTest>

using namespace normscope::widgets;

namespace {

PlotLayout plotWith(std::vector<QPolygonF> pieces, QVector<QPointF> dots = {}) {
    PlotLayout layout;
    layout.area = QRectF(10, 20, 120, 90);
    CurveShape curve;
    curve.pieces = std::move(pieces);
    curve.dots = std::move(dots);
    layout.curves = {curve};
    return layout;
}

RenderStyle screen() {
    return screenStyle(Theme::make(Theme::Kind::Light));
}

const TextShape* textIn(const PlotLayout& layout, const QString& part) {
    for (const TextShape& text : layout.texts)
        if (text.text.contains(part)) return &text;
    return nullptr;
}

/// A curve that runs at the height of a named line at the right, and leaves its left end free.
Figure lossOf(const QString& name) {
    Figure figure;
    Plot plot;
    plot.x.label = QStringLiteral("step");
    plot.y.range = std::pair(0.0, 4.0);
    plot.curves = {samples::curve(name, 0, {0, 30, 40, 100}, {4, 4, 2.1, 2.1})};
    plot.references = {{Qt::Horizontal, 2, QStringLiteral("floor 2"), true}};
    figure.plots = {plot};
    return figure;
}

}  // namespace

class OccupancyTest : public QObject {
    Q_OBJECT
    normscope::test::WarningsFail warnings_;

  private Q_SLOTS:
    void cleanup() { warnings_.check(); }

    void aSegmentTouchesTheSquaresThatItCrosses() {
        const Occupancy curves(plotWith({QPolygonF({{10, 65}, {130, 65}})}), 3);
        QCOMPARE(curves.covered(QRectF(10, 20, 119, 40)), 0);
        QCOMPARE(curves.covered(QRectF(10, 60, 119, 10)), 40);  // 120 / 3: one row of squares
        QCOMPARE(curves.covered(QRectF(40, 60, 2, 10)), 1);
        QCOMPARE(curves.covered(QRectF(10, 70, 119, 30)), 0);
    }

    void aSteepSegmentHasNoHoles() {
        const Occupancy curves(plotWith({QPolygonF({{40, 20}, {43, 110}})}), 3);
        for (int row = 0; row < 30; ++row)
            QVERIFY2(curves.covered(QRectF(37, 20 + 3 * row + 1, 10, 0.5)) > 0,
                     qPrintable(QString::number(row)));
    }

    void dotsAndPiecesOfOnePointCount() {
        const Occupancy curves(plotWith({QPolygonF({{100.5, 30.5}})}, {{50.5, 50.5}}), 3);
        QCOMPARE(curves.covered(QRectF(45, 45, 10, 10)), 1);
        QCOMPARE(curves.covered(QRectF(98, 28, 6, 6)), 1);
        QCOMPARE(curves.covered(QRectF(10, 20, 120, 90)), 2);
    }

    /// Points outside the area (clipping keeps a unit of them) and undefined ones are not counted.
    void outsideIsFree() {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        const Occupancy curves(plotWith({}, {{0, 0}, {500, 50}, {nan, 50}, {50, nan}}), 3);
        QCOMPARE(curves.covered(QRectF(-100, -100, 900, 900)), 0);
    }

    void theNameOfALineLeavesTheCurve() {
        const FigureLayout layout = layoutFigure(lossOf(QStringLiteral("a")), {500, 300}, screen());
        const PlotLayout& plot = layout.plots[0];
        const TextShape* name = textIn(plot, QStringLiteral("floor"));
        QVERIFY(name);
        QVERIFY(plot.area.contains(name->rect));
        QVERIFY(std::abs(name->rect.center().y() - plot.y.toPixel(2)) < 2 * name->rect.height());
        for (const Collision& found : collisionsIn(layout, screen())) QFAIL(qPrintable(found.text));
        // Without the curve the name is at the right end.
        Figure empty = lossOf(QStringLiteral("a"));
        empty.plots[0].curves[0].y = {4, 4, 4, 4};
        const PlotLayout free = layoutFigure(empty, {500, 300}, screen()).plots[0];
        QVERIFY(std::abs(textIn(free, QStringLiteral("floor"))->rect.right() - free.area.right()) < 5);
    }

    /// On paper it is in the column of names, right of the plot.
    void onPaperLinesAreNamedAtTheRight() {
        const PlotLayout plot = layoutFigure(lossOf(QStringLiteral("a")), {2400, 1700},
                                             paperStyle(Theme::make(Theme::Kind::Print)))
                                    .plots[0];
        QVERIFY(textIn(plot, QStringLiteral("floor"))->rect.left() > plot.area.right());
    }

    void aChipInsideThePlotMovesOffTheCurve() {
        Figure figure = lossOf(QStringLiteral("a"));
        figure.plots[0].references.clear();
        figure.plots[0].curves[0].y = {3.9, 3.8, 3.9, 3.8};  // along the upper end
        figure.plots[0].chips = {{Chip::Edge::TopLeft, QStringLiteral("a hint"), {}}};
        const FigureLayout layout = layoutFigure(figure, {500, 300}, screen());
        QVERIFY(textIn(layout.plots[0], QStringLiteral("hint")));
        for (const Collision& found : collisionsIn(layout, screen())) QFAIL(qPrintable(found.text));
    }

    void theLastValueFollowsTheNameAndKeepsThePlotsWidth() {
        Figure figure = lossOf(QStringLiteral("a"));
        double width = 0;
        for (const char* value : {"1.11", "4.84", "8.00", "2.97"}) {
            figure.plots[0].curves[0].end_value = QLatin1String(value);
            const PlotLayout plot = layoutFigure(figure, {500, 300}, screen()).plots[0];
            QVERIFY(textIn(plot, QStringLiteral("a ") + QLatin1String(value)));
            if (width > 0) QCOMPARE(plot.area.width(), width);
            width = plot.area.width();
        }
    }

    void longNamesAreInRowsUnderThePlot() {
        const QString wide = QStringLiteral("Post-LN Δt 0.4082, fork at 183, twice");
        const FigureLayout narrow = layoutFigure(lossOf(QStringLiteral("a")), {500, 300}, screen());
        const FigureLayout layout = layoutFigure(lossOf(wide), {500, 300}, screen());
        QVERIFY(layout.plots[0].area.width() > narrow.plots[0].area.width() - 2);
        const auto row = std::find_if(layout.texts.begin(), layout.texts.end(),
                                      [&](const TextShape& text) { return text.text == wide; });
        QVERIFY(row != layout.texts.end());
        QVERIFY(row->rect.top() > layout.plots[0].area.bottom());
    }

    /// Next to the last tick label where names have a column, else under the ticks.
    void theNameOfXNeedsNoRow() {
        const FigureLayout named = layoutFigure(lossOf(QStringLiteral("a long name")), {500, 300}, screen());
        const TextShape* step = textIn(named.plots[0], QStringLiteral("step"));
        QVERIFY(step && step->rect.left() > named.plots[0].area.right());
        Figure figure = lossOf(QString());
        const FigureLayout bare = layoutFigure(figure, {500, 300}, screen());
        step = textIn(bare.plots[0], QStringLiteral("step"));
        QVERIFY(step && std::abs(step->rect.center().x() - bare.plots[0].area.center().x()) < 1);
        QVERIFY(bare.plots[0].area.height() < named.plots[0].area.height());
    }

    /// A panel's header names the quantity; a figure with its own title has it above the axis.
    void theHeaderNamesTheQuantity() {
        Figure figure = lossOf(QStringLiteral("a"));
        figure.plots[0].y.label = QStringLiteral("loss");
        figure.plots[0].y.unit = QStringLiteral("nat");
        figure.quantity_in_header = true;
        RenderStyle style = screen();
        QVERIFY(textIn(layoutFigure(figure, {500, 300}, style).plots[0], QStringLiteral("loss (nat)")));
        style.show_title = false;
        QVERIFY(!textIn(layoutFigure(figure, {500, 300}, style).plots[0], QStringLiteral("loss (nat)")));
        // A figure that is exported without its title has no header.
        RenderStyle paper = paperStyle(Theme::make(Theme::Kind::Print));
        paper.show_title = false;
        QVERIFY(textIn(layoutFigure(figure, {2000, 1200}, paper).plots[0], QStringLiteral("loss (nat)")));
    }
};

NORMSCOPE_WIDGET_TEST(OccupancyTest)
#include "occupancy_test.moc"
