// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/collisions.h"

#include "tests/support/test_main.h"
#include "tests/widgets/plots/sample_figures.h"
#include "widgets/plots/geometry/plot_grid.h"

#include <QtTest>

using namespace normscope::widgets;

namespace {

RenderStyle paper(double font_pt = 8) {
    return paperStyle(Theme::make(Theme::Kind::Print), font_pt);
}

QSizeF millimetres(double width, double height) {
    return QSizeF(width, height) / 25.4 * kPaperUnitsPerInch;
}

QStringList check(const Figure& figure, const QSizeF& size, const RenderStyle& style) {
    return collisionTexts(collisionsIn(layoutFigure(figure, size, style), style));
}

bool anyContains(const QStringList& texts, const QString& part) {
    return std::any_of(texts.begin(), texts.end(), [&](const QString& t) { return t.contains(part); });
}

}  // namespace

class CollisionsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Each kind, made by moving a text of a clean layout.
    void eachKindIsFound() {
        const RenderStyle style = paper();
        const QSizeF size = millimetres(120, 80);
        FigureLayout layout = layoutFigure(samples::gradients(), size, style);
        QCOMPARE(collisionTexts(collisionsIn(layout, style)), QStringList());
        const auto found = [&](const TextShape& text) {
            FigureLayout changed = layout;
            changed.texts.push_back(text);
            return collisionTexts(collisionsIn(changed, style));
        };
        TextShape text;
        text.flags = Qt::AlignLeft | Qt::AlignVCenter;
        text.text = "label";
        text.rect = layout.plots[0].y_ticks.front().label_rect;
        for (const TickShape& tick : layout.plots[0].y_ticks)
            if (!tick.label_rect.isNull()) text.rect = tick.label_rect;
        QVERIFY(anyContains(found(text), "overlaps \"label\""));
        const QPointF on_curve = layout.plots[0].curves[0].pieces[0][3];
        text.rect = QRectF(on_curve - QPointF(20, 40), QSizeF(200, 80));
        QVERIFY(anyContains(found(text), "\"label\" covers a curve"));
        text.rect = QRectF(size.width() - 10, 5, 200, 80);
        QVERIFY(anyContains(found(text), "\"label\" leaves the page"));
        text.text = "lab…";
        text.rect = QRectF(layout.plots[0].area.left() + 5, layout.plots[0].area.center().y(), 200, 80);
        QVERIFY(anyContains(found(text), "cut short"));
    }

    /// On paper no text covers a curve, down to one column at 8 pt.
    void paperFiguresAreClean_data() {
        QTest::addColumn<QSizeF>("mm");
        for (const auto& [w, h] : {std::pair{85.0, 60.0}, {85.0, 50.0}, {120.0, 80.0}, {180.0, 90.0}})
            QTest::addRow("%gx%g", w, h) << QSizeF(w, h);
    }
    void paperFiguresAreClean() {
        QFETCH(QSizeF, mm);
        const RenderStyle style = paper();
        for (const Figure& figure : {samples::gradients(), samples::losses(), samples::layersOverSteps()}) {
            const QStringList texts = check(figure, millimetres(mm.width(), mm.height()), style);
            QVERIFY2(texts.isEmpty(), qPrintable(figure.title + ": " + texts.join("; ")));
        }
    }

    /// A chip without a place outside moves under the plot, in its run's colour; on screen it stays inside.
    void whatWouldCoverACurveMovesUnderThePlot() {
        Figure figure = samples::losses();
        for (int i = 0; i < 6; ++i)
            figure.plots[0].chips.push_back({Chip::Edge::TopLeft, QString("Pre-LN, chip number %1").arg(i),
                                             Role{Role::Kind::Run, i % 3, 0}});
        const QSizeF size = millimetres(85, 60);
        const RenderStyle style = paper();
        const FigureLayout layout = layoutFigure(figure, size, style);
        int under = 0;
        for (const TextShape& text : layout.texts)
            if (text.text.contains("chip number")) {
                QVERIFY(text.rect.top() > layout.plots[0].area.bottom());
                ++under;
            }
        int above = 0;
        for (const TextShape& text : layout.plots[0].texts)
            if (text.text.contains("chip number")) {
                QVERIFY(text.rect.bottom() <= layout.plots[0].area.top());
                ++above;
            }
        QVERIFY(under >= 3);
        QCOMPARE(above + under, 6);
        QCOMPARE(collisionTexts(collisionsIn(layout, style)), QStringList());
        const RenderStyle screen = screenStyle(Theme::make(Theme::Kind::Light));
        const FigureLayout window = layoutFigure(figure, QSizeF(500, 350), screen);
        QVERIFY(std::none_of(window.texts.begin(), window.texts.end(),
                             [](const TextShape& t) { return t.text.contains("chip number"); }));
    }

    /// Names that do not fit at the ends of their curves become a legend below.
    void tooManyNamesBecomeALegend() {
        Figure figure = samples::losses();
        for (int i = 0; i < 20; ++i) {
            Curve curve = figure.plots[0].curves[0];
            curve.name = QString("run %1").arg(i);
            curve.role.run = i;
            figure.plots[0].curves.push_back(curve);
        }
        const RenderStyle style = paper();
        const FigureLayout layout = layoutFigure(figure, millimetres(85, 60), style);
        const QStringList texts = collisionTexts(collisionsIn(layout, style));
        QVERIFY2(texts.isEmpty(), qPrintable(texts.join("; ")));
        QVERIFY(std::any_of(layout.texts.begin(), layout.texts.end(),
                            [](const TextShape& t) { return t.text == "run 19"; }));
    }

    /// Small multiples: one range, labels of y in the first column, of x where nothing is below.
    void smallMultiplesShareTheirAxes() {
        Figure figure = samples::losses();
        figure.side_by_side = figure.shared_axes = true;
        for (int i = 1; i < 7; ++i) {
            figure.plots.push_back(figure.plots[0]);
            figure.plots.back().heading = QString("group %1").arg(i);
            for (Curve& curve : figure.plots.back().curves)
                for (double& y : curve.y) y *= 1 + 0.1 * i;
        }
        const RenderStyle style = paper();
        const FigureLayout layout = layoutFigure(figure, millimetres(85, 60), style);
        QCOMPARE(layout.plots.size(), std::size_t(7));
        int with_y = 0, with_x = 0;
        for (const PlotLayout& plot : layout.plots) {
            QCOMPARE(plot.x.low, layout.plots[0].x.low);
            QCOMPARE(plot.y.high, layout.plots[0].y.high);
            QCOMPARE(plot.area.size(), layout.plots[0].area.size());
            const auto labelled = [](const TickShape& t) { return !t.label_rect.isNull(); };
            with_y += std::any_of(plot.y_ticks.begin(), plot.y_ticks.end(), labelled);
            with_x += std::any_of(plot.x_ticks.begin(), plot.x_ticks.end(), labelled);
        }
        const PlotGrid grid = gridFor(7, QSizeF(300, 200));
        QVERIFY(grid.columns >= 3 && grid.rows * grid.columns >= 7);
        QVERIFY(with_y >= 2 && with_y < 7);
        QVERIFY(with_x >= 3 && with_x < 7);
        for (std::size_t i = 0; i < 7; ++i)
            for (std::size_t k = 0; k < i; ++k)
                QVERIFY(!layout.plots[i].area.intersects(layout.plots[k].area));
        QCOMPARE(gridFor(1, QSizeF(300, 200)).columns, 1);
        QCOMPARE(gridFor(4, QSizeF(580, 320)).columns, 2);
    }
};

NORMSCOPE_WIDGET_TEST(CollisionsTest)
#include "collisions_test.moc"
