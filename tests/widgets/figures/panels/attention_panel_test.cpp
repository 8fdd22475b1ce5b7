// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/attention_panel.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

RunData withAttention(const std::string& name, double shift) {
    RunData r = syn::run(name);
    for (const int step : {0, 3})
        syn::add(r, "attention", step,
                 {syn::array("entropy", {2, 2}, {0.9 - shift, 0.8, 0.7, step ? kNaN : 0.5}),
                  syn::array("max_logit", {2, 2}, {1, 2, 3, 4 + shift}),
                  syn::array("sink_mass", {2, 2}, {0.1, 0.2, 0.3, 0.4})});
    return r;
}

}  // namespace

class AttentionPanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void mapsOnOneScale() {
        const RunData a = withAttention("A", 0), b = withAttention("B", 0.5);
        PanelInput input;
        input.runs = {&a, &b};
        input.step = 0;
        const Figure f = buildAttention(input);
        QCOMPARE(f.title, "Attention");
        QCOMPARE(f.plots.size(), 2u);
        QCOMPARE(f.plots[1].heading, "B");
        QCOMPARE(f.plots[0].maps[0].low, 0.4);
        QCOMPARE(f.plots[0].maps[0].high, 0.9);
        QCOMPARE(f.plots[0].maps[0].text, QStringList({"0.9", "0.8", "0.7", "0.5"}));
        input.options = {{"quantity", "max_logit"}};
        QCOMPARE(buildAttention(input).plots[1].maps[0].raw[3], 4.5);
        input.options = {{"quantity", "sink_mass"}};
        QCOMPARE(buildAttention(input).plots[1].maps[0].raw[3], 0.4);
        QVERIFY(buildAttention(input).formula.contains("first token"));
    }

    void overTheSteps() {
        const RunData a = withAttention("A", 0);
        PanelInput input;
        input.runs = {&a};
        input.options = {{"x", "step"}};
        const Figure f = buildAttention(input);
        QCOMPARE(f.plots.at(0).curves.size(), 2u);
        QCOMPARE(f.plots[0].curves[1].y, std::vector<double>({0.6, 0.7}));
        QVERIFY(f.plots[0].y.scale == Scale::Linear);
    }
};

NORMSCOPE_TEST(AttentionPanelTest)
#include "attention_panel_test.moc"
