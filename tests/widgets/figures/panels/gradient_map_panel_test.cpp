// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/gradient_map_panel.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"
#include "widgets/plots/hover.h"

#include <QtTest>
#include <cmath>
#include <limits>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Two layers; at step s the states before, in and after them have 10^s · {1, 5, 2, 5, 3}.
RunData measuredAt(const std::string& name, std::initializer_list<int> steps) {
    RunData r = syn::run(name);
    for (const int step : steps) {
        const double g = std::pow(10.0, step);
        syn::add(r, "gradients", step,
                 {syn::vector("hidden", {g, 5 * g, 2 * g, 5 * g, 3 * g}),
                  syn::array("params", {2, 2}, {3 * g, 4 * g, 6 * g, 8 * g})});
    }
    return r;
}

Figure built(std::initializer_list<const RunData*> runs, std::int64_t step = 0,
             const PanelOptions& options = {}) {
    PanelInput input;
    input.runs = runs;
    input.step = step;
    input.options = options;
    return buildGradientMap(input);
}

double at(const HeatMap& map, int row, int column) {
    return map.raw.at(static_cast<std::size_t>(row * map.columns + column));
}

}  // namespace

class GradientMapPanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Rows are the hidden states that layers add to, columns the steps while they are few.
    void aColumnShowsItsStep() {
        const RunData a = measuredAt("A", {0, 1, 2, 3});
        const Figure f = built({&a}, 2);
        const HeatMap& map = f.plots.at(0).maps.at(0);
        QCOMPARE(map.rows, 3);
        QCOMPARE(map.columns, 4);
        QCOMPARE(map.row_names, (QStringList{"emb", "1", "2"}));
        // log₂(1 + step) / 0.58: 0, 1.7, 2.7, 3.4.
        QVERIFY(map.column_steps == (std::vector<std::int64_t>{0, 1, 2, 3}));
        QCOMPARE(at(map, 0, 0), 1.0);
        QCOMPARE(at(map, 1, 2), 200.0);
        QCOMPARE(at(map, 2, 3), 3000.0);
        QCOMPARE(map.value.at(0), 0.0);
        QCOMPARE(map.low, 0.0);
        QCOMPARE(map.high, std::log10(3000.0));
        QCOMPARE(map.selected_column, 2);
        QVERIFY2(f.summary.contains("A: from 1 to 3×10³"), qPrintable(f.summary));
        const HeatMap params = built({&a}, 0, {{"quantity", "params"}}).plots.at(0).maps.at(0);
        QCOMPARE(params.rows, 2);
        QCOMPARE(params.row_names, (QStringList{"1", "2"}));
        QCOMPARE(at(params, 0, 1), 50.0);
        QCOMPARE(at(params, 1, 1), 100.0);
    }

    /// One time axis and one scale for all runs; a run that ended before has nothing to show there.
    void runsShareTimeAndScale() {
        const RunData a = measuredAt("A", {0, 1, 2, 3, 4, 5, 6, 7}), b = measuredAt("B", {0, 1});
        const Figure f = built({&a, &b});
        QCOMPARE(f.plots.size(), 2u);
        QVERIFY(f.side_by_side);
        const HeatMap &x = f.plots[0].maps[0], &y = f.plots[1].maps[0];
        QCOMPARE(x.columns, y.columns);
        QCOMPARE(x.low, y.low);
        QCOMPARE(x.high, y.high);
        QCOMPARE(y.column_steps.back(), -1);
        QVERIFY(y.neutral.at(static_cast<std::size_t>(y.columns) - 1));
        QVERIFY(!std::isnan(y.value.at(static_cast<std::size_t>(y.columns) - 1)));
        QVERIFY(std::isnan(at(y, 0, y.columns - 1)));
        QVERIFY(!x.neutral.back());
    }

    /// Columns without a sample of their own hold the one before; of several the largest is shown.
    void columnsHoldAndAggregate() {
        const RunData sparse = measuredAt("A", {0, 1, 255});
        const HeatMap held = built({&sparse}).plots.at(0).maps.at(0);
        QCOMPARE(held.columns, 72);
        QCOMPARE(held.column_steps.front(), 0);
        QCOMPARE(held.column_steps.at(70), 1);  // 254 is before the next sample
        QCOMPARE(held.column_steps.back(), 255);
        RunData dense = syn::run("B");
        for (int step = 0; step < 5000; ++step) {
            const double g = step == 4321 ? 7 : 1;
            syn::add(dense, "gradients", step, {syn::vector("hidden", {g, g, g, g, g})});
        }
        const HeatMap largest = built({&dense}).plots.at(0).maps.at(0);
        QCOMPARE(std::count(largest.raw.begin(), largest.raw.end(), 7.0), 3);
        QVERIFY(std::count(largest.column_steps.begin(), largest.column_steps.end(), 4321) == 1);
    }

    /// Gradients that are not finite are marks and never set the scale; zero is not a mark.
    void notFiniteIsMarked() {
        RunData r = syn::run("A");
        syn::add(r, "gradients", 0, {syn::vector("hidden", {1, 1, 2, 1, 0})});
        syn::add(r, "gradients", 1, {syn::vector("hidden", {kNaN, 1, kInf, 1, 8})});
        const HeatMap map = built({&r}).plots.at(0).maps.at(0);
        QCOMPARE(map.low, 0.0);
        QCOMPARE(map.high, std::log10(8.0));
        QCOMPARE(map.value.at(4), 0.0);  // emb, 1, 2 in two columns each
        QVERIFY(std::isnan(map.value.at(1)));
        QVERIFY(std::isinf(map.value.at(3)));
    }

    void theCardNamesLayerAndStep() {
        const RunData a = measuredAt("A", {0, 1, 2, 3}), b = measuredAt("B", {0, 1, 2, 3});
        const Figure f = built({&a, &b});
        HoverPoint point;
        point.plot = 0;
        point.row = 1;
        point.column = 3;
        const auto lines = hoverLines(f, point);
        QVERIFY2(lines.at(0).text.startsWith("layer 1 · step 3"), qPrintable(lines.at(0).text));
        QVERIFY2(lines.at(2).text.contains("2000"), qPrintable(lines.at(2).text));
    }

    void withoutSamplesItStatesWhy() {
        const RunData none = syn::run("A"), some = measuredAt("B", {0});
        QVERIFY(built({&none}).plots.empty());
        QVERIFY(!built({&none}).empty_text.isEmpty());
        const Figure f = built({&none, &some});
        QCOMPARE(f.plots.size(), 1u);
        QCOMPARE(f.plots[0].maps[0].role.run, 1);
        QVERIFY(!f.plots[0].chips.empty());
        QVERIFY(built({}).plots.empty());
    }
};

NORMSCOPE_TEST(GradientMapPanelTest)
#include "gradient_map_panel_test.moc"
