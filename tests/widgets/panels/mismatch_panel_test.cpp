// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/mismatch_panel.h"

#include "tests/widgets/panels/synthetic_run.h"

#include <QtTest>

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
        QVERIFY(f.summary.contains("A: 0.036 at layer 4, logits 0.02"));
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

    void saysWhatIsMissing() {
        const RunData bare = syn::run("Bare");
        RunData half = syn::run("Half");
        syn::add(half, "mismatch", 0, {syn::vector("bf16_hidden", {1e-3, 2e-3, 3e-3})});
        PanelInput input;
        input.runs = {&bare};
        QVERIFY(buildMismatch(input).empty_text.contains("mismatch was not measured"));
        input.runs = {&half};
        QVERIFY(buildMismatch(input).plots.front().chips.empty());  // no logits, no chip
        input.options = {{"format", "fp16"}};
        QVERIFY(buildMismatch(input).empty_text.contains("lacks this quantity"));
    }
};

QTEST_GUILESS_MAIN(MismatchPanelTest)
#include "mismatch_panel_test.moc"
