// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/sweep/sweep_figure.h"

#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/export/figure_exporter.h"
#include "widgets/figures/csv.h"
#include "widgets/plots/collisions.h"
#include "widgets/plots/hover.h"
#include "widgets/plots/plot_view.h"

#include <QSignalSpy>
#include <QtTest>
#include <cmath>
#include <map>

using namespace normscope;
using namespace normscope::widgets;

namespace {

/// A sweep whose row of run i is `state` and `loss`; without one where the state is prepared.
SweepResults sample(const std::vector<SweepAxis>& grid, std::size_t seeds,
                    const std::function<std::pair<RunState, double>(std::size_t)>& row_of) {
    SweepResults sweep;
    sweep.spec.recipe = recipe_json(Recipe{});
    sweep.spec.grid = grid;
    for (std::size_t i = 0; i < seeds; ++i) sweep.spec.seeds.push_back(42 + i);
    sweep.runs = expand_sweep(sweep.spec);
    for (const SweepRun& run : sweep.runs) {
        const auto [state, loss] = row_of(run.index);
        if (state == RunState::Prepared) continue;
        SweepRow row{run.index, state, 40, loss, loss - 0.1, loss + 0.25, {}, 1.5, run.recording};
        if (state == RunState::Diverged) row.diverged_at = 7;
        sweep.rows.push_back(row);
    }
    return sweep;
}

const SweepAxis kSchemes{"stack.scheme", {"pre", "post"}};
const SweepAxis kRates{"optimizer.lr", {"0.0003", "0.003", "0.03"}};

/// 2 schemes × 3 rates × 3 seeds: losses 2.5, 2.484375, …; post at 0.03 diverges with two seeds, at 0.003 one
/// stalls; pre at 0.03 is not trained.
SweepResults mixed() {
    return sample({kSchemes, kRates}, 3, [](std::size_t run) -> std::pair<RunState, double> {
        if (run >= 6 && run < 9) return {RunState::Prepared, 0};
        if (run >= 16) return {RunState::Diverged, 9};
        if (run == 13) return {RunState::Stalled, 2.9};
        return {RunState::Finished, 2.5 - static_cast<double>(run) / 64};
    });
}

const HeatMap& mapOf(const Figure& figure) {
    return figure.plots.front().maps.front();
}

std::size_t at(const HeatMap& map, int row_from_above, int column) {
    return static_cast<std::size_t>((map.rows - 1 - row_from_above) * map.columns + column);
}

}  // namespace

class SweepFigureTest : public QObject {
    Q_OBJECT
    test::WarningsFail warnings_;

  private Q_SLOTS:
    void cleanup() { warnings_.check(); }

    /// Every cell is the core's; the framed one of a row is the core's best value.
    void cellsAreTheMediansOfTheCoreAndTheBestIsFramed() {
        const SweepResults sweep = mixed();
        const SweepSlice slice = sliceOf(sweep, defaultAxes(sweep.spec));
        const Figure figure = sweepMap(slice, SweepValue::FinalLoss);
        const HeatMap& map = mapOf(figure);
        QCOMPARE(map.rows, 2);
        QCOMPARE(map.columns, 3);
        const auto cells = sweep_cells(sweep, {0, 1});
        const auto best = best_values(sweep, 1);
        QCOMPARE(best.size(), std::size_t(2));
        for (int row = 0; row < 2; ++row)
            for (int column = 0; column < 3; ++column) {
                const SweepCell& cell = cells[static_cast<std::size_t>(row * 3 + column)];
                const std::size_t i = at(map, row, column);
                if (cell.median_loss)
                    QCOMPARE(map.raw[i], *cell.median_loss);
                else
                    QVERIFY(std::isnan(map.raw[i]));
                QCOMPARE(map.runs[i].best,
                         best[static_cast<std::size_t>(row)].value == static_cast<std::size_t>(column));
                QCOMPARE(map.runs[i].states.size(), std::size_t(3));
                for (std::size_t seed = 0; seed < 3; ++seed) {
                    const auto row_of =
                        std::find_if(sweep.rows.begin(), sweep.rows.end(),
                                     [&](const SweepRow& r) { return r.run == cell.runs[seed]; });
                    QCOMPARE(map.runs[i].states[seed],
                             row_of == sweep.rows.end() ? RunState::Prepared : row_of->state);
                }
            }
        QCOMPARE(map.row_names, QStringList({"Post-LN", "Pre-LN"}));  // from below
        QCOMPARE(map.column_names, QStringList({"3×10⁻⁴", "3×10⁻³", "3×10⁻²"}));
        QVERIFY2(map.row_notes[1].startsWith("3×10⁻³: "), qPrintable(map.row_notes[1]));
        // Diverged: hatched. Not trained: grey, no mark.
        QVERIFY(std::isinf(map.raw[at(map, 1, 2)]) && std::isnan(map.value[at(map, 1, 2)]));
        QVERIFY(!map.neutral[at(map, 1, 2)] && map.neutral[at(map, 0, 2)]);
    }

