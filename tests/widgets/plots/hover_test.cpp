// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/hover.h"

#include "tests/support/test_main.h"
#include "tests/widgets/plots/sample_figures.h"

#include <QtTest>

using namespace normscope::widgets;

namespace {
QStringList texts(const Figure& figure, const HoverPoint& point) {
    QStringList out;
    for (const auto& line : hoverLines(figure, point)) out.append(line.text);
    return out;
}

FigureLayout lay(const Figure& figure) {
    return layoutFigure(figure, QSizeF(500, 350), screenStyle(Theme::make(Theme::Kind::Light)));
}
}  // namespace

class HoverTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void wordsOfTheAxisAreAdded() {
        Figure f = samples::theta();
        f.plots = {Plot{}};
        f.plots[0].curves.push_back({});
        f.x_names.clear();
        Plot& plot = f.plots.front();
        plot.x.label = "key";
        plot.x.words = {"a", " the", "\\n"};
        const auto place = [&](double x) { return hoverLines(f, {0, x, 0, -1, -1}).front().text; };
        QVERIFY2(place(2).startsWith("key 2 “ the”"), qPrintable(place(2)));
        QVERIFY(place(3).startsWith("key 3 “\\n”"));
        for (const double x : {0.0, 4.0, 2.5}) QVERIFY(!place(x).contains(u'“'));
    }

    void nearestPointAndCurve() {
        const Figure f = samples::gradients();
        const FigureLayout layout = lay(f);
        const PlotLayout& plot = layout.plots[0];
        const double y = f.plots[0].curves[1].y[7];
        const auto point = hoverAt(f, layout, QPointF(plot.x.toPixel(3.5) + 2, plot.y.toPixel(y) - 3));
        QVERIFY(point);
        QCOMPARE(point->plot, 0);
        QCOMPARE(point->x, 3.5);
        QCOMPARE(point->curve, 1);
        QVERIFY(!hoverAt(f, layout, QPointF(2, 2)));
    }

    void cardShowsEveryRunRatioAndBound() {
        Figure f = samples::gradients();
        f.unit = "1/tok";
        f.plots[0].curves[0].y[6] = 0.25;
        f.plots[0].curves[1].y[6] = 0.0001234567;
        f.plots[0].curves[1].kind = LineKind::Draft;
        f.plots[0].curves[2].y[6] = 0.75;
        QCOMPARE(texts(f, {0, 3.0, 0, -1, -1}),
                 QStringList({"layer 3 · ffn · at step 0", "gradient norm ‖∂L/∂h‖ (1/tok)",
                              "Pre-LN  0.25 1/tok", "Post-LN  0.0001235 1/tok  draft", "bound  0.75 1/tok",
                              "Post-LN / Pre-LN = 0.0004938"}));
        QCOMPARE(hoverLines(f, {0, 3.0, 0, -1, -1})[3].role->run, 1);
    }

    void cardShowsErrorsAndStepsThatDiffer() {
        Figure f = samples::gradients();
        Curve &a = f.plots[0].curves[0], &b = f.plots[0].curves[1];
        a.y[6] = 0.25;
        a.y_error.assign(a.y.size(), 0.0123);
        b.y[6] = 0.5;
        a.step = b.step = 20;
        Band band;
        band.name = "error band";
        band.x = a.x;
        band.low = band.high = a.y;
        band.is_error = true;
        f.plots[0].bands.push_back(band);
        QStringList lines = texts(f, {0, 3.0, 0, -1, -1});
        QVERIFY2(lines.contains("Pre-LN  0.25 ± 0.012") && lines.contains("Post-LN  0.5"),
                 qPrintable(lines.join('|')));
        QVERIFY(lines.contains("Post-LN / Pre-LN = 2"));
        QVERIFY(!lines.join('|').contains("error band"));
        b.step = 18;  // two steps: each is named, and there is no ratio
        lines = texts(f, {0, 3.0, 0, -1, -1});
        QVERIFY2(lines.contains("Pre-LN  0.25 ± 0.012  at step 20"), qPrintable(lines.join('|')));
        QVERIFY(lines.contains("Post-LN  0.5  at step 18"));
        QVERIFY(!lines.join('|').contains(" / "));
    }

    void aPlotOfOneRunNamesIt() {
        Figure f = samples::losses();
        f.side_by_side = true;
        f.plots[0].heading = "Post-LN";
        QVERIFY(texts(f, {0, 50, -1, -1, -1})[0].startsWith("Post-LN · step 50"));
    }

    /// Dots without a line have no values in between.
    void pointsThatAreNotJoinedHaveNoValueBetween() {
        Figure f = samples::losses();
        Curve held_out = f.plots[0].curves[0];
        held_out.name = "Pre-LN held-out";
        held_out.x = {0, 50, 100};
        held_out.y = {3, 2, 1};
        held_out.markers = true;
        held_out.line = false;
        f.plots[0].curves.push_back(held_out);
        QVERIFY(texts(f, {0, 50, 0, -1, -1}).join('|').contains("held-out  2 "));
        QVERIFY(!texts(f, {0, 60, 0, -1, -1}).join('|').contains("held-out"));
    }

    void aBandNarrowerThanTheDigitsShowsItsHalfWidth() {
        Figure f = samples::gradients();
        f.plots[0].bands = {{"A", {}, {3}, {0.25 - 3e-9}, {0.25 + 3e-9}}, {"B", {}, {3}, {0.2}, {0.3}}};
        const auto lines = texts(f, {0, 3.0, 0, -1, -1});
        QVERIFY2(lines.contains("A  ± 3×10⁻⁹") && lines.contains("B  0.2 … 0.3"),
                 qPrintable(lines.join('|')));
    }

    void badValuesAreStated() {
        Figure f = samples::losses();
        const auto lines = texts(f, {0, 150, -1, -1, -1});
        QVERIFY(lines.contains("No norm  NaN nat"));
        QVERIFY(lines[0].startsWith("step 150"));
    }

    void stripsDescribeTheirOwnQuantity() {
        const auto lines = texts(samples::gradients(), {1, 3.0, -1, -1, -1});
        QCOMPARE(lines[1], QString("Post-LN / Pre-LN"));
    }

    void cellsShowBothRuns() {
        const Figure f = samples::theta();
        const auto lines = texts(f, {1, kNaN, -1, 2, 1});
        QCOMPARE(lines[0], QString("layer 3 · head 2 · at step 100"));
        QVERIFY(lines[2].startsWith("Pre-LN  ") && lines[3].startsWith("Post-LN  "));
        QVERIFY(lines[4].startsWith("Post-LN / Pre-LN = "));
    }

    void runsOfDifferentDepthAnswerWhereTheyHavePoints() {
        Curve c = samples::curve("a", 0, {0, 1, 2}, {5, 6, 7});
        QCOMPARE(valueAt(c, 1.4), std::optional<double>(6));
        QCOMPARE(valueAt(c, 2), std::optional<double>(7));
        QVERIFY(!valueAt(c, 5));
        QVERIFY(!valueAt(samples::curve("b", 0, {}, {}), 0));
    }

    void keysStepThroughThePoints() {
        const Figure f = samples::gradients();
        const auto first = hoverNeighbour(f, {0, kNaN, -1, -1, -1}, 1);
        QCOMPARE(first->x, 0.0);
        QCOMPARE(hoverNeighbour(f, *first, 1)->x, 0.5);
        QVERIFY(!hoverNeighbour(f, *first, -1));
        const auto cell = hoverNeighbour(samples::theta(), {0, kNaN, -1, 2, 3}, -1);
        QCOMPARE(cell->column, 2);
        QVERIFY(!hoverNeighbour(samples::theta(), {0, kNaN, -1, 2, 3}, 1));
    }

    void staleAndForeignPointsGiveNothing() {
        QVERIFY(hoverLines(samples::gradients(), {7, 0, -1, -1, -1}).empty());
        QVERIFY(hoverLines(samples::gradients(), {0, 0, -1, 3, 3}).empty());
        QVERIFY(hoverLines(samples::theta(), {0, kNaN, -1, 99, 0}).empty());
        QVERIFY(hoverLines(Figure(), {0, 0, -1, -1, -1}).empty());
    }
};

NORMSCOPE_WIDGET_TEST(HoverTest)
#include "hover_test.moc"
