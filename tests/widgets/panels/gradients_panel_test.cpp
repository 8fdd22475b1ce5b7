// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/gradients_panel.h"

#include "tests/widgets/panels/synthetic_run.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

RunData withGradients(const std::string& name, std::vector<double> hidden, std::vector<double> params) {
    RunData r = syn::run(name);
    const std::size_t depth = params.size() / 2;
    syn::add(r, "gradients", 0,
             {syn::vector("hidden", std::move(hidden)), syn::array("params", {depth, 2}, std::move(params)),
              syn::array("total", {}, {1})});
    return r;
}

}  // namespace

class GradientsPanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void printsTheRatioOfFirstToLastLayer() {
        const RunData a = withGradients("Pre-LN", {9, 9, 2, 9, 4}, {1, 1, 1, 1});
        const RunData b = withGradients("Post-LN", {9, 9, 4e-9, 9, 1}, {3, 4, 6, 8});
        PanelInput input;
        input.runs = {&a, &b};
        Figure f = buildGradients(input);
        QCOMPARE(f.plots[0].chips.size(), 2u);
        QCOMPARE(f.plots[0].chips[0].text, "Pre-LN first/last 0.5, held-out");
        QCOMPARE(f.plots[0].chips[1].text, "Post-LN first/last 4e-9, held-out");
        QCOMPARE(f.plots[0].chips[1].role->run, 1);
        QCOMPARE(f.plots.size(), 2u);
        QCOMPARE(f.plots[1].curves[0].y[2], 2e-9);
        QCOMPARE(f.plots[1].y.ticks.front().label, "1e-8");
        QCOMPARE(f.plots[1].y.ticks.back().label, "1e8");
        QVERIFY(f.summary.contains("Post-LN: gradient changes by a factor of 4e-9 from layer 2 to 1"));

        input.options = {{"quantity", "params"}};
        f = buildGradients(input);
        QCOMPARE(f.plots[0].curves[1].x, std::vector<double>({0.5, 1, 1.5, 2}));
        QCOMPARE(f.plots[0].curves[1].y, std::vector<double>({3, 4, 6, 8}));
        QCOMPARE(f.plots[0].chips[1].text, "Post-LN first/last 0.5, held-out");  // 5 over 10
        QCOMPARE(f.x_names.front(), "layer 1 · attn");
        QCOMPARE(f.x_names.size(), 4);
        QVERIFY(f.quantity != "‖∂L/∂h‖");
    }

    void oneLayerHasNoRatio() {
        const RunData a = withGradients("A", {1, 2, 3}, {1, 2});
        PanelInput input;
        input.runs = {&a};
        QVERIFY(buildGradients(input).plots[0].chips.empty());
        QVERIFY(!gradientRatio(a.probes.at("gradients")[0]));
    }

    void nonFiniteGradientsAreNamed() {
        const RunData a = withGradients("A", {1, 1, kNaN, 1, 1}, {1, 1, 1, 1});
        PanelInput input;
        input.runs = {&a};
        const Figure f = buildGradients(input);
        QVERIFY(std::isnan(f.plots[0].curves[0].y[2]));
        QCOMPARE(f.plots[0].chips[0].text, "A first/last NaN, held-out");
    }

    void overTheSteps() {
        RunData a = withGradients("A", {1, 2, 3, 4, 5}, {1, 2, 3, 4});
        PanelInput input;
        input.runs = {&a};
        input.options = {{"x", "step"}, {"quantity", "params"}};
        const Figure f = buildGradients(input);
        QCOMPARE(f.plots[0].curves.size(), 4u);
        QCOMPARE(f.plots[0].curves[0].name, "layer 1 · attn");
        QCOMPARE(f.plots[0].curves[0].role.position, 0.25);
        QVERIFY(f.plots[0].curves[0].markers);  // a single sample is a dot
    }
};

QTEST_GUILESS_MAIN(GradientsPanelTest)
#include "gradients_panel_test.moc"