    void keysHaveTheirNamesWithinASentence() {
        QCOMPARE(sweepKeyName("optimizer.lr"), QString("learning rate"));
        QCOMPARE(sweepKeyName("stack.residual_step"), QString("Δt"));
        QCOMPARE(sweepKeyName("stack.temperature"), QString("τ"));
        QCOMPARE(sweepKeyName("no.knob"), QString("no.knob"));
    }

    void outcomesAreCountedInWords() {
        const SweepResults sweep = mixed();
        const SweepSlice slice = sliceOf(sweep, defaultAxes(sweep.spec));
        const HeatMap map = mapOf(sweepMap(slice, SweepValue::Outcome));
        QCOMPARE(map.text[static_cast<qsizetype>(at(map, 0, 0))], QString("3 finished"));
        QCOMPARE(map.text[static_cast<qsizetype>(at(map, 1, 1))], QString("1 of 3 stalled"));
        QCOMPARE(map.runs[at(map, 1, 2)].lines.front(), QString("2 of 3 diverged"));
        QVERIFY2(
            map.runs[at(map, 1, 2)].lines.join('|').contains("seed 44: diverged at step 7, final loss 9 nat"),
            qPrintable(map.runs[at(map, 1, 2)].lines.join('|')));
        QVERIFY(map.colour == HeatMap::Colour::None);
    }

    /// The other columns of results.csv: medians of those that have the value.
    void everyColumnOfTheTableIsAMap() {
        const SweepResults sweep = mixed();
        const SweepSlice slice = sliceOf(sweep, defaultAxes(sweep.spec));
        const HeatMap lowest = mapOf(sweepMap(slice, SweepValue::BestLoss));
        QCOMPARE(lowest.raw[at(lowest, 0, 0)], 2.484375 - 0.1);
        const HeatMap held_out = mapOf(sweepMap(slice, SweepValue::HeldOutLoss));
        QCOMPARE(held_out.raw[at(held_out, 0, 0)], 2.484375 + 0.25);
        QVERIFY(std::isinf(held_out.raw[at(held_out, 1, 2)]));  // two of three diverged
        const HeatMap diverged = mapOf(sweepMap(slice, SweepValue::DivergedAt));
        QCOMPARE(diverged.raw[at(diverged, 1, 2)], 7.0);
        QVERIFY(diverged.neutral[at(diverged, 0, 0)]);
        const HeatMap seconds = mapOf(sweepMap(slice, SweepValue::Seconds));
        QCOMPARE(seconds.raw[at(seconds, 0, 0)], 1.5);
        const HeatMap steps = mapOf(sweepMap(slice, SweepValue::Steps));
        QCOMPARE(steps.raw[at(steps, 0, 0)], 40.0);
    }

    /// Of three keys, two are shown and the third has one value; the runs of a cell are those of the sweep.
    void aThirdKeyHasOneValue() {
        const SweepAxis depths{"stack.depth", {"2", "4"}};
        const SweepResults sweep = sample({kRates, depths, kSchemes}, 2, [](std::size_t run) {
            return std::pair{RunState::Finished, 2 + 0.01 * static_cast<double>(run)};
        });
        SweepAxes axes = defaultAxes(sweep.spec);
        QCOMPARE(*axes.column, std::size_t(0));
        QCOMPARE(*axes.row, std::size_t(1));
        axes.row = 2;
        axes.fixed = {0, 1, 0};
        const SweepSlice slice = sliceOf(sweep, axes);
        QCOMPARE(slice.rows, std::size_t(2));
        QCOMPARE(slice.columns, std::size_t(3));
        for (std::size_t row = 0; row < 2; ++row)
            for (std::size_t column = 0; column < 3; ++column) {
                const auto runs = slice.runsOf(row, column);
                QCOMPARE(runs.size(), std::size_t(2));
                for (const std::size_t run : runs) {
                    QCOMPARE(sweep.runs[run].values[0], kRates.values[column]);
                    QCOMPARE(sweep.runs[run].values[1], std::string("4"));
                    QCOMPARE(sweep.runs[run].values[2], kSchemes.values[row]);
                }
                const HeatMap map = mapOf(sweepMap(slice, SweepValue::FinalLoss));
                QCOMPARE(map.raw[at(map, int(row), int(column))], 2 + 0.01 * (double(runs[0]) + 0.5));
            }
        QCOMPARE(runsIn(slice, {0, 1, 1, 2}).size(), std::size_t(8));
    }

