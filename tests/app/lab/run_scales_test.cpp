// SPDX-License-Identifier: GPL-3.0-or-later
// The scales of figures over the whole run are kept while the runs grow, and completed over several calls.
#include "app/lab/run_scales.h"

#include "tests/support/test_main.h"
#include "widgets/figures/panels/panel_registry.h"

#include <QtTest>
#include <chrono>
#include <memory>

using namespace normscope;
using namespace normscope::app;
using widgets::Figure;
using widgets::FigureKey;
using widgets::PanelInput;

namespace {

/// One number a step: its RMS is the step + 1.
void sampleAt(RunData& run, std::int64_t step) {
    const double value = double(step) + 1;
    run.probes["growth"].push_back({"growth", step, {{"rms", {3}, {value, value, value}, {}, "1"}}, {}, 0});
    run.steps.append({step, {{"loss", 1}}});
}

class Bench {
  public:
    /// Without a limit of time, unless a test is of the limit: a busy machine must not decide what is
    /// complete.
    explicit Bench(int steps, std::chrono::milliseconds budget = std::chrono::hours(1)) : scales(budget) {
        restart(steps);
    }
    void restart(int steps) {
        run = std::make_shared<RunData>();
        run->name = "A";
        for (int step = 0; step < steps; ++step) sampleAt(*run, step);
    }
    FigureKey key() const {
        FigureKey key;
        key.panel = "growth";
        FigureKey::Run drawn;
        drawn.data = run;
        key.runs.push_back(drawn);
        key.scale = scales.version(key);
        return key;
    }
    /// The upper end of the axis at step 0 after one call; counts the figures that it made.
    double top() {
        PanelInput input;
        input.runs = {run.get()};
        input.step = 0;
        const auto build = [&](const PanelInput& at) {
            ++built;
            return widgets::buildPanel("growth", at);
        };
        Figure figure = widgets::buildPanel("growth", input);
        complete = scales.apply(figure, key(), input, build);
        return widgets::yRange(figure.plots.front()).second;
    }

    std::shared_ptr<RunData> run;
    RunScales scales;
    int built = 0;
    bool complete = false;
};

}  // namespace

class RunScalesTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aSampleIsIncludedOnce() {
        Bench b(20);
        QVERIFY(b.top() > 20 && b.complete);
        QCOMPARE(b.built, 20);
        sampleAt(*b.run, 200);
        QVERIFY(b.top() > 200 && b.complete);
        QCOMPARE(b.built, 21);
        b.top();
        QCOMPARE(b.built, 21);
        // Measured afterwards, between the others.
        insert_sample(*b.run, {"growth", 100, {{"rms", {3}, {5e4, 1, 1}, {}, "1"}}, {}, 0});
        QVERIFY(b.top() > 5e4);
        QCOMPARE(b.built, 22);
    }

    void otherDataStartOver() {
        Bench b(200);
        QVERIFY(b.top() > 200);
        b.restart(3);
        QVERIFY(b.top() < 100);
        QVERIFY(b.scales.incomplete().empty());
    }

    /// An opened run has many samples at once: the scale is completed over several calls, of one sample at
    /// least, and a figure that was drawn before has another key then.
    void manySamplesTakeSeveralCalls() {
        Bench b(40, std::chrono::milliseconds(0));
        const FigureKey before = b.key();
        for (int calls = 1; calls < 40; ++calls) {
            b.top();
            QVERIFY(!b.complete);
            QCOMPARE(b.built, calls);
            QCOMPARE(b.scales.incomplete().size(), 1u);
            QCOMPARE(b.key(), before);
        }
        b.top();
        QVERIFY(b.complete);
        QCOMPARE(b.built, 40);
        QVERIFY(b.scales.incomplete().empty());
        QVERIFY(!(b.key() == before));
        QVERIFY(b.top() > 40);
    }
};

NORMSCOPE_TEST(RunScalesTest)
#include "run_scales_test.moc"
