// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/theta_panel.h"

#include "tests/widgets/panels/synthetic_run.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

/// Three layers of two heads.
RunData withTheta(const std::string& name, double width) {
    RunData r = syn::run(name);
    syn::add(
        r, "theta", 0,
        {syn::array("max", {3, 2}, {1, 1, 1, 1, 1, 1}),
         syn::array("mean", {3, 2}, {1, 0.9, 0.99, 0, 1 - 1e-9, kNaN}),
         syn::array("below_099", {3, 2}, {0, 0.004, 0.37, 1, 0.5, kNaN}), syn::array("width", {}, {width})});
    return r;
}

}  // namespace

class ThetaPanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void tilesColourTheLogAndPrintTheShare() {
        const RunData a = withTheta("A", 1e-8);
        PanelInput input;
        input.runs = {&a};
        input.selected_layer = 2;
        input.selected_head = 1;
        const Figure f = buildTheta(input);
        QCOMPARE(f.title, "θ");
        const HeatMap& map = f.plots[0].maps.at(0);
        QCOMPARE(map.rows, 3);
        QCOMPARE(map.columns, 2);
        QCOMPARE(map.raw[1], 0.9);
        QVERIFY(std::abs(map.value[1] + 1) < 1e-12);
        QVERIFY(std::abs(map.value[2] + 2) < 1e-12);
        QCOMPARE(map.value[3], 0.0);
        QCOMPARE(map.value[0], -6.0);  // clamped to the scale
        QVERIFY(std::isnan(map.value[5]));
        QCOMPARE(map.neutral, std::vector<bool>({true, false, false, false, true, false}));
        QCOMPARE(map.text, QStringList({"0 %", "0.4 %", "37 %", "100 %", "50 %", ""}));
        QCOMPARE(map.low, -6.0);
        QCOMPARE(map.high, 0.0);
        QCOMPARE(map.scale_label, "log₁₀(1 − mean θ)");
        QCOMPARE(map.row_names, QStringList({"1", "2", "3"}));
        QCOMPARE(map.selected_row, 2);
        QCOMPARE(map.selected_column, 1);
        QVERIFY(f.summary.contains("A: 37 % of the rows"));
    }

    void neutralFollowsTheCertificate() {
        const RunData a = withTheta("A", 1e-10);
        PanelInput input;
        input.runs = {&a};
        QCOMPARE(buildTheta(input).plots[0].maps[0].neutral[4], false);
    }

    void runsStandSideBySideOnOneScale() {
        const RunData a = withTheta("A", 0), b = withTheta("B", 0), bare = syn::run("bare");
        PanelInput input;
        input.runs = {&a, &bare, &b};
        const Figure f = buildTheta(input);
        QVERIFY(f.side_by_side);
        QCOMPARE(f.plots.size(), 2u);
        QCOMPARE(f.plots[1].heading, "B");
        QCOMPARE(f.plots[1].maps[0].role.run, 2);
        QCOMPARE(f.plots[0].chips[0].text, "bare: theta was not measured");
    }

    void otherQuantities() {
        const RunData a = withTheta("A", 0);
        PanelInput input;
        input.runs = {&a};
        input.options = {{"quantity", "max"}};
        QCOMPARE(buildTheta(input).plots[0].maps[0].raw[1], 1.0);
        input.options = {{"quantity", "below_099"}};
        const Figure f = buildTheta(input);
        QCOMPARE(f.plots[0].maps[0].value[2], 0.37);
        QCOMPARE(f.plots[0].maps[0].low, 0.0);
        QCOMPARE(f.plots[0].maps[0].high, 1.0);
        QVERIFY(!f.plots[0].maps[0].neutral[3]);
        input.selected_layer = 7;  // a deeper run is selected
        QCOMPARE(buildTheta(input).plots[0].maps[0].selected_row, -1);
    }
};

QTEST_GUILESS_MAIN(ThetaPanelTest)
#include "theta_panel_test.moc"