    void oneKeyAndNoKeyAreMapsToo() {
        const auto finished = [](std::size_t) { return std::pair{RunState::Finished, 2.0}; };
        const SweepResults one = sample({kRates}, 1, finished), none = sample({}, 3, finished);
        const HeatMap row = mapOf(sweepMap(sliceOf(one, defaultAxes(one.spec)), SweepValue::FinalLoss));
        QCOMPARE(row.rows, 1);
        QCOMPARE(row.columns, 3);
        const HeatMap cell = mapOf(sweepMap(sliceOf(none, defaultAxes(none.spec)), SweepValue::FinalLoss));
        QCOMPARE(cell.rows * cell.columns, 1);
        QCOMPARE(cell.runs[0].states.size(), std::size_t(3));
        QVERIFY(!sweepCurves(sliceOf(none, defaultAxes(none.spec))).empty_text.isEmpty());
    }

    void curvesAreMediansWithTheirSeeds() {
        const SweepResults sweep = mixed();
        const Figure figure = sweepCurves(sliceOf(sweep, defaultAxes(sweep.spec)));
        const Plot& plot = figure.plots.front();
        QCOMPARE(plot.curves.size(), std::size_t(2));
        QCOMPARE(plot.curves[0].name, QString("Pre-LN"));
        QCOMPARE(plot.curves[0].x, std::vector<double>({0.0003, 0.003}));  // 0.03 is not trained
        QCOMPARE(plot.curves[0].y, std::vector<double>({2.484375, 2.4375}));
        QVERIFY(std::isinf(plot.curves[1].y[2]));  // a gap with its mark
        QCOMPARE(plot.bands[1].low[1], 2.28125);
        QCOMPARE(plot.bands[1].high[1], 2.9);
        QCOMPARE(plot.x.scale, Scale::Log);
        QVERIFY(plot.curves[0].line);
    }

    /// A scalar of the recordings: the median of the seeds; coloured by its logarithm where it varies by
    /// decades.
    void aScalarOfTheProbes() {
        const SweepResults sweep = mixed();
        SweepSlice slice = sliceOf(sweep, defaultAxes(sweep.spec));
        const SweepScalar scalar{"gradients", "hidden", SweepScalar::Over::FirstOverLast};
        std::map<std::size_t, double> values;
        for (std::size_t run = 0; run < 6; ++run) values[run] = std::pow(10.0, double(run));
        setScalar(slice, scalar, values);
        const Figure figure = sweepMap(slice, SweepValue::Scalar);
        const HeatMap map = mapOf(figure);
        QVERIFY(figure.title.contains("gradients: hidden, first over last"));
        QCOMPARE(map.raw[at(map, 0, 0)], 10.0);  // of 1, 10, 100
        QCOMPARE(map.raw[at(map, 0, 1)], 1e4);
        QCOMPARE(map.value[at(map, 0, 1)], 4.0);
        QVERIFY(map.neutral[at(map, 1, 0)]);  // not read, or without a value
        for (auto& [run, value] : values) value = double(run);
        setScalar(slice, scalar, values);
        QCOMPARE(mapOf(sweepMap(slice, SweepValue::Scalar)).value[at(map, 0, 1)], 4.0);  // 3, 4, 5: linear
    }

    /// Words have no values between them: dots. A scheme has one hue, in whatever row it is.
    void aKeyOfWordsHasDots() {
        const SweepResults sweep = mixed();
        SweepAxes axes = defaultAxes(sweep.spec);
        std::swap(axes.row, axes.column);
        const Figure words = sweepCurves(sliceOf(sweep, axes)),
                     rates = sweepCurves(sliceOf(sweep, defaultAxes(sweep.spec)));
        for (const Curve& curve : words.plots.front().curves) QVERIFY(!curve.line && curve.markers);
        QVERIFY(words.plots.front().bands.empty());
        // The axis has all values of the key, also those that no run has yet.
        QCOMPARE(words.plots.front().x.range, (std::pair{-0.5, 1.5}));
        const auto [low, high] = rates.plots.front().x.range.value();
        QVERIFY(low > 0 && low < 3e-4 && high > 0.03);
        SweepResults reversed = sample({{"stack.scheme", {"post", "pre"}}, kRates}, 1, [](std::size_t) {
            return std::pair{RunState::Finished, 2.0};
        });
        const Figure other = sweepCurves(sliceOf(reversed, defaultAxes(reversed.spec)));
        QCOMPARE(other.plots.front().curves[1].name, rates.plots.front().curves[0].name);
        QCOMPARE(other.plots.front().curves[1].role.run, rates.plots.front().curves[0].role.run);
        QVERIFY(other.plots.front().curves[0].role.run != other.plots.front().curves[1].role.run);
    }

