// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/run_scale.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"
#include "widgets/figures/panels/panel_registry.h"

#include <QtTest>
#include <algorithm>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

constexpr int kDepth = 3;

/// A collapse: at step s the gradient of hidden state k is 10^(−s·(6 − k)/6), the RMS grows slowly, and θ of
/// all heads rises from 0.2 to 0.2 + s/100. Sampled at the steps 0, 2, 4, …
RunData collapsing(const std::string& name, double speed, int last) {
    RunData run = syn::run(name);
    for (int step = 0; step <= last; ++step) run.steps.append({step, {{"loss", 4.0}}});
    for (int step = 0; step <= last; step += 2) {
        syn::add(run, "gradients", step,
                 {syn::vector("hidden", syn::values(2 * kDepth + 1, [&](int k) {
                                  return std::pow(10.0, -speed * step * (2 * kDepth - k) / (2 * kDepth));
                              }))});
        const auto rms = syn::values(2 * kDepth + 1, [&](int k) { return 1 + 0.01 * k * step; });
        syn::add(run, "growth", step,
                 {syn::vector("rms", rms), syn::vector("bound_ma", syn::values(2 * kDepth + 1, [&](int k) {
                                                           return 3 + 0.1 * k * step;
                                                       }))});
        syn::add(run, "theta", step,
                 {syn::array("relative_mean", {kDepth, 2},
                             syn::values(2 * kDepth, [&](int) { return 0.2 + 0.01 * step; }))});
    }
    return run;
}

PanelInput inputOf(const std::vector<const RunData*>& runs, std::int64_t step) {
    PanelInput input;
    input.runs = runs;
    input.step = step;
    return input;
}

Figure scaled(const std::string& panel, const PanelInput& input) {
    const auto build = [&](const PanelInput& at) { return buildPanel(panel, at); };
    return onRunScale(build(input), panelInfo(panel), input, build);
}

/// What an axis shows: where the panel fixes nothing, the range of its data and of what it covers.
Range shownY(const Plot& plot) {
    return plot.y.range ? *plot.y.range : yRange(plot);
}

bool holds(const Range& range, const Range& inner) {
    return range.first <= inner.first && inner.second <= range.second;
}

}  // namespace

class RunScaleTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// At no step, sampled or not, does any axis, tick or colour of these panels move, and nothing lies
    /// outside.
    void axesStayWhileTheUserScrubs() {
        const RunData a = collapsing("A", 0.01, 20), b = collapsing("B", 0.3, 20);
        for (const std::string panel : {"gradients", "growth", "theta"}) {
            std::optional<Figure> first;
            for (std::int64_t step = 0; step <= 20; ++step) {
                const PanelInput input = inputOf({&a, &b}, step);
                const Figure own = buildPanel(panel, input), figure = scaled(panel, input);
                QVERIFY2(!figure.plots.empty(), panel.c_str());
                if (!first) first = figure;
                QCOMPARE(figure.plots.size(), first->plots.size());
                for (std::size_t i = 0; i < figure.plots.size(); ++i) {
                    const Plot &plot = figure.plots[i], &there = first->plots[i];
                    QCOMPARE(shownY(plot), shownY(there));
                    QCOMPARE(xRange(plot), xRange(there));
                    QVERIFY(std::equal(plot.y.ticks.begin(), plot.y.ticks.end(), there.y.ticks.begin(),
                                       there.y.ticks.end(), [](const NamedTick& s, const NamedTick& t) {
                                           return s.value == t.value && s.label == t.label;
                                       }));
                    if (const auto extent = yExtent(own.plots[i])) QVERIFY(holds(shownY(plot), *extent));
                    if (plot.maps.empty()) continue;
                    QCOMPARE(plot.maps[0].low, there.maps[0].low);
                    QCOMPARE(plot.maps[0].high, there.maps[0].high);
                    for (const double value : plot.maps[0].value)
                        QVERIFY(value >= plot.maps[0].low && value <= plot.maps[0].high);
                }
                QVERIFY(figure.subtitle.endsWith("whole-run axes"));
            }
        }
        // The collapse falls six decades below, which the first step's own axis would not hold.
        const PanelInput start = inputOf({&a, &b}, 0);
        QVERIFY(shownY(scaled("gradients", start).plots[0]).first < 1e-6);
        QVERIFY(shownY(buildPanel("gradients", start).plots[0]).first > 0.01);
    }

    void thisStepAloneIsAnOption() {
        const RunData a = collapsing("A", 0.3, 20);
        PanelInput input = inputOf({&a}, 4);
        input.options["axes"] = "this_step";
        const Figure own = buildPanel("gradients", input), figure = scaled("gradients", input);
        QCOMPARE(shownY(figure.plots[0]), shownY(own.plots[0]));
        QVERIFY(!figure.subtitle.contains("whole-run"));
    }

    /// Nothing to scale: before training, over steps, the losses, a part of a file, one sample alone.
    void stepsThatAreIncluded() {
        const RunData a = collapsing("A", 0.3, 20), b = collapsing("B", 0.3, 8);
        const auto steps = scaledSteps(panelInfo("growth"), inputOf({&a, &b}, 4));
        QCOMPARE(steps.size(), 11u);
        QCOMPARE(steps.at(8), 2u);
        QCOMPARE(steps.at(10), 1u);
        PanelInput input = inputOf({&a}, 4);
        input.exploring = true;
        QVERIFY(scaledSteps(panelInfo("growth"), input).empty());
        input.exploring = false;
        input.options["x"] = "step";
        QVERIFY(scaledSteps(panelInfo("growth"), input).empty());
        QVERIFY(scaledSteps(panelInfo("training"), inputOf({&a}, 4)).empty());
        const RunData one = collapsing("One", 0.3, 1);
        QVERIFY(!scaled("growth", inputOf({&one}, 0)).subtitle.contains("whole-run"));
    }

    /// A ratio of both runs, at every step that both were measured at.
    void theStripOfRatiosHasOneSpan() {
        const RunData a = collapsing("A", 0.0, 20), b = collapsing("B", 0.3, 20);
        const Figure start = scaled("gradients", inputOf({&a, &b}, 0)),
                     end = scaled("gradients", inputOf({&a, &b}, 20));
        QCOMPARE(start.plots.size(), 2u);
        QVERIFY(start.plots[1].is_ratio);
        QCOMPARE(start.plots[1].y.range, end.plots[1].y.range);
        QVERIFY(start.plots[1].y.range->second >= 1e6);
    }
};

NORMSCOPE_TEST(RunScaleTest)
#include "run_scale_test.moc"
