// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/updates_panel.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

RunData withUpdates(const std::string& name, double times, bool tied) {
    RunData r = syn::run(name);
    for (int step : {0, 3}) {
        std::vector<std::string> groups{"embedding",     "blocks.0.attn", "blocks.0.ffn",
                                        "blocks.1.attn", "blocks.1.ffn",  "norms"};
        std::vector<double> ratios{1 * times, 2 * times, 3 * times, 4 * times, 5 * times + step, 6 * times};
        if (!tied) {
            groups.push_back("head");
            ratios.push_back(7 * times);
        }
        syn::add(r, "updates", step, {syn::vector("update_ratio", ratios)}, {{"groups", groups}});
    }
    return r;
}

}  // namespace

class UpdatesPanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Embedding and sub-layers along the depth; head and norms after it, with separate ticks in every plot.
    void groupsAlongTheDepth() {
        const RunData a = withUpdates("A", 1, false), b = withUpdates("B", 0.5, true);
        PanelInput input;
        input.runs = {&a, &b};
        input.step = 0;
        const Figure f = buildUpdates(input);
        QCOMPARE(f.plots.size(), 2u);
        const std::vector<Curve>& curves = f.plots[0].curves;
        QCOMPARE(curves.size(), 5u);
        QCOMPARE(curves[0].x, std::vector<double>({0, 0.5, 1, 1.5, 2}));
        QCOMPARE(curves[1].y, std::vector<double>({0.5, 1, 1.5, 2, 2.5}));
        QCOMPARE(curves[2].name, "A, head");
        QCOMPARE(curves[2].x, std::vector<double>({3}));
        QCOMPARE(curves[2].y, std::vector<double>({7}));
        QCOMPARE(curves[4].name, "B, norms");
        QCOMPARE(curves[4].x, std::vector<double>({4}));
        QCOMPARE(curves[4].y, std::vector<double>({3}));
        for (const Plot& plot : f.plots) {
            QCOMPARE(plot.x.ticks.back().label, "norms");
            QCOMPARE(plot.x.ticks.back().value, 4.0);
        }
        QCOMPARE(f.x_names.back(), "norms");
        QCOMPARE(f.plots[1].curves[0].y, std::vector<double>(5, 0.5));
        QVERIFY2(f.summary.contains("A: 1 first, 5 in the last layer"), qPrintable(f.summary));
    }

    void overTheSteps() {
        const RunData a = withUpdates("A", 1, false), b = withUpdates("B", 1, true);
        PanelInput input;
        input.runs = {&a, &b};
        input.options = {{"x", "step"}};
        const Figure f = buildUpdates(input);
        QCOMPARE(f.plots.size(), 2u);
        QCOMPARE(f.plots[0].curves.size(), 7u);
        QCOMPARE(f.plots[0].curves[4].y, std::vector<double>({5, 8}));
        QCOMPARE(f.plots[0].curves[5].name, "head");
        QCOMPARE(f.plots[1].curves.size(), 6u);
        QCOMPARE(f.plots[1].curves[5].name, "norms");
    }

    /// A foreign file may hold an array that does not fit its labels.
    void whatDoesNotFitIsNotDrawn() {
        RunData a = syn::run("A");
        syn::add(a, "updates", 0, {syn::vector("update_ratio", {1, 2})}, {{"groups", {"embedding"}}});
        PanelInput input;
        input.runs = {&a};
        QVERIFY(buildUpdates(input).plots.empty());
    }
};

NORMSCOPE_TEST(UpdatesPanelTest)
#include "updates_panel_test.moc"