    /// No text overlaps on screen and on paper, in every file format; the CSV has the medians and the counts.
    void itIsExported() {
        const SweepResults sweep = mixed();
        const Figure figure = sweepMap(sliceOf(sweep, defaultAxes(sweep.spec)), SweepValue::FinalLoss);
        const FigureLayout layout =
            layoutFigure(figure, {780, 360}, screenStyle(Theme::make(Theme::Kind::Light)));
        QCOMPARE(layout.plots[0].cells.size(), std::size_t(6));
        for (const CellShape& cell : layout.plots[0].cells) {
            QCOMPARE(cell.glyphs.size(), std::size_t(3));
            for (const GlyphShape& glyph : cell.glyphs) QVERIFY(cell.rect.contains(glyph.rect));
        }
        ExportOptions options;
        options.size_mm = {120, 70};
        QCOMPARE(collisionTexts(collisionsOf(figure, options)), QStringList());
        for (const FileFormat format : {FileFormat::Svg, FileFormat::Pdf, FileFormat::Png}) {
            options.format = format;
            QVERIFY(renderFigure(figure, options).size() > 1000);
        }
        const QString csv = QString::fromUtf8(csvText(figure));
        QVERIFY2(csv.contains("0,median,Post-LN,1,3×10⁻³,0,2.3125,2.28125,2.9,,,,3"), qPrintable(csv));
        QVERIFY2(csv.contains("0,stalled,Post-LN,1,3×10⁻³,0,,,,,,,1"), qPrintable(csv));
    }

    /// Many seeds: the states are counted next to one glyph each.
    void manySeedsAreCounted() {
        const SweepResults sweep = sample({kSchemes, kRates}, 40, [](std::size_t run) {
            return std::pair{run % 4 == 0 ? RunState::Stalled : RunState::Finished, 2.0};
        });
        const Figure figure = sweepMap(sliceOf(sweep, defaultAxes(sweep.spec)), SweepValue::FinalLoss);
        const FigureLayout layout =
            layoutFigure(figure, {780, 360}, screenStyle(Theme::make(Theme::Kind::Light)));
        const CellShape& cell = layout.plots[0].cells.front();
        QCOMPARE(cell.glyphs.size(), std::size_t(2));
        QCOMPARE(cell.counts.size(), std::size_t(2));
        QCOMPARE(cell.counts[0].text, QString("30"));
        QCOMPARE(cell.counts[1].text, QString("10"));
    }

    /// Mouse and keys mark cells and rectangles; without setCellsMarkable() a drag is a click.
    void cellsAreMarkedByMouseAndKeys() {
        const SweepResults sweep = mixed();
        PlotView view;
        view.resize(780, 360);
        view.setFigure(std::make_shared<const Figure>(
            sweepMap(sliceOf(sweep, defaultAxes(sweep.spec)), SweepValue::FinalLoss)));
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        QSignalSpy clicked(&view, &PlotView::cellClicked), marked(&view, &PlotView::cellsMarked);
        const PlotLayout& plot = view.figureLayout().plots[0];
        const auto place = [&](int row, int column) {
            return QPointF(plot.x.toPixel(column + 0.5), plot.y.toPixel(row + 0.5)).toPoint();
        };
        const auto drag = [&](const QPoint& from, const QPoint& to) {
            QTest::mousePress(view.viewport(), Qt::LeftButton, {}, from);
            QMouseEvent move(QEvent::MouseMove, QPointF(to), view.viewport()->mapToGlobal(QPointF(to)),
                             Qt::NoButton, Qt::LeftButton, {});
            QCoreApplication::sendEvent(view.viewport(), &move);
            QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, to);
        };
        drag(place(1, 0), place(0, 1));
        QCOMPARE(marked.size(), 0);
        QCOMPARE(clicked.takeFirst(), QVariantList({0, 1, 0}));
        view.setCellsMarkable(true);
        drag(place(1, 0), place(0, 1));
        QCOMPARE(marked.takeFirst(), QVariantList({0, 0, 1, 1, 0}));
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, place(1, 2));
        QCOMPARE(clicked.takeFirst(), QVariantList({1, 2, 0}));
        view.setFocus();
        for (const int key : {Qt::Key_Left, Qt::Key_Down, Qt::Key_Right})
            QTest::keyClick(&view, Qt::Key(key));
        QVERIFY2(view.hoverText().contains("1 of 3 stalled"), qPrintable(view.hoverText()));
        QTest::keyClick(&view, Qt::Key_Return);
        QCOMPARE(clicked.takeFirst(), QVariantList({0, 1, 0}));
        QTest::keyClick(&view, Qt::Key_Right, Qt::ShiftModifier);
        QTest::keyClick(&view, Qt::Key_Up, Qt::ShiftModifier);
        QTest::keyClick(&view, Qt::Key_Return);
        QCOMPARE(marked.takeFirst(), QVariantList({0, 1, 1, 2, 0}));
        QCOMPARE(clicked.size(), 0);
    }
};

NORMSCOPE_WIDGET_TEST(SweepFigureTest)
#include "sweep_figure_test.moc"
