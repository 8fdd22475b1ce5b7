// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/fragility_panel.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

class FragilityPanelTest : public QObject {
    Q_OBJECT

    static Figure build(const RunData& run, const PanelOptions& options = {}) {
        PanelInput input;
        input.runs = {&run};
        input.step = 4;
        input.options = options;
        return buildFragility(input);
    }

  private Q_SLOTS:
    void drawsBothVersionsNextToTheErrorMeasured() {
        RunData run = syn::run("A");
        syn::add(run, "fragility", 4,
                 {syn::vector("predictor_v1", {100, 200}), syn::vector("predictor_v2", {3, 1}),
                  syn::array("total_v1", {}, {300}), syn::array("total_v2", {}, {4})});
        syn::add(run, "mismatch", 4, {syn::vector("bf16_hidden", {0.001, 0.002, 0.003, 0.004, 0.0125})});
        const Figure second = build(run), first = build(run, {{"predictor", "v1"}, {"format", "fp16"}});
        QCOMPARE(second.plots.at(0).curves.at(0).y, std::vector<double>({3, 1}));
        QCOMPARE(second.plots.at(0).curves.at(0).x, std::vector<double>({1, 2}));
        QCOMPARE(first.plots.at(0).curves.at(0).y, std::vector<double>({100, 200}));
        // 4/256 of BF16; 300/2048 of FP16, whose error was not measured.
        QVERIFY2(second.summary.contains("BF16: predicted 0.016, measured 0.013"),
                 qPrintable(second.summary));
        QVERIFY2(first.summary.contains("FP16: predicted 0.15, measured not at this step"),
                 qPrintable(first.summary));
        QVERIFY(second.formula != first.formula && second.erratum.contains("[I; −I]"));
    }

    void aPredictionAboveOneBoundsNothing() {
        RunData run = syn::run("A");
        syn::add(run, "fragility", 4,
                 {syn::vector("predictor_v2", {300, 1}), syn::array("total_v2", {}, {512})});
        QVERIFY2(build(run).summary.contains("predicted 2 (above 1: bounds nothing)"),
                 qPrintable(build(run).summary));
        syn::add(run, "fragility", 5,
                 {syn::vector("predictor_v2", {300, 1}), syn::array("total_v2", {}, {256})});
        PanelInput input;
        input.runs = {&run};
        QVERIFY(!buildFragility(input).summary.contains("bounds nothing"));
    }

    void withoutASampleItStatesSo() {
        const RunData run = syn::run("A");
        const Figure figure = build(run);
        QVERIFY(figure.plots.empty() && !figure.empty_text.isEmpty());
    }
};

NORMSCOPE_TEST(FragilityPanelTest)
#include "fragility_panel_test.moc"
