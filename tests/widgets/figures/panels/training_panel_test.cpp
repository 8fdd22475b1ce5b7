// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/training_panel.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

RunData trained(const std::string& name, std::vector<double> loss) {
    RunData r = syn::run(name, R"({"steps": 200})");
    r.ln_vocab = 3.3;
    r.unigram_entropy = 3.0;
    r.entropy_rate = 1.5;
    r.steps.names = {"loss", "val_loss", "grad_norm", "lr", "tokens_per_s"};
    r.steps.columns.resize(5);
    for (std::size_t i = 0; i < loss.size(); ++i) {
        r.steps.step.push_back(std::int64_t(i) + 1);
        r.steps.columns[0].push_back(loss[i]);
        r.steps.columns[1].push_back(i % 2 ? loss[i] + 1 : kNaN);
        r.steps.columns[2].push_back(10);
        r.steps.columns[3].push_back(3e-3);
        r.steps.columns[4].push_back(1e4);
    }
    return r;
}

QStringList labels(const Plot& plot) {
    QStringList texts;
    for (const ReferenceLine& line : plot.references) texts << line.label;
    return texts;
}

}  // namespace

class TrainingPanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void accuracyOfImages() {
        RunData images = trained("A", {2.3, 1.9, 1.5}), text = trained("B", {2, 1.8, 1.7});
        images.ln_vocab = std::log(10.0);
        images.steps.names.push_back("val_accuracy");
        images.steps.columns.push_back({0.1, kNaN, 0.7});
        PanelInput input;
        input.runs = {&images, &text};
        input.options = {{"quantity", "val_accuracy"}};
        const Figure f = buildTraining(input);
        QCOMPARE(f.title, "Held-out accuracy");
        QCOMPARE(f.plots[0].curves.size(), std::size_t{1});
        QCOMPARE(f.plots[0].curves[0].x, (std::vector<double>{1, 3}));
        QCOMPARE(f.plots[0].curves[0].y, (std::vector<double>{0.1, 0.7}));
        QCOMPARE(labels(f.plots[0]), QStringList({"Guess 0.1"}));
        QCOMPARE(f.plots[0].chips[0].text, "B: no accuracy, its data are text");
        input.runs = {&text};
        QCOMPARE(buildTraining(input).empty_text, "B: no accuracy, its data are text");
    }

    void beforeTrainingTheFloorsAreNamed() {
        const RunData a = trained("A", {}), b = trained("B", {});
        PanelInput input;
        input.runs = {&a, &b};
        input.exploring = true;
        input.hint = "Press Space to train both runs: 200 steps, about 12 s";
        const Figure f = buildTraining(input);
        QCOMPARE(f.title, "Loss");
        QCOMPARE(f.subtitle, "at step 0");
        QVERIFY(f.empty_text.isEmpty());
        QCOMPARE(labels(f.plots[0]),
                 QStringList({"Uniform guess 3.30", "Unigram entropy 3.00", "Entropy rate 1.50"}));
        QCOMPARE(f.plots[0].references[2].value, 1.5);
        QCOMPARE(f.plots[0].chips[0].text, input.hint);
        QCOMPARE(f.plots[0].chips[0].edge, Chip::Edge::Middle);
        QVERIFY(f.formula.contains("uniform guess ln V, unigram entropy H₁"));
        QCOMPARE(*f.plots[0].x.range, (std::pair<double, double>(0, 200)));
        QVERIFY(f.plots[0].y.range->first < 1.5 && f.plots[0].y.range->second > 3.3);
        input.options = {{"quantity", "lr"}};
        QCOMPARE(buildTraining(input).empty_text, "No step taken yet");
        QCOMPARE(buildTraining(input).title, "Learning rate");
    }

    void floorsOfDifferentSourcesCarryTheRun() {
        const RunData a = trained("A", {});
        RunData b = trained("B", {});
        b.unigram_entropy = 2;
        b.entropy_rate = kNaN;
        PanelInput input;
        input.runs = {&a, &b};
        QCOMPARE(labels(buildTraining(input).plots[0]),
                 QStringList({"Uniform guess 3.30", "Unigram entropy 3.00 (A)", "Unigram entropy 2.00 (B)",
                              "Entropy rate 1.50"}));
    }

    void drawsTheRawLossAndTheHeldOutDots() {
        const RunData a = trained("A", {3, 2.5, 2.75, 2});
        PanelInput input;
        input.runs = {&a};
        Figure f = buildTraining(input);
        QCOMPARE(f.plots[0].curves.size(), 2u);
        QCOMPARE(f.plots[0].curves[0].x, std::vector<double>({1, 2, 3, 4}));
        QCOMPARE(f.plots[0].curves[0].y, std::vector<double>({3, 2.5, 2.75, 2}));
        QCOMPARE(f.plots[0].curves[1].x, std::vector<double>({2, 4}));
        QCOMPARE(f.plots[0].curves[1].y, std::vector<double>({3.5, 3}));
        QVERIFY(f.plots[0].curves[1].markers);
        QCOMPARE(f.plots[0].y.scale, Scale::Linear);
        QCOMPARE(f.unit, "nat");
        QVERIFY(f.plots[0].x.integers);
        QVERIFY(!f.plots[0].y.range);
        QVERIFY(f.summary.contains("A 2 at step 4"));
        input.options = {{"validation", "off"}};
        QCOMPARE(buildTraining(input).plots[0].curves.size(), 1u);
    }

    /// A single step has no line: its loss is a point, with the run's name and the value.
    /// Over the raw line, which stays as it is; no mean where a value of its window is not finite.
    void aMeanIsDrawnOverTheRawLine() {
        std::vector<double> loss;
        for (int i = 0; i < 60; ++i) loss.push_back(3 - 0.01 * i + (i % 2 ? 0.2 : -0.2));
        loss[30] = kNaN;
        const RunData run = trained("A", loss);
        PanelInput input;
        input.runs = {&run};
        input.options = {{"validation", "off"}};
        const Figure raw = buildTraining(input);
        input.options["smooth"] = "mean_20";
        const Figure f = buildTraining(input);
        QCOMPARE(f.plots[0].curves.size(), std::size_t{2});
        QCOMPARE(f.plots[0].curves[0].x, raw.plots[0].curves[0].x);
        QCOMPARE(f.plots[0].curves[0].end_value, raw.plots[0].curves[0].end_value);
        QVERIFY(f.plots[0].curves[0].aged && !f.plots[0].curves[1].aged);
        const Curve& mean = f.plots[0].curves[1];
        QCOMPARE(mean.name, "A, mean of 20 steps");
        QVERIFY(!mean.label_at_end);
        std::vector<double> at;  // step i + 1 is the last of its window
        for (int i = 19; i < 30; ++i) at.push_back(i + 1);
        for (int i = 50; i < 60; ++i) at.push_back(i + 1);
        QCOMPARE(mean.x, at);
        for (std::size_t k = 0; k < at.size(); ++k) {
            double sum = 0;
            for (int i = 0; i < 20; ++i) sum += loss[static_cast<std::size_t>(at[k]) - 1 - std::size_t(i)];
            QVERIFY(std::abs(mean.y[k] - sum / 20) < 1e-12);
        }
        input.options["smooth"] = "mean_100";  // the run is shorter
        QCOMPARE(buildTraining(input).plots[0].curves.size(), std::size_t{1});
        QVERIFY(!buildTraining(input).plots[0].curves[0].aged);
    }

    void theFirstStepIsAPoint() {
        RunData a = trained("A", {3.64});
        a.steps.step = {0};
        PanelInput input;
        input.runs = {&a};
        const Curve one = buildTraining(input).plots[0].curves[0];
        QVERIFY(one.markers && one.line);
        QCOMPARE(one.x, std::vector<double>({0}));
        QCOMPARE(one.end_value, "3.64");
        const RunData b = trained("B", {3.64, 3.5});
        input.runs = {&b};
        QVERIFY(!buildTraining(input).plots[0].curves[0].markers);
    }

    void otherQuantities() {
        const RunData a = trained("A", {3, 2});
        PanelInput input;
        input.runs = {&a};
        const std::vector<std::tuple<std::string, double, Scale>> cases = {
            {"grad_norm", 10, Scale::Log}, {"lr", 3e-3, Scale::Linear}, {"tokens_per_s", 1e4, Scale::Linear}};
        for (const auto& [quantity, value, scale] : cases) {
            input.options = {{"quantity", quantity}};
            const Figure f = buildTraining(input);
            QCOMPARE(f.plots[0].curves.size(), 1u);
            QCOMPARE(f.plots[0].curves[0].y, std::vector<double>(2, value));
            QCOMPARE(f.plots[0].y.scale, scale);
            QVERIFY(f.plots[0].references.empty());
        }
    }

    void theScrubbedStepIsMarked() {
        const RunData a = trained("A", {3, 2, 1});
        PanelInput input;
        input.runs = {&a};
        input.step = 2;
        const Figure f = buildTraining(input);
        QCOMPARE(f.plots[0].references.back().orientation, Qt::Vertical);
        QCOMPARE(f.plots[0].references.back().value, 2.0);
        input.step = 3;
        QCOMPARE(buildTraining(input).plots[0].references.back().orientation, Qt::Horizontal);
    }

    void outcomesEndTheirCurves() {
        RunData a = trained("A", {3, 50, INFINITY}), b = trained("B", {3, 3, 3});
        a.outcome = {RunState::Diverged, 3, "step 3 · L7 ffn.w2 · inf", 6};
        b.outcome = {RunState::Stalled, 3, "", -1};
        PanelInput input;
        input.runs = {&a, &b};
        input.options = {{"validation", "off"}};
        const Figure f = buildTraining(input);
        const auto& curves = f.plots[0].curves;
        QCOMPARE(curves[0].end.kind, EndMark::Kind::Diverged);
        QCOMPARE(curves[0].end.label, "step 3 · L7 ffn.w2 · inf");
        QVERIFY(std::isinf(curves[0].y[2]));
        QCOMPARE(curves[1].end.kind, EndMark::Kind::Stalled);
        QCOMPARE(f.plots[0].plateaus.size(), 1u);
        QVERIFY(std::abs(f.plots[0].plateaus[0].low - 2.91) < 1e-12);
        QVERIFY(std::abs(f.plots[0].plateaus[0].high - 3.09) < 1e-12);
        QCOMPARE(f.plots[0].plateaus[0].role.run, 1);
        QVERIFY(f.plots[0].plateaus[0].label.isEmpty());  // the label of the end mark is "stalled"
        QVERIFY(f.summary.contains("A 50 at step 2, diverged: step 3 · L7 ffn.w2 · inf"));
        QVERIFY(f.summary.contains("B 3 at step 3, stalled"));
    }

    void aCollapseNamesItsStepAndHasItsOwnMark() {
        RunData a = trained("A", {3, 1, 3});
        a.outcome = {RunState::Collapsed, 2, "step 2 · lost 2 of the 2 nat gained", -1};
        PanelInput input;
        input.runs = {&a};
        const Figure f = buildTraining(input);
        QCOMPARE(f.plots[0].curves[0].end.kind, EndMark::Kind::Collapsed);
        QCOMPARE(f.plots[0].curves[0].end.label, "collapsed at step 2");
        QVERIFY(f.plots[0].plateaus.empty());
        QVERIFY2(f.summary.contains("A 3 at step 3, collapsed at step 2"), qPrintable(f.summary));
    }

    void aLossThatBlewUpGetsALogAxis() {
        RunData a = trained("A", {3, 50, 80}), b = trained("B", {3, 3, 3e6});
        PanelInput input;
        input.runs = {&a};
        QCOMPARE(buildTraining(input).plots[0].y.scale, Scale::Linear);
        input.runs = {&a, &b};
        QCOMPARE(buildTraining(input).plots[0].y.scale, Scale::Log);
    }

    void aRunWithoutStepsIsNamed() {
        const RunData a = trained("A", {3, 2}), b = trained("B", {});
        PanelInput input;
        input.runs = {&a, &b};
        QCOMPARE(buildTraining(input).plots[0].chips[0].text, "B: no step taken yet");
        input.runs = {};
        QCOMPARE(buildTraining(input).empty_text, "No run to show");
    }
};

NORMSCOPE_TEST(TrainingPanelTest)
#include "training_panel_test.moc"
