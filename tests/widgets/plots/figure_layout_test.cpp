// SPDX-License-Identifier: GPL-3.0-or-later
// What is drawn, as geometry: polylines, ticks, labels, marks, cells.
#include "widgets/plots/figure_layout.h"

#include "tests/support/test_main.h"
#include "tests/widgets/plots/sample_figures.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/plots/colour_map.h"

#include <QtTest>
#include <cmath>

using namespace normscope::widgets;

namespace {
const QSizeF kSize(500, 350);

FigureLayout lay(const Figure& figure, const QSizeF& size = kSize) {
    return layoutFigure(figure, size, screenStyle(Theme::make(Theme::Kind::Light)));
}

QStringList labelsOf(const std::vector<TickShape>& ticks) {
    QStringList out;
    for (const auto& t : ticks) {
        if (!t.label_rect.isNull()) out.append(t.tick.label);
    }
    return out;
}

const TextShape* find(const std::vector<TextShape>& texts, const QString& part) {
    for (const auto& t : texts) {
        if (t.text.contains(part)) return &t;
    }
    return nullptr;
}

Figure figureOf(Curve curve, Scale y = Scale::Linear) {
    Figure f;
    Plot p;
    p.y.scale = y;
    p.curves = {std::move(curve)};
    f.plots = {p};
    return f;
}

constexpr double kInf = std::numeric_limits<double>::infinity();
}  // namespace

class FigureLayoutTest : public QObject {
    Q_OBJECT
    normscope::test::WarningsFail warnings_;

  private Q_SLOTS:
    void cleanup() { warnings_.check(); }

    void aCurvePassesItsPoints() {
        Figure f = figureOf(samples::curve("a", 0, {0, 1, 2}, {1, 100, 10}), Scale::Log);
        f.plots[0].y.range = Range{1, 100};
        f.plots[0].x.range = Range{0, 2};
        const FigureLayout layout = lay(f);
        const PlotLayout& plot = layout.plots.at(0);
        QCOMPARE(plot.curves.size(), std::size_t(1));
        const QPolygonF& line = plot.curves[0].pieces.at(0);
        const QRectF& a = plot.area;
        const QPolygonF expected{a.bottomLeft(), {a.center().x(), a.top()}, {a.right(), a.center().y()}};
        QCOMPARE(line.size(), expected.size());
        for (qsizetype i = 0; i < line.size(); ++i) QVERIFY(QLineF(line[i], expected[i]).length() < 1e-6);
    }

    void gapsCutAndAreMarked() {
        const Figure f =
            figureOf(samples::curve("a", 0, {0, 1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, kNaN, 1, 0, -3, 2, kInf, 2}),
                     Scale::Log);
        const PlotLayout plot = lay(f).plots.at(0);
        QCOMPARE(plot.curves[0].pieces.size(), std::size_t(1));  // 0–1
        QCOMPARE(plot.curves[0].dots.size(), qsizetype(3));      // 3, 6 and 8 are isolated
        QCOMPARE(plot.gaps.size(), std::size_t(3));              // NaN; 0 and −3 in one; Inf
        QCOMPARE(plot.gaps[0].kind, GapMark::Kind::NaN);
        QCOMPARE(plot.gaps[1].kind, GapMark::Kind::NotPositive);
        QCOMPARE(plot.gaps[2].kind, GapMark::Kind::AboveAll);
        QCOMPARE(plot.gaps[1].at, QPointF(plot.x.toPixel(4), plot.area.bottom()));
        QCOMPARE(plot.gaps[2].at, QPointF(plot.x.toPixel(7), plot.area.top()));
        QCOMPARE(plot.gaps[0].colour, Theme::make(Theme::Kind::Light).bad);
    }

    void curvesEndAtTheFrame() {
        Figure f = samples::losses();
        f.plots[0].y.range = Range{2, 3};
        f.plots[0].x.range = Range{20, 90};
        const PlotLayout plot = lay(f).plots.at(0);
        const QRectF reach = plot.area.adjusted(-1e-6, -1e-6, 1e-6, 1e-6);
        int points = 0;
        for (const auto& curve : plot.curves) {
            for (const auto& piece : curve.pieces) {
                for (const auto& p : piece) QVERIFY(reach.contains(p));
                points += static_cast<int>(piece.size());
            }
        }
        QVERIFY(points > 50);
    }

