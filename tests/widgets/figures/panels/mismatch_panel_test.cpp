// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/mismatch_panel.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

RunData measured(const std::string& name, int depth, double scale, std::int64_t step = 0) {
    RunData r = syn::run(name);
    const auto over = [&](double u) {
        return syn::values(2 * depth + 1, [&](int k) { return u * scale * (k + 1); });
    };
    syn::add(r, "mismatch", step,
             {syn::vector("bf16_hidden", over(4e-3)), syn::vector("fp16_hidden", over(5e-4)),
              syn::array("bf16_logits", {}, {0.02 * scale}), syn::array("fp16_logits", {}, {0.003 * scale})});
    return r;
}

}  // namespace

class MismatchPanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void bothRunsOverTheDepth() {
        const RunData a = measured("A", 4, 1), b = measured("B", 4, 3);
        PanelInput input;
        input.runs = {&a, &b};
        input.exploring = true;
        const Figure f = buildMismatch(input);
        QVERIFY(f.empty_text.isEmpty());
        QCOMPARE(f.plots.size(), 2u);
        const Plot& plot = f.plots.front();
        QCOMPARE(plot.y.scale, Scale::Log);
        QCOMPARE(plot.curves.size(), 2u);
        QCOMPARE(plot.curves[0].x.back(), 4.0);
        QCOMPARE(plot.curves[0].y[0], 4e-3);
        QCOMPARE(plot.references.at(0).value, 0x1p-8);
        QCOMPARE(plot.chips.at(1).text, "B logits 0.06");
        QCOMPARE(f.plots[1].curves.at(0).y[2], 3.0);
        QVERIFY(f.summary.contains("A: 0.004 after the embedding, 0.036 at layer 4, logits 0.02"));
    }

    void theSplitByKindOfOperation() {
        RunData a = syn::run("A");
        syn::add(a, "mismatch", 3,
                 {syn::vector("split_bf16", {0.1, 0.02, 0.05, 0.3, 0.4, 0.1, 0.2, 0.03}),
                  syn::array("remainder_bf16", {}, {-0.2})});
        a.probes.at("mismatch").front().labels["parts"] = {
            "scores", "softmax", "mixing", "projections", "feed_forward", "activation", "norm", "residual"};
        const RunData b = measured("B", 4, 1, 3);
        PanelInput input;
        input.runs = {&a};
        input.options = {{"of", "split"}};
        const Figure f = buildMismatch(input);
        QCOMPARE(f.plots.size(), 1u);
        QCOMPARE(f.plots[0].stems.size(), 1u);
        QCOMPARE(f.plots[0].stems[0].y.size(), 9u);
        QCOMPARE(f.plots[0].stems[0].y[8], -0.2);
        QCOMPARE(f.plots[0].x.ticks[4].label, "FFN");
        QCOMPARE(f.plots[0].x.ticks[8].label, "left over");
        QVERIFY2(f.summary.contains("A: most from FFN, 0.4; left over -0.2"), qPrintable(f.summary));
        input.runs = {&b};
        QVERIFY(buildMismatch(input).empty_text.startsWith("No split recorded"));
    }

    void theOtherFormatAndTheSteps() {
        RunData a = measured("A", 4, 1);
        syn::add(a, "mismatch", 10, measured("A", 4, 2, 10).probes.at("mismatch").front().arrays);
        PanelInput input;
        input.runs = {&a};
        input.options = {{"format", "fp16"}};
        Figure f = buildMismatch(input);
        QCOMPARE(f.subtitle, "at step 10");
        QCOMPARE(f.plots[0].curves[0].y[0], 1e-3);
        QCOMPARE(f.plots[0].references.at(0).value, 0x1p-11);
        QVERIFY(f.quantity.contains("FP16"));
        input.options["x"] = "step";
        f = buildMismatch(input);
        QCOMPARE(f.plots[0].curves[0].x, (std::vector<double>{0, 10}));
        QCOMPARE(f.plots[0].curves[0].y, (std::vector<double>{5e-4, 1e-3}));
    }

    /// Each policy has arrays of its own; the subtitle names it and the measured sequences.
    void thePolicyAndItsError() {
        RunData a = syn::run("A");
        const std::vector<double> pure = syn::values(5, [](int k) { return 1e-3 * (k + 1); }),
                                  low = syn::values(5, [](int k) { return 5e-3 / (k + 1); });
        const auto share = [](std::vector<double> v, double s) {
            for (double& x : v) x *= s;
            return v;
        };
        syn::add(a, "mismatch", 0,
                 {syn::vector("bf16_hidden", pure), syn::vector("bf16_hidden_error", share(pure, 0.01)),
                  syn::array("bf16_logits", {}, {0.02}), syn::array("bf16_logits_error", {}, {kNaN}),
                  syn::vector("bf16_autocast_hidden", low),
                  syn::vector("bf16_autocast_hidden_error", share(low, 0.2)),
                  syn::array("bf16_autocast_logits", {}, {0.004}),
                  syn::array("bf16_autocast_logits_error", {}, {0.001})},
                 {{"sampled", {"2 of 8 sequences"}}});
        PanelInput input;
        input.runs = {&a};
        Figure f = buildMismatch(input);
        QCOMPARE(f.subtitle, "at step 0 · 2 of 8 sequences");
        QCOMPARE(f.quantity, "relative error of the hidden state, pure BF16");
        QVERIFY(f.plots[0].bands.empty());  // one percent is within the line width; the card shows it
        QCOMPARE(f.plots[0].curves.at(0).y_error, share(pure, 0.01));
        QCOMPARE(f.plots[0].chips.at(0).text, "A logits 0.02");
        QVERIFY(f.formula.contains("result of every operation"));

        input.options = {{"policy", "autocast"}};
        f = buildMismatch(input);
        QCOMPARE(f.subtitle, "at step 0 · 2 of 8 sequences");
        QCOMPARE(f.quantity, "relative error of the hidden state, autocast BF16");
        QCOMPARE(f.plots[0].curves.at(0).y, low);
        QCOMPARE(f.plots[0].curves.at(0).y_error, share(low, 0.2));
        QCOMPARE(f.plots[0].bands.size(), 1u);
        QVERIFY(f.plots[0].bands[0].is_error);
        QCOMPARE(f.plots[0].bands[0].low.at(1),
                 low[1] * std::exp(-0.2));  // a factor: the axis is logarithmic
        QCOMPARE(f.plots[0].bands[0].high.at(1), low[1] * std::exp(0.2));
        QCOMPARE(f.plots[0].chips.at(0).text, "A logits 0.004 ± 0.001");
        QVERIFY(f.summary.contains("A: 0.005 after the embedding, 0.001 at layer 2"));
        QVERIFY(f.formula.contains("residual sums run in FP32"));
        input.options["format"] = "fp16";
        QVERIFY(buildMismatch(input).empty_text.contains("lacks this quantity"));
    }

    void statesWhatIsMissing() {
        const RunData bare = syn::run("Bare");
        RunData half = syn::run("Half");
        syn::add(half, "mismatch", 0, {syn::vector("bf16_hidden", {1e-3, 2e-3, 3e-3})});
        PanelInput input;
        input.runs = {&bare};
        QVERIFY(buildMismatch(input).empty_text.contains("not measured yet"));
        input.runs = {&half};
        QVERIFY(buildMismatch(input).plots.front().chips.empty());  // no logits, no chip
        input.options = {{"format", "fp16"}};
        QVERIFY(buildMismatch(input).empty_text.contains("lacks this quantity"));
    }
};

NORMSCOPE_TEST(MismatchPanelTest)
#include "mismatch_panel_test.moc"
