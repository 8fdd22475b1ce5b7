// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run.h"

#include "small_run.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <chrono>
#include <thread>

using namespace normscope;
using namespace normscope::test;
using namespace std::chrono_literals;

namespace {

MemorySink finished(const Recipe& recipe, RunStart start = {}) {
    MemorySink sink;
    ThreadPool pool(1);
    Run run(small_experiment(recipe), std::move(start), sink, 1h);
    run.begin();
    while (!run.ended()) run.advance(pool);
    return sink;
}

}  // namespace

class RunTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aRunGivesWhatItsExperimentGives() {
        const Recipe recipe = small_recipe(7);
        const MemorySink sink = finished(recipe);
        auto alone = small_experiment(recipe);
        ThreadPool pool(1);
        RunDelta expected;
        while (!alone->ended()) merge(expected, alone->advance(pool));
        QCOMPARE(sink.all.steps.size(), std::size_t{7});
        for (std::size_t i = 0; i < 7; ++i) {
            QCOMPARE(sink.all.steps[i].step, expected.steps[i].step);
            QCOMPARE(sink.all.steps[i].values[0].second, expected.steps[i].values[0].second);
        }
        QCOMPARE(sink.all.probes.size(), expected.probes.size());
        QCOMPARE(sink.all.outcome->state, RunState::Finished);
    }

    void theRecipeSetsTheCheckpointCadence() {
        const MemorySink sink = finished(small_recipe(7, 3));
        QCOMPARE(sink.checkpoints, (std::vector<std::int64_t>{3, 6, 7}));
        QCOMPARE(sink.rows_at, (std::vector<std::size_t>{3, 6, 7}));  // its rows come before a checkpoint
        QCOMPARE(finished(small_recipe(7)).checkpoints, (std::vector<std::int64_t>{7}));
    }

    void withoutACadenceTheClockDecides() {
        MemorySink sink;
        ThreadPool pool(1);
        Run run(small_experiment(small_recipe(100000)), {}, sink, 0s);
        run.begin();
        const auto begin = Run::Clock::now();
        while (Run::Clock::now() - begin < 1s) run.advance(pool);
        // As often as their share of the time allows, which is not after every step.
        QVERIFY2(sink.checkpoints.size() >= 2 && sink.checkpoints.size() < sink.all.steps.size() / 2,
                 qPrintable(QString::number(sink.checkpoints.size())));
    }

    void theClockStartsAgainWithEachCheckpoint() {
        MemorySink sink;
        ThreadPool pool(1);
        Run run(small_experiment(small_recipe(100000)), {}, sink, 300ms);
        run.begin();
        const auto begin = Run::Clock::now();
        while (Run::Clock::now() - begin < 1s) run.advance(pool);
        QVERIFY2(sink.checkpoints.size() >= 1 && sink.checkpoints.size() <= 3,
                 qPrintable(QString::number(sink.checkpoints.size())));
    }

    void aRunOfNoStepsHasItsFirstSamples() {
        const MemorySink sink = finished(small_recipe(0));
        QCOMPARE(sink.all.probes.size(), std::size_t{1});
        QVERIFY(sink.all.steps.empty());
        QCOMPARE(sink.all.outcome->state, RunState::Finished);
        QCOMPARE(sink.checkpoints, (std::vector<std::int64_t>{0}));
    }

    void aResumedRunContinuesBitForBit() {
        const Recipe recipe = small_recipe(8);
        const MemorySink whole = finished(recipe);
        MemorySink first;
        ThreadPool pool(1);
        {
            Run run(small_experiment(recipe), {}, first, 1h);
            run.begin();
            for (int i = 0; i < 5; ++i) run.advance(pool);
            run.interrupt("by hand", "stopped");
            run.advance(pool);  // it has ended
        }
        QCOMPARE(first.all.outcome->state, RunState::Interrupted);
        QCOMPARE(first.all.outcome->text, std::string("by hand"));
        QCOMPARE(first.all.events.back().text, std::string("interrupted: stopped"));
        QCOMPARE(first.checkpoints, (std::vector<std::int64_t>{5}));
        QCOMPARE(first.state_at.back(),
                 RunState::Running);  // the checkpoint comes before the end is reported
        RunStart start;
        start.checkpoint = first.last;
        start.events.push_back({5, "resume", "here"});
        const MemorySink second = finished(recipe, std::move(start));
        QCOMPARE(second.all.events.front().kind, std::string("resume"));
        std::vector<double> losses = first.losses();
        for (const double loss : second.losses()) losses.push_back(loss);
        QCOMPARE(losses, whole.losses());
    }

    void aMovedKnobIsCheckpointedBeforeTheNextStep() {
        MemorySink sink;
        ThreadPool pool(1);
        Run run(small_experiment(small_recipe(9)), {}, sink, 1h);
        run.begin();
        run.advance(pool);
        HotKnobs knobs = run.experiment().knobs();
        knobs.temperature = 2;
        run.set_knobs(knobs);
        QVERIFY(sink.checkpoints.empty());
        run.advance(pool);
        QCOMPARE(sink.checkpoints, (std::vector<std::int64_t>{1}));
        run.set_knobs(knobs);  // nothing moves
        run.advance(pool);
        QCOMPARE(sink.checkpoints, (std::vector<std::int64_t>{1}));
        QCOMPARE(sink.all.events.size(), std::size_t{1});
    }

    void givenWeightsAreSavedAtOnce() {
        MemorySink sink;
        ThreadPool pool(1);
        Run run(small_experiment(small_recipe(2)),
                {nullptr, nullptr, {}, {{0, "weights", "from a file"}}, true}, sink, 1h);
        QVERIFY(sink.all.events.empty());  // not before it begins
        run.begin();
        QCOMPARE(sink.checkpoints, (std::vector<std::int64_t>{0}));
        QCOMPARE(sink.all.events[0].kind, std::string("weights"));
    }

    /// A full disk ends a recording, not the training.
    void whatTheSinkThrowsLeavesTheRunSound() {
        const Recipe recipe = small_recipe(7, 2);
        const MemorySink whole = finished(recipe);
        MemorySink sink;
        sink.failing_saves = 2;
        ThreadPool pool(1);
        Run run(small_experiment(recipe), {}, sink, 1h);
        run.begin();
        int thrown = 0;
        while (!run.ended()) try {
                run.advance(pool);
            } catch (const std::runtime_error& error) {
                QCOMPARE(error.what(), "no space left");
                ++thrown;
            }
        QCOMPARE(thrown, 2);
        QVERIFY(!run.error());
        QCOMPARE(sink.losses(), whole.losses());
        QCOMPARE(run.outcome().state, RunState::Finished);
    }

    void anInterruptionIsReportedAlsoWhereItsCheckpointFails() {
        MemorySink sink;
        sink.failing_saves = 1;
        Run run(small_experiment(small_recipe(7)), {}, sink, 1h);
        run.begin();
        QVERIFY_EXCEPTION_THROWN(run.interrupt("stop", "stop"), std::runtime_error);
        QVERIFY(run.ended());
        QCOMPARE(sink.all.outcome->state, RunState::Interrupted);
    }

    void checkpointsAreRarerWhereTheyTakeLong() {
        QCOMPARE(checkpoint_interval(5s, 0s), Run::Clock::duration(5s));
        QCOMPARE(checkpoint_interval(5s, 100ms), Run::Clock::duration(5s));
        const auto slow = checkpoint_interval(5s, 1s);
        const double share = 1.0 / (1.0 + std::chrono::duration<double>(slow).count());
        QVERIFY2(share <= kCheckpointShare * 1.001 && share > 0.9 * kCheckpointShare,
                 qPrintable(QString::number(share)));
        QCOMPARE(checkpoint_interval(5s, 1h), Run::Clock::duration(kMaxCheckpointInterval));
        QCOMPARE(checkpoint_interval(10min, 0s), Run::Clock::duration(10min));
    }

    /// A disk on which a checkpoint takes longer than the interval: most of the time is training.
    void aSlowDiskTakesAShareOfTheTime() {
        struct SlowSink : MemorySink {
            void save(const std::shared_ptr<const Checkpoint>& checkpoint) override {
                std::this_thread::sleep_for(50ms);
                MemorySink::save(checkpoint);
            }
        } sink;
        const Recipe recipe = small_recipe(100'000);
        Run run(small_experiment(recipe), {}, sink, 1ms);
        run.begin();
        ThreadPool pool(1);
        const auto begin = Run::Clock::now();
        while (Run::Clock::now() - begin < 1500ms) run.advance(pool);
        const double elapsed = std::chrono::duration<double>(Run::Clock::now() - begin).count();
        const auto most = static_cast<std::size_t>(1 + elapsed * kCheckpointShare / 0.05);
        QVERIFY2(!sink.checkpoints.empty() && sink.checkpoints.size() <= most,
                 qPrintable(QString("%1 in %2 s").arg(sink.checkpoints.size()).arg(elapsed)));
    }
};

NORMSCOPE_TEST(RunTest)
#include "run_test.moc"