    void aSpikeAmongManyPointsReachesItsHeight() {
        std::vector<double> x, y;
        for (int i = 0; i < 100000; ++i) x.push_back(i), y.push_back(i == 77777 ? 50 : 1 + 0.1 * std::sin(i));
        const PlotLayout plot = lay(figureOf(samples::curve("a", 0, x, y))).plots.at(0);
        const QPolygonF& line = plot.curves[0].pieces.at(0);
        QVERIFY(line.size() < 5 * plot.area.width());
        QCOMPARE(line.boundingRect().top(), plot.y.toPixel(50));
    }

    void lineKindsHaveTheirPens() {
        const Theme theme = Theme::make(Theme::Kind::Light);
        Figure f;
        f.plots.resize(1);
        for (const auto kind :
             {LineKind::Measured, LineKind::Draft, LineKind::Ghost, LineKind::Preview, LineKind::Bound}) {
            Curve c = samples::curve("a", 1, {0, 1}, {1, 2});
            c.kind = kind;
            f.plots[0].curves.push_back(c);
        }
        const auto curves = lay(f).plots.at(0).curves;
        QCOMPARE(curves.size(), std::size_t(5));
        QCOMPARE(curves[0].curve, std::size_t(2));  // the ghost lies under the others
        QCOMPARE(curves[0].colour, theme.ghost);
        QCOMPARE(curves[1].colour, theme.run(1));
        QCOMPARE(curves[1].width, 1.5);
        QCOMPARE(curves[1].dash, runDash(1));
        QVERIFY(curves[2].width < 1.5 && curves[2].colour != theme.run(1));
        QVERIFY(curves[3].dash != runDash(1));
        QVERIFY(curves[4].dash != curves[3].dash && curves[4].width < 1.5);
    }

