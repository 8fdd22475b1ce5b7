// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/groups/grouped_figure.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/group_runs.h"
#include "widgets/figures/csv.h"
#include "widgets/figures/panels/panel_registry.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
using synthetic::GroupRuns;

namespace {

Figure draw(const GroupRuns& all, const std::string& panel, GroupDrawing drawing = {},
            const PanelOptions& options = {}, const std::string& by = "scheme") {
    PanelInput input;
    input.runs = all.runs;
    input.options = options;
    return groupedFigure(panelInfo(panel), input, groupRuns(all.runs, by), drawing);
}

Curve curve(std::vector<double> x, std::vector<double> y) {
    Curve c;
    c.x = std::move(x);
    c.y = std::move(y);
    return c;
}

QStringList notesOf(const Figure& figure) {
    QStringList texts;
    for (const Note& note : figure.notes) texts << note.text;
    return texts;
}

}  // namespace

class GroupedFigureTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void medianAndSpreads() {
        const Curve a = curve({0, 1}, {1, 10}), b = curve({0, 1}, {2, 20}), c = curve({0, 1}, {6, 60}),
                    d = curve({0, 1}, {3, 30});
        const std::vector<const Curve*> odd{&a, &b, &c}, even{&a, &b, &c, &d};
        const GroupCurve range = groupCurve(odd, Spread::MinMax, Scale::Linear);
        QCOMPARE(range.median, (std::vector<double>{2, 20}));
        QCOMPARE(range.low, (std::vector<double>{1, 10}));
        QCOMPARE(range.high, (std::vector<double>{6, 60}));
        QCOMPARE(range.runs, (std::vector<int>{3, 3}));
        // numpy.percentile([1, 2, 3, 6], [25, 50, 75]) = 1.75, 2.5, 3.75
        const GroupCurve quartiles = groupCurve(even, Spread::Quartiles, Scale::Linear);
        QCOMPARE(quartiles.low[0], 1.75);
        QCOMPARE(quartiles.median[0], 2.5);
        QCOMPARE(quartiles.high[0], 3.75);
        // s of 1, 2, 6 is √7, over √3; of the logarithms a factor, the same at 1 and at 10.
        const GroupCurve error = groupCurve(odd, Spread::StandardError, Scale::Linear);
        QVERIFY(std::abs(error.high[0] - (2 + std::sqrt(7.0 / 3))) < 1e-12);
        const GroupCurve factor = groupCurve(odd, Spread::StandardError, Scale::Log);
        QVERIFY(std::abs(factor.high[0] / 2 - factor.high[1] / 20) < 1e-12);
        QVERIFY(factor.low[0] > 0);
        const GroupCurve one = groupCurve({&a}, Spread::StandardError, Scale::Linear);
        QVERIFY(std::isnan(one.low[0]) && one.median[0] == 1);
    }

    void stepsThatARunLacksAreNotInTheMedian() {
        const Curve whole = curve({0, 1, 2}, {1, 1, 1}), ended = curve({0, 1}, {3, 3}),
                    diverged = curve({0, 1, 2}, {5, INFINITY, kNaN});
        const GroupCurve group = groupCurve({&whole, &ended, &diverged}, Spread::MinMax, Scale::Linear);
        QCOMPARE(group.x, (std::vector<double>{0, 1, 2}));
        QCOMPARE(group.median, (std::vector<double>{3, 2, 1}));
        QCOMPARE(group.runs, (std::vector<int>{3, 2, 1}));
        const Curve gone = curve({0}, {kNaN});
        QVERIFY(std::isnan(groupCurve({&gone}, Spread::MinMax, Scale::Linear).median[0]));
    }

    void aMedianAndABandForEachGroup() {
        const GroupRuns all = synthetic::sixTimesThree();
        const Figure figure = draw(all, "growth");
        QCOMPARE(figure.plots.size(), std::size_t(1));
        const Plot& plot = figure.plots[0];
        QCOMPARE(plot.curves.size(), std::size_t(6));
        QCOMPARE(plot.bands.size(), std::size_t(6));
        for (int g = 0; g < 6; ++g) {
            const Curve& median = plot.curves[std::size_t(g)];
            QCOMPARE(median.role.run, g);
            QCOMPARE(median.y.size(), std::size_t(25));
            QCOMPARE(median.runs, std::vector<int>(25, 3));
            QVERIFY(plot.bands[std::size_t(g)].is_spread);
            QVERIFY(plot.bands[std::size_t(g)].low[5] < median.y[5]);
            QVERIFY(plot.bands[std::size_t(g)].high[5] > median.y[5]);
        }
        QCOMPARE(plot.curves[1].name, QString("Post-LN"));
        QCOMPARE(figure.subtitle, QString("at step 99"));
        QCOMPARE(notesOf(figure),
                 QStringList({"Median of 3 seeds; band: minimum to maximum", "Post-LN: 2 of 3 stalled"}));
        QVERIFY(plot.chips.empty());
        GroupRuns shallow;  // what all runs have in common has no run's colour
        for (int seed = 42; seed <= 44; ++seed)
            shallow.add("pre", seed, "", 3), shallow.add("post", seed, "", 3);
        QVERIFY(draw(shallow, "growth").plots[0].chips.empty());
        QVERIFY(draw(all, "growth", {Spread::None}).plots[0].bands.empty());
    }

    void lossesHaveFloorsOnceAndNoEndMarks() {
        const GroupRuns all = synthetic::sixTimesThree();
        const Figure figure = draw(all, "training");
        const Plot& plot = figure.plots[0];
        QCOMPARE(plot.curves.size(), std::size_t(6));
        for (const Curve& c : plot.curves) QCOMPARE(c.end.kind, EndMark::Kind::None);
        QStringList floors;
        for (const ReferenceLine& line : plot.references) floors << line.label;
        QCOMPARE(floors, QStringList({"Uniform guess", "Unigram entropy"}));
        QCOMPARE(plot.references[1].value, 2.87);  // the median of the seeds' values
    }

    /// A diverged run's newest sample is of an earlier step: it is counted, not mixed in.
    void samplesOfAnotherStepAreCountedNotMixed() {
        GroupRuns all = synthetic::sixTimesThree();
        RunData& run = *all.owned[1];  // Post-LN, seed 42
        run.probes["growth"].pop_back();
        run.steps = {};
        for (int step = 0; step < 60; ++step) run.steps.append({step, {{"loss", 3.0}}});
        run.outcome = {RunState::Diverged, 59, "step 59 · inf"};
        const Figure figure = draw(all, "growth");
        const Curve& post = figure.plots[0].curves[1];
        QCOMPARE(*post.step, std::int64_t(99));
        QCOMPARE(post.runs, std::vector<int>(25, 2));
        QCOMPARE(figure.subtitle, QString("at step 99"));
        QVERIFY2(notesOf(figure).contains("Post-LN: 2 of 3 stalled, 1 diverged; drawn: 2 of 3 runs"),
                 qPrintable(notesOf(figure).join('\n')));
        const Figure loss = draw(all, "training");
        QVERIFY2(
            notesOf(loss).contains("Post-LN: 2 of 3 stalled, 1 diverged; drawn: 2 of 3 runs from step 60 on"),
            qPrintable(notesOf(loss).join('\n')));
    }

    /// Without any run at the common step, a group shows its own, and states so.
    void aGroupWithoutTheCommonStepNamesItsOwn() {
        GroupRuns all = synthetic::sixTimesThree();
        for (const std::size_t i : {1, 7, 13}) {
            RunData& run = *all.owned[i];
            run.probes["growth"].pop_back();
            run.steps = {};
            for (int step = 0; step < 60; ++step) run.steps.append({step, {{"loss", 3.0}}});
            run.outcome = {RunState::Diverged, 59, "step 59 · inf"};
        }
        const Figure figure = draw(all, "growth", {Spread::MinMax, true});
        QCOMPARE(figure.plots[0].curves[1].name, QString("Post-LN (step 50)"));
        QCOMPARE(figure.plots[1].curves.size(), std::size_t(4));  // no ratio over two steps
    }

    void theStripOfRatiosDividesMedians() {
        const GroupRuns all = synthetic::sixTimesThree();
        const Figure figure = draw(all, "growth", {Spread::MinMax, true});
        QCOMPARE(figure.plots.size(), std::size_t(2));
        QVERIFY(figure.plots[1].is_ratio);
        QCOMPARE(figure.plots[1].curves.size(), std::size_t(5));
        const Plot& main = figure.plots[0];
        QCOMPARE(figure.plots[1].curves[0].y[7], main.curves[1].y[7] / main.curves[0].y[7]);
    }

    void layersOverStepsHaveAPlotForEachGroup() {
        const GroupRuns all = synthetic::sixTimesThree();
        const Figure figure = draw(all, "gradients", {}, {{"x", "step"}});
        QCOMPARE(figure.plots.size(), std::size_t(6));
        QVERIFY(figure.shared_axes && figure.colour_key);
        QCOMPARE(figure.plots[3].heading, QString("DeepNorm"));
        QCOMPARE(figure.plots[3].curves.size(), std::size_t(25));
        QCOMPARE(figure.plots[3].curves[4].runs, std::vector<int>(3, 3));
        QVERIFY(figure.plots[3].bands.empty());
    }

    void moreThanSixGroupsAreSmallMultiples() {
        GroupRuns all = synthetic::sixTimesThree();
        QVERIFY(!draw(all, "growth").shared_axes);
        for (int seed = 42; seed <= 44; ++seed) all.add("output", seed);
        const Figure figure = draw(all, "growth");
        QCOMPARE(figure.plots.size(), std::size_t(7));
        QVERIFY(figure.shared_axes);
        const Plot& second = figure.plots[1];
        QCOMPARE(second.heading, QString("Post-LN"));
        QCOMPARE(second.bands.size(), std::size_t(1));
        QCOMPARE(second.curves.size(), std::size_t(7));
        int own = 0;
        for (const Curve& c : second.curves) own += c.kind == LineKind::Measured;
        QCOMPARE(own, 1);
        QCOMPARE(second.curves.back().role.run, 1);                    // on top
        QCOMPARE(csvText(figure).count("median"), qsizetype(7 * 25));  // the others once, in their own plots
        QCOMPARE(draw(synthetic::sixTimesThree(), "growth", {Spread::MinMax, false, true}).plots.size(),
                 std::size_t(6));
    }

    void theTableHasMedianLowHighAndCount() {
        const GroupRuns all = synthetic::sixTimesThree();
        const QByteArray csv = csvText(draw(all, "training"));
        const QList<QByteArray> lines = csv.split('\n');
        QCOMPARE(lines[0], QByteArray("plot,kind,series,x,x_name,y,value,low,high,run,step,error,n"));
        const QList<QByteArray> row = lines[1].split(',');
        QCOMPARE(row[1], QByteArray("median"));
        QCOMPARE(row[2], QByteArray("Pre-LN"));
        QCOMPARE(row[6].toDouble(), 3.0);
        QCOMPARE(row[7].toDouble(), 2.9);
        QCOMPARE(row[8].toDouble(), 3.1);
        QCOMPARE(row[9], QByteArray("Pre-LN"));
        QCOMPARE(row[12], QByteArray("3"));
        QVERIFY(!csv.contains(",band,"));
    }

    void panelsWithoutCurvesNameThoseThatHaveThem() {
        const GroupRuns all = synthetic::sixTimesThree();
        for (const char* panel : {"theta", "attention", "null_space", "spectra", "jacobian"}) {
            try {
                draw(all, panel);
                QFAIL(panel);
            } catch (const InputError& error) {
                QCOMPARE(
                    QString(error.what()),
                    QString("panel %1: is not drawn in groups of runs, allowed: growth, gradients, training, "
                            "tokens, mismatch, fragility, ranges, residual, updates, lipschitz, importance, "
                            "gates, "
                            "weights, "
                            "shift, paths")
                        .arg(panel));
            }
        }
        QVERIFY_EXCEPTION_THROWN(draw(all, "gradients", {}, {{"quantity", "factors"}}), InputError);
    }

    void withoutSamplesTheReasonIsGiven() {
        const GroupRuns all = synthetic::sixTimesThree();
        const Figure figure = draw(all, "residual");
        QVERIFY(figure.plots.empty());
        QVERIFY2(figure.empty_text.contains("not measured"), qPrintable(figure.empty_text));
    }
};

NORMSCOPE_TEST(GroupedFigureTest)
#include "grouped_figure_test.moc"
