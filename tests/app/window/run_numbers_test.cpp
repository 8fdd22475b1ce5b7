// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of the findings band are those of the step table and of the probes' samples.
#include "widgets/findings/run_numbers.h"

#include "core/model/gradient_ratio.h"
#include "tests/findings/sample_data.h"
#include "tests/support/test_main.h"
#include "widgets/figures/number_text.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::app;
using widgets::PanelInput;

namespace {

/// Two layers, trained for 10 steps; probes at steps 0, 4 and 8.
RunData trained() {
    RunData run = sample::run("A");
    Recipe recipe;
    recipe.stack.depth = 2;
    run.recipe = recipe;
    run.outcome.state = RunState::Running;
    for (int i = 0; i < 10; ++i) run.steps.append({i, {{"loss", 3.5 - 0.1 * i}}});
    for (const std::int64_t step : {0, 4, 8}) {
        const double s = 1 + static_cast<double>(step);
        sample::add(run, "growth", step,
                    {sample::vector("rms", {1, 2, 3, 4, 4.9 * s}),
                     sample::vector("rms_error", {0.1, 0.1, 0.1, 0.1, 0.031})});
        sample::add(run, "gradients", step,
                    {sample::vector("hidden", {9, 8, 0.32 * s, 0.2, 0.1}),
                     sample::vector("hidden_error", {1, 1, 0.02, 1, 0.004})});
    }
    return run;
}

PanelInput inputAt(const RunData& run, std::int64_t step = std::numeric_limits<std::int64_t>::max()) {
    PanelInput input;
    input.runs = {&run};
    input.step = step;
    return input;
}

std::vector<widgets::BandNumber> numbersOf(const PanelInput& input) {
    return widgets::runNumbers(input, input, 0);
}

}  // namespace

class RunNumbersTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aScrubbedStepShowsItsOwnValues() {
        const RunData run = trained();
        const auto numbers = numbersOf(inputAt(run, 4));
        QCOMPARE(numbers.size(), 3u);
        QCOMPARE(numbers[0].value, QString::number(run.steps.find("loss")->at(4), 'f', 2));
        QCOMPARE(numbers[0].unit, QString("nat"));
        QCOMPARE(numbers[0].caption, QString("loss, step 4"));
        const ProbeResult& growth = *run.sample_of("growth", 4);
        QCOMPARE(numbers[1].value, QString::number(growth.find("rms")->data.back(), 'f', 1));
        QCOMPARE(numbers[1].caption, QString("RMS, layer 2"));
        QVERIFY2(numbers[1].tip.contains("at step 4: 24.5 ± 0.031"), qPrintable(numbers[1].tip));
        const double ratio = gradient_ratio(run.sample_of("gradients", 4)->find("hidden")->data);
        QCOMPARE(numbers[2].value, QString::number(ratio, 'f', 1));
        QCOMPARE(numbers[2].caption, QString("gradient, layer 1 over 2"));
        QVERIFY2(numbers[2].tip.contains("at step 4: " + widgets::numberText(ratio)),
                 qPrintable(numbers[2].tip));
        QVERIFY(numbers[2].tip.contains("1.6 ± 0.02 after layer 1, 0.1 ± 0.004 after layer 2"));
        QVERIFY(numbers[2].tip.contains("Held-out batch"));
        for (const widgets::BandNumber& number : numbers) QVERIFY(number.note.isEmpty() && !number.draft);
    }

    void aStepWithoutASampleHasTheNearestOneWithItsStep() {
        const RunData run = trained();
        auto numbers = numbersOf(inputAt(run, 6));
        QCOMPARE(numbers[0].value, QString("2.90"));
        const auto at_4 = numbersOf(inputAt(run, 4));
        for (const std::size_t i : {1u, 2u}) {
            QCOMPARE(numbers[i].value, at_4[i].value);
            QCOMPARE(numbers[i].note, QString("at step 4"));
            QVERIFY(numbers[i].tip.contains("at step 4"));
        }
        QCOMPARE(numbers[2].caption, QString("gradient, layer 1 over 2"));
        // Another run is longer.
        numbers = numbersOf(inputAt(run, 12));
        QCOMPARE(numbers[0].value, QString("–"));
        QCOMPARE(numbers[0].tip, QString("Loss: the run has no step after 9"));
    }

    /// Probes are measured at fewer steps: a number of an earlier one names it.
    void followingTheNewestAnOlderSampleNamesItsStep() {
        RunData run = trained();
        auto numbers = numbersOf(inputAt(run));
        QCOMPARE(numbers[0].caption, QString("loss, step 9"));
        QCOMPARE(numbers[0].value, QString("2.60"));
        QCOMPARE(numbers[1].value, QString("44.1"));
        QCOMPARE(numbers[1].note, QString("at step 8"));
        QCOMPARE(numbers[2].note, QString("at step 8"));
        run.steps = {};
        run.steps.append({8, {{"loss", 3}}});
        QVERIFY(numbersOf(inputAt(run))[1].note.isEmpty());
    }

    void beforeTrainingTheLossIsThatOfTheHeldOutBatch() {
        RunData run = trained();
        run.steps = {};
        run.outcome = {};
        PanelInput input = inputAt(run);
        input.exploring = true;
        auto& arrays = run.probes["gradients"].front().arrays;
        arrays.push_back({"loss", {}, {3.6412}, {}, "nat"});
        arrays.push_back({"loss_error", {}, {0.021}, {}, "nat"});
        const auto numbers = numbersOf(input);
        QCOMPARE(numbers[0].value, QString("3.64"));
        QCOMPARE(numbers[0].unit, QString("nat"));
        QCOMPARE(numbers[0].caption, QString("held-out loss"));
        QCOMPARE(numbers[0].tip,
                 QString("Loss at step 0: 3.641 ± 0.021 nat\nMean cross-entropy of the probes' batch, held "
                         "out; ± over its sequences"));
        run.probes["gradients"].front().labels["sampled"] = {"8 sequences"};
        QVERIFY(
            numbersOf(input)[0].tip.contains("Mean cross-entropy of 8 sequences of the probes, held out"));
        QCOMPARE(numbers[1].value, QString("4.9"));
        QCOMPARE(numbers[2].value, QString("3.2"));
        QVERIFY(numbers[1].note.isEmpty());
        arrays.resize(arrays.size() - 2);  // a sample of an earlier version
        QCOMPARE(numbersOf(input)[0].value, QString("–"));
    }

    /// In training the newest held-out loss by then is shown with that of the training batch, and not that of
    /// the probes' batch.
    void theHeldOutLossOfTrainingIsThatOfTheStepTable() {
        RunData run = trained();
        run.probes["gradients"].back().arrays.push_back({"loss", {}, {9.87}, {}, "nat"});
        run.steps = {};
        for (int i = 0; i < 10; ++i)
            run.steps.append({i,
                              {{"loss", 3.5 - 0.1 * i},
                               {"val_loss", i % 5 == 0 || i == 9 ? 3.6 - 0.1 * i : std::nan("")},
                               {"val_loss_error", i % 5 == 0 || i == 9 ? 0.0213 : std::nan("")}}});
        auto number = numbersOf(inputAt(run, 7))[0];
        QCOMPARE(number.value, QString("2.80"));
        QCOMPARE(number.note, QString("held-out 3.10, step 5"));
        QVERIFY2(
            number.tip.endsWith("\nHeld-out loss at step 5: 3.1 ± 0.021 nat, mean of 64 held-out sequences"),
            qPrintable(number.tip));
        number = numbersOf(inputAt(run))[0];
        QCOMPARE(number.note, QString("held-out 2.70"));
        run.steps.names[2] = "other";  // a recording of an earlier version
        QVERIFY(numbersOf(inputAt(run))[0].tip.endsWith(
            "\nHeld-out loss at step 9: 2.7 nat, mean of the held-out sequences"));
        run.steps.names[1] = "another";  // validate.every is 0
        QVERIFY(numbersOf(inputAt(run))[0].note.isEmpty());
    }

    void valuesThatAreNotFiniteAreWords() {
        RunData run = trained();
        run.steps.columns[0][9] = std::nan("");
        QCOMPARE(numbersOf(inputAt(run))[0].value, QString("NaN"));
        run.steps.columns[0][9] = HUGE_VAL;
        QCOMPARE(numbersOf(inputAt(run))[0].value, QString("inf"));
        run.probes["growth"].back().arrays[0].data.back() = HUGE_VAL;
        run.probes["gradients"].back().arrays[0].data.back() = 0;
        const auto numbers = numbersOf(inputAt(run, 8));
        QCOMPARE(numbers[1].value, QString("inf"));
        QCOMPARE(numbers[2].value, QString("inf"));
    }

    void largeAndSmallNumbersAreShort() {
        RunData run = trained();
        auto& rms = run.probes["growth"].back().arrays[0].data.back();
        for (const auto& [value, text] : std::vector<std::pair<double, QString>>{{0.344, "0.34"},
                                                                                 {0.9999, "1.0"},
                                                                                 {18.04, "18.0"},
                                                                                 {123.4, "123"},
                                                                                 {1234, "1.2×10³"},
                                                                                 {5.9e-7, "5.9×10⁻⁷"}}) {
            rms = value;
            QCOMPARE(numbersOf(inputAt(run, 8))[1].value, text);
        }
    }

    void whatCannotBeMeasuredIsStated() {
        RunData run = trained();
        auto& sample = run.probes["gradients"].back();
        sample.arrays[0].data[2] = std::nan("");
        QCOMPARE(numbersOf(inputAt(run, 8))[2].value, QString("NaN"));
        sample.labels["only"] = {"blocks.1"};
        auto number = numbersOf(inputAt(run, 8))[2];
        QCOMPARE(number.value, QString("–"));
        QVERIFY(number.tip.contains("only blocks.1 are measured"));
        sample.arrays = {sample::vector("hidden", {1, 2, 3})};
        number = numbersOf(inputAt(run, 8))[2];
        QCOMPARE(number.value, QString("–"));
        QVERIFY(number.tip.contains("one layer"));
    }

    void aDraftIsMarked() {
        const RunData run = trained();
        PanelInput input = inputAt(run, 4);
        input.draft = {true};
        const auto numbers = numbersOf(input);
        QVERIFY(!numbers[0].draft);
        QVERIFY(numbers[1].draft && numbers[1].tip.contains("first estimate"));
        QVERIFY(numbers[2].draft);
    }
};

NORMSCOPE_TEST(RunNumbersTest)
#include "run_numbers_test.moc"