    void ticksAndNamedTicks() {
        const FigureLayout layout = lay(samples::gradients());
        QCOMPARE(labelsOf(layout.plots[1].x_ticks),
                 QStringList({"emb", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"}));
        QVERIFY(labelsOf(layout.plots[0].x_ticks).isEmpty());  // the strip below shows the same axis
        QCOMPARE(labelsOf(layout.plots[0].y_ticks), QStringList({"10⁻⁶", "10⁻⁴", "10⁻²", "1"}));
        QCOMPARE(layout.plots[0].y_grid->interval, 2.0);  // two decades
        QCOMPARE(layout.plots[0].area.left(), layout.plots[1].area.left());
        QCOMPARE(layout.plots[0].area.right(), layout.plots[1].area.right());
        QVERIFY(layout.plots[0].area.height() > 3 * layout.plots[1].area.height());
    }

    void tickLabelsNeverOverlap_data() {
        QTest::addColumn<int>("width");
        for (int width = 120; width <= 900; width += 60) QTest::addRow("%d", width) << width;
    }
    void tickLabelsNeverOverlap() {
        QFETCH(int, width);
        for (const Figure& f : {samples::gradients(), samples::losses(), samples::sites(), samples::theta(),
                                samples::layersOverSteps()}) {
            for (const auto& plot : lay(f, QSizeF(width, 0.7 * width)).plots) {
                for (const auto* ticks : {&plot.x_ticks, &plot.y_ticks}) {
                    for (std::size_t i = 0; i < ticks->size(); ++i) {
                        for (std::size_t k = 0; k < i; ++k)
                            QVERIFY(!(*ticks)[i].label_rect.intersects((*ticks)[k].label_rect));
                    }
                }
            }
        }
    }

    void textsStayInsideTheFigureAndNamesApart() {
        for (const Figure& f : {samples::gradients(), samples::losses(), samples::spectra(), samples::theta(),
                                samples::layersOverSteps()}) {
            const FigureLayout layout = lay(f);
            const QRectF all(QPointF(), kSize);
            for (const auto& plot : layout.plots) {
                std::vector<QRectF> names;
                for (const auto& t : plot.texts) {
                    QVERIFY2(all.contains(t.rect), qPrintable(t.text));
                    if (t.rect.left() > plot.area.right()) names.push_back(t.rect);
                }
                for (std::size_t i = 0; i < names.size(); ++i) {
                    for (std::size_t k = 0; k < i; ++k)
                        QVERIFY(!names[i].adjusted(0, 0.01, 0, -0.01).intersects(names[k]));
                }
            }
        }
    }

    void linesAreNamedAtTheirEnds() {
        const PlotLayout plot = lay(samples::losses()).plots.at(0);
        for (const auto* name : {"Pre-LN", "Post-LN", "ln V", "unigram entropy", "entropy rate"}) {
            const TextShape* text = find(plot.texts, name);
            QVERIFY2(text, name);
            QVERIFY(text->rect.left() > plot.area.right());
        }
        const double rate = plot.y.toPixel(1.35);
        QVERIFY(std::abs(find(plot.texts, "entropy rate")->rect.center().y() - rate) < 1);
    }

    /// As many as there is space for, in the order of the runs; the last line counts the others.
    void namesThatDoNotFitAreCounted() {
        Figure f = figureOf(samples::curve("run 0", 0, {0, 1}, {0, 1}));
        for (int i = 1; i < 100; ++i)
            f.plots[0].curves.push_back(
                samples::curve(QString("run %1").arg(i), i, {0, 1}, {0, 1 + 0.01 * i}));
        f.plots[0].references.push_back({Qt::Horizontal, 0.5, "half"});
        const PlotLayout plot = lay(f).plots.at(0);
        int names = 0;
        for (const TextShape& text : plot.texts) names += text.text.startsWith("run ");
        QVERIFY(names > 5 && names < 40);
        QVERIFY(find(plot.texts, "run 0"));
        QVERIFY(find(plot.texts, "half"));
        const TextShape* more = find(plot.texts, "more");
        QVERIFY(more);
        QCOMPARE(more->text, QString("+ %1 more").arg(100 - names));
        for (const TextShape& a : plot.texts) {
            QVERIFY(a.rect.top() >= plot.area.top() - a.rect.height());
            QVERIFY(a.rect.bottom() <= plot.area.bottom() + a.rect.height());
            for (const TextShape& b : plot.texts)
                QVERIFY(&a == &b || !a.rect.adjusted(0, 0.5, 0, -0.5).intersects(b.rect));
        }
    }

    void chipsInsideLeaveHalfOfThePlot() {
        Figure f = figureOf(samples::curve("a", 0, {0, 1}, {0, 1}));
        for (int i = 0; i < 50; ++i)
            f.plots[0].chips.push_back(
                {Chip::Edge::TopLeft, QString("run %1: fewer than eight layers").arg(i), {}});
        const PlotLayout plot = lay(f).plots.at(0);
        int chips = 0;
        double lowest = 0;
        for (const TextShape& text : plot.texts) {
            chips += text.text.contains("fewer");
            if (text.text.contains("fewer") || text.text.contains("more"))
                lowest = std::max(lowest, text.rect.bottom());
        }
        QVERIFY(chips > 3 && chips < 50);
        QVERIFY(lowest < plot.area.center().y() + 10);
        QVERIFY(find(plot.texts, QString("+ %1 more").arg(50 - chips)));
    }

    /// As near to the centre as it covers neither a curve nor a line nor a name.
    void aChipOfTheMiddleCoversNothing() {
        Figure f = figureOf(samples::curve("a", 0, {0, 1}, {0, 0}));
        f.plots[0].y.range = {0.0, 4.0};
        f.plots[0].references = {{Qt::Horizontal, 2, "the centre", true}};
        f.plots[0].chips = {{Chip::Edge::Middle, "Press Space", {}}};
        const PlotLayout plot = lay(f).plots.at(0);
        const TextShape* chip = find(plot.texts, "Press Space");
        QVERIFY(chip);
        QVERIFY(std::abs(chip->rect.center().x() - plot.area.center().x()) < 1);
        const double line = plot.y.toPixel(2), away = std::abs(chip->rect.center().y() - line);
        QVERIFY2(away > chip->rect.height() / 2 && away < 3 * chip->rect.height(),
                 qPrintable(QString::number(away)));
        for (const TextShape& other : plot.texts)
            QVERIFY(&other == chip || !other.rect.intersects(chip->rect));
    }

    /// Dots and dashes of many curves would cover each other's lines. A curve without a line keeps its dots,
    /// what is no measurement its dashes.
    void manyCurvesHaveNeitherDotsNorDashes() {
        const auto layoutOf = [](int curves) {
            Figure f = figureOf(samples::curve("a", 0, {0, 1, 2}, {0, 1, 0}));
            for (int i = 1; i < curves; ++i)
                f.plots[0].curves.push_back(samples::curve("b", i, {0, 1, 2}, {0, 1.0 * i, 0}));
            for (Curve& curve : f.plots[0].curves) curve.markers = true;
            f.plots[0].curves.back().line = false;
            f.plots[0].curves[2].kind = LineKind::Bound;
            return lay(f).plots.at(0).curves;
        };
        for (const int count : {64, 65}) {
            const auto curves = layoutOf(count);
            const bool few = count == 64;
            QCOMPARE(curves.front().dots.size(), qsizetype(few ? 3 : 0));
            QCOMPARE(curves.back().dots.size(), qsizetype(3));
            QCOMPARE(!curves[1].dash.isEmpty(), few);
            QVERIFY(!curves[2].dash.isEmpty());
        }
    }

    void aDivergedRunEndsInACross() {
        const PlotLayout plot = lay(samples::losses()).plots.at(0);
        const TextShape* label = find(plot.texts, "step 119 · L7 ffn.w2 · inf");
        QVERIFY(label && label->text.startsWith(u'✕'));
        const Theme theme = Theme::make(Theme::Kind::Light);
        const double x = plot.x.toPixel(119);
        bool cross = false, hatched = false;
        for (const auto& line : plot.over) {
            cross = cross || (line.colour == theme.run(1) && line.lines.size() == 2 &&
                              std::abs(line.lines[0].center().x() - x) < 1e-6);
        }
        for (const auto& line : plot.under) {
            if (line.lines.size() < 10) continue;
            hatched = true;
            for (const auto& l : line.lines) QVERIFY(std::min(l.x1(), l.x2()) >= x - 1e-6);
        }
        QVERIFY(cross && hatched);
        QVERIFY(find(plot.texts, "stalled"));
        // The cross marks the end; no gap mark repeats it.
        QVERIFY(plot.gaps.empty());
    }

    /// In a figure of one column, as it is exported by default, no curve name is elided.
    void namesFitAPrintedColumn() {
        Figure f = samples::losses();
        for (auto& line : f.plots[0].references)
            if (line.label == "unigram entropy") line.label = "unigram entropy 2.87";
        f.plots[0].curves[0].name = "Pre-LN + GPAS";
        const QSizeF tenths_of_a_point = QSizeF(85, 60) / 25.4 * 720;
        const RenderStyle style = paperStyle(Theme::make(Theme::Kind::Print), 8);
        const PlotLayout plot = layoutFigure(f, tenths_of_a_point, style).plots.at(0);
        QVERIFY(find(plot.texts, "unigram entropy 2.87"));
        QVERIFY(find(plot.texts, "Pre-LN + GPAS"));
        QVERIFY(plot.area.width() > tenths_of_a_point.width() / 2);
    }

    /// The reason of an end is shown in full, and not on top of a curve.
    void anEndMarksWordsCoverNoCurve() {
        Figure f = samples::losses();
        Curve& early = f.plots[0].curves[0];
        early.end = {EndMark::Kind::Diverged,
                     "step 68 · median loss 4.468e+04 nat above 3.51e+04 for 50 steps"};
        f.plots[0].curves.resize(1);
        const std::size_t kept = early.x.size() / 3;
        early.x.resize(kept);
        early.y.resize(kept);
        f.plots[0].x.range = {0.0, 3.0 * static_cast<double>(kept)};
        const PlotLayout plot = lay(f).plots.at(0);
        QString label;
        for (const auto& text : plot.texts) {
            if (!plot.area.contains(text.rect)) continue;
            label += (label.isEmpty() ? "" : " ") + text.text;
            for (const auto& shape : plot.curves)
                for (const auto& piece : shape.pieces)
                    for (const QPointF& point : piece)
                        QVERIFY2(!text.rect.contains(point), qPrintable(text.text));
        }
        QVERIFY2(label.contains("for 50 steps") && !label.contains(u'…'), qPrintable(label));
    }

    void chipsCoverNoData() {
        const PlotLayout plot = lay(samples::gradients()).plots.at(0);
        const TextShape* bound = find(plot.texts, "bound 3e9 ↑");
        QVERIFY(bound && !bound->rect.intersects(plot.area));
        const TextShape* ratio =
            find(plot.texts, "first/last");  // no row under this plot: inside, in its corner
        QVERIFY(ratio && plot.area.contains(ratio->rect) && ratio->background.isValid());
    }

    void chipsReadFromLeftToRight() {
        Figure f = samples::gradients();
        f.plots[0].chips = {{Chip::Edge::TopRight, "first", {}}, {Chip::Edge::TopRight, "second", {}}};
        const PlotLayout plot = lay(f).plots.at(0);
        const TextShape *first = find(plot.texts, "first"), *second = find(plot.texts, "second");
        QVERIFY(first && second && !first->rect.intersects(plot.area));
        QVERIFY(std::abs(first->rect.right() - second->rect.left()) < 1e-6);
    }

    void laneLiesUnderThePlot() {
        const PlotLayout plot = lay(samples::spectra()).plots.at(0);
        int counts = 0;
        for (const auto& t : plot.texts) {
            if (t.text != "4") continue;
            ++counts;
            QVERIFY(t.rect.top() >= plot.area.bottom() - 1);
        }
        QCOMPARE(counts, 12);
    }

    void cellsHaveColourTextAndMarks() {
        const FigureLayout layout = lay(samples::theta());
        const PlotLayout& plot = layout.plots.at(0);
        QCOMPARE(plot.cells.size(), std::size_t(48));
        QCOMPARE(plot.cells[0].rect.bottomLeft(), plot.area.bottomLeft());  // row 0 at the bottom
        QCOMPARE(plot.cells[47].rect.topRight(), plot.area.topRight());
        QCOMPARE(plot.cells[5].fill, Theme::make(Theme::Kind::Light).neutral);
        QCOMPARE(plot.cells[10].mark, CellShape::Mark::NaN);
        QCOMPARE(plot.cells[20].mark, CellShape::Mark::Inf);
        QVERIFY(plot.cells[14].selected && !plot.cells[13].selected);
        QCOMPARE(plot.cells[0].text, QString("1.00"));
        QCOMPARE(layout.plots[0].area.top(), layout.plots[1].area.top());
        QVERIFY(layout.plots[0].area.right() < layout.plots[1].area.left());
    }

    /// If one text is too wide for its cell, none is drawn.
    void textsOfCellsAllFitOrNoneIsWritten() {
        Figure f = samples::theta();
        f.plots[0].maps[0].text[1] = QString(40, u'8');
        const FigureLayout layout = lay(f);
        for (const CellShape& cell : layout.plots[0].cells) QVERIFY(cell.text.isEmpty());
        QVERIFY(!layout.plots[1].cells[0].text.isEmpty());
    }

    /// Bright is large in both themes, as in the stack and on the colour bar.
    void brightCellsAreLargeInTheDarkToo() {
        for (const Theme::Kind kind : {Theme::Kind::Light, Theme::Kind::Dark}) {
            Figure f = samples::theta();
            HeatMap& map = f.plots[0].maps[0];
            map.neutral.clear();
            map.value[0] = map.low;
            map.value[1] = map.high;
            const auto cells = layoutFigure(f, kSize, screenStyle(Theme::make(kind))).plots[0].cells;
            QVERIFY(luminance(cells[0].fill) < luminance(cells[1].fill));
        }
    }

    void fineMapsAreMergedByMaximumAndStateSo() {
        Figure f = samples::theta();
        f.side_by_side = false;
        f.plots.resize(1);
        HeatMap& map = f.plots[0].maps[0];
        map.rows = 30;
        map.columns = 1000;
        map.value.assign(30000, 0.1);
        map.raw.clear();
        map.text.clear();
        map.neutral.clear();
        map.low = 0;
        map.high = 1;
        map.value[15 * 1000 + 501] = 1;
        const PlotLayout plot = lay(f).plots.at(0);
        QVERIFY(plot.merged > 1);
        int loud = 0;
        for (const auto& cell : plot.cells) {
            QVERIFY(cell.rect.width() < 1 || cell.rect.width() >= 5.9 ||
                    cell.rect.right() > plot.area.right() - 6);
            if (cell.fill == plot.cells.front().fill) continue;
            ++loud;
            QVERIFY(cell.rect.contains(QPointF(plot.x.toPixel(501.5), plot.y.toPixel(15.5))));
        }
        QCOMPARE(loud, 1);
        QVERIFY(find(plot.texts, "largest of"));
    }

    /// The first of many narrow columns is at the frame, and a map of one row has a narrow margin there.
    void namesOfColumnsStayInsideTheFigure() {
        Figure f = samples::theta();
        f.side_by_side = false;
        f.plots.resize(1);
        HeatMap map;
        map.rows = 1;
        map.columns = 100;
        map.value.assign(100, 0.1);
        map.row_names = QStringList{QString()};
        for (int i = 0; i < map.columns; ++i) map.column_names << QStringLiteral("%1·10⁻⁴").arg(1 + i / 8.0);
        f.plots[0].maps = {map};
        const auto ticks = lay(f).plots.at(0).x_ticks;
        QVERIFY(labelsOf(ticks).size() > 3);
        QVERIFY(!ticks.front().label_rect.isNull());
        for (const TickShape& tick : ticks)
            QVERIFY(tick.label_rect.isNull() || QRectF(QPointF(), kSize).contains(tick.label_rect));
    }

    void emptyFiguresStateWhy() {
        Figure f;
        f.title = "Growth";
        f.empty_text = "No growth samples yet: the probe is off.";
        f.plots.resize(1);
        const FigureLayout layout = lay(f);
        QVERIFY(layout.plots.empty());
        QVERIFY(find(layout.texts, "the probe is off"));
        QVERIFY(find(layout.texts, "Growth"));
    }

    void floorsAloneAreAFigure() {
        Figure f = samples::losses();
        f.plots[0].curves.clear();
        f.plots[0].plateaus.clear();
        QCOMPARE(lay(f).plots.size(), std::size_t(1));
        QVERIFY(find(lay(f).plots[0].texts, "ln V"));
    }

    /// Any size and any data give a layout with finite coordinates.
    void strangeDataAndSizes() {
        Figure odd = figureOf(samples::curve("a", 0, {0, kNaN, 2, 1e308}, {1e308, -1e308, kInf}));
        odd.plots.push_back({});
        odd.plots.push_back(samples::spectra().plots[0]);
        odd.plots[2].bands[0].low.clear();
        for (const Figure& f : {odd, samples::gradients(), samples::theta(), Figure()}) {
            for (const QSizeF size : {QSizeF(0, 0), QSizeF(1, 1), QSizeF(40, 30), QSizeF(5000, 20)}) {
                for (const auto& plot : lay(f, size).plots) {
                    QVERIFY(plot.area.width() >= 1 && plot.area.height() >= 1);
                    for (const auto& curve : plot.curves) {
                        for (const auto& piece : curve.pieces) {
                            for (const auto& p : piece) QVERIFY(std::isfinite(p.x()) && std::isfinite(p.y()));
                        }
                    }
                }
            }
        }
    }

    void legendBelowNamesEachRunOnce() {
        RenderStyle style = screenStyle(Theme::make(Theme::Kind::Light));
        style.legend = LegendPlace::Below;
        const FigureLayout layout = layoutFigure(samples::losses(), kSize, style);
        QCOMPARE(layout.lines.size(), std::size_t(3));
        QVERIFY(find(layout.texts, "Pre-LN"));
        QVERIFY(!find(layout.plots[0].texts, "Pre-LN"));
    }
};

NORMSCOPE_WIDGET_TEST(FigureLayoutTest)
#include "figure_layout_test.moc"
