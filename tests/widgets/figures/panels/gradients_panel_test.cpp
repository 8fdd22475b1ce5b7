// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/gradients_panel.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"

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
        QCOMPARE(f.plots[0].chips[0].text, "Pre-LN, layer 1 over 2: 0.5");
        QCOMPARE(f.plots[0].chips[1].text, "Post-LN, layer 1 over 2: 4×10⁻⁹");
        QCOMPARE(f.plots[0].chips[1].role->run, 1);
        QCOMPARE(f.plots.size(), 2u);
        QCOMPARE(f.plots[1].curves[0].y[2], 2e-9);
        QCOMPARE(f.plots[1].y.ticks.front().label, "10⁻⁸");
        QCOMPARE(f.plots[1].y.ticks.back().label, "10⁸");
        // Both ends in one notation, also where a decimal would be short.
        const RunData c = withGradients("Peri-LN", {9, 9, 4e-4, 9, 4}, {1, 1, 1, 1});
        input.runs = {&a, &c};
        const Plot strip = buildGradients(input).plots[1];
        QCOMPARE(strip.y.ticks.front().label, "10⁻³");
        QCOMPARE(strip.y.ticks.back().label, "10³");
        input.runs = {&a, &b};
        QVERIFY(f.summary.contains("Post-LN: gradient changes by a factor of 4×10⁻⁹ from layer 2 to 1"));

        input.options = {{"quantity", "params"}};
        f = buildGradients(input);
        QCOMPARE(f.plots[0].curves[1].x, std::vector<double>({0.5, 1, 1.5, 2}));
        QCOMPARE(f.plots[0].curves[1].y, std::vector<double>({3, 4, 6, 8}));
        QCOMPARE(f.plots[0].chips[1].text, "Post-LN, layer 1 over 2: 0.5");  // 5 over 10
        QCOMPARE(f.x_names.front(), "layer 1 · attn");
        QCOMPARE(f.x_names.size(), 4);
        QVERIFY(f.quantity != "‖∂L/∂h‖");
    }

    /// The summary has what would cover the curves.
    void ofManyRunsTheRatiosAreNotPrinted() {
        std::vector<RunData> runs;
        for (int i = 0; i < 7; ++i)
            runs.push_back(withGradients("R" + std::to_string(i), {9, 9, 2, 9, 4}, {1, 1, 1, 1}));
        PanelInput input;
        for (std::size_t i = 0; i < 6; ++i) input.runs.push_back(&runs[i]);
        QCOMPARE(buildGradients(input).plots[0].chips.size(), 6u);
        input.runs.push_back(&runs[6]);
        const Figure f = buildGradients(input);
        QVERIFY(f.plots[0].chips.empty());
        QVERIFY(f.summary.contains("R6: gradient changes by a factor of 0.5 from layer 2 to 1"));
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
        QCOMPARE(f.plots[0].chips[0].text, "A, layer 1 over 2: NaN");
    }

    /// The median over the tokens with its quartiles, and how much of the norm token 1 has.
    void tokensAreABand() {
        RunData a = syn::run("Post-LN");
        syn::add(a, "transport", 0,
                 {syn::vector("median_token", {1, 1, 0.14, 0.5, 1}),
                  syn::vector("lower_quartile", {1, 1, 0.1, 0.4, 1}),
                  syn::vector("upper_quartile", {1, 2, 0.2, 0.6, 1}),
                  syn::vector("first_token_share", {0.9, 0.9, 0.912, 0.5, 0.1})});
        PanelInput input;
        input.runs = {&a};
        input.options = {{"quantity", "tokens"}};
        const Figure f = buildGradients(input);
        QCOMPARE(f.plots[0].curves[0].y, std::vector<double>({1, 1, 0.14, 0.5, 1}));
        QCOMPARE(f.plots[0].bands.size(), 1u);
        QCOMPARE(f.plots[0].bands[0].low, std::vector<double>({1, 1, 0.1, 0.4, 1}));
        QCOMPARE(f.plots[0].bands[0].high, std::vector<double>({1, 2, 0.2, 0.6, 1}));
        QCOMPARE(f.plots[0].chips[0].text, "Post-LN, layer 1 over 2: 0.14 · token 1 carries 91 %");
        QVERIFY(f.summary.contains("median token's gradient changes by a factor of 0.14 from layer 2 to 1"));
        // A run that has not recorded the probe.
        const RunData b = withGradients("Pre-LN", {9, 9, 2, 9, 4}, {1, 1, 1, 1});
        input.runs = {&b};
        QVERIFY(buildGradients(input).plots.empty() || buildGradients(input).plots[0].curves.empty());
    }

    /// The scale of h does not matter: what is shown is its product with the gradient.
    void scaleFree() {
        RunData a = syn::run("A");
        syn::add(a, "gradients", 0,
                 {syn::vector("hidden", {9, 9, 2, 9, 4}), syn::vector("scaled", {1, 2, 3, 4, 6})});
        PanelInput input;
        input.runs = {&a};
        input.options = {{"quantity", "scaled"}};
        const Figure f = buildGradients(input);
        QCOMPARE(f.plots[0].curves[0].y, std::vector<double>({1, 2, 3, 4, 6}));
        QCOMPARE(f.plots[0].chips[0].text, "A, layer 1 over 2: 0.5");
        QCOMPARE(f.quantity, "‖h‖·‖∂L/∂h‖");
    }

    /// A plot a run on one range; running products whose product is the last curve; what is 1 throughout is
    /// not drawn.
    void factorsMultiplyToTheRatio() {
        RunData a = withGradients("Pre-LN", {1, 1, 1, 1, 1}, {1, 1, 1, 1}), b = a;
        b.name = "Post-LN";
        const auto add = [](RunData& run, std::vector<double> norm, std::vector<double> shortcut) {
            syn::add(
                run, "residual", 0,
                {syn::vector("grad_norm", std::move(norm)), syn::vector("grad_shortcut", std::move(shortcut)),
                 syn::vector("grad_branch", {2, 2, 2, 2})});
        };
        add(a, {1, 1, 1, 1}, {1, 1, 1, 1});
        add(b, {0.5, 0.1, 0.5, 0.1}, {1, 3, 1, 1});
        PanelInput input;
        input.runs = {&a, &b};
        input.options = {{"quantity", "factors"}};
        const Figure f = buildGradients(input);
        QVERIFY(f.side_by_side);
        QCOMPARE(f.plots.size(), 2u);
        QCOMPARE(f.plots[0].curves.size(), 2u);
        QCOMPARE(f.plots[0].curves[0].name, "branches 16");
        QCOMPARE(f.plots[0].curves[1].y, std::vector<double>({1, 2, 4, 8, 16}));
        const std::vector<Curve>& curves = f.plots[1].curves;
        QCOMPARE(curves.size(), 4u);
        QCOMPARE(curves[0].name, "norms 0.0025");
        QCOMPARE(curves[1].y, std::vector<double>({1, 1, 3, 3, 3}));
        for (int k = 0; k < 5; ++k) {
            QCOMPARE(curves[3].x[k], k / 2.0);
            QCOMPARE(curves[3].y[k], curves[0].y[k] * curves[1].y[k] * curves[2].y[k]);
        }
        QCOMPARE(curves[3].name, "all 0.12");
        QCOMPARE(*f.plots[0].y.range, *f.plots[1].y.range);
        QVERIFY(f.plots[0].y.range->first < 0.0025 && f.plots[0].y.range->second > 16);

        b.probes.erase("residual");
        input.runs = {&b};
        QVERIFY(buildGradients(input).plots.empty());
        QVERIFY(!buildGradients(input).empty_text.isEmpty());
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

NORMSCOPE_TEST(GradientsPanelTest)
#include "gradients_panel_test.moc"
