// SPDX-License-Identifier: GPL-3.0-or-later
// Forks at any step: the state is replayed, so that a fork without another knob has the bits of its parent.
#include "app/lab/forks.h"

#include "lab_bench.h"
#include "tests/support/test_main.h"

#include <QSignalSpy>
#include <cmath>

using namespace normscope;
using namespace normscope::app;
using Bench = normscope::test::LabBench;

namespace {

/// Trains the first run alone.
void trainOne(Bench& b) {
    b.lab->runs().remove(1);
    b.lab->training().play();
    QTRY_VERIFY_WITH_TIMEOUT(b.ended() && !b.lab->comparison().runs[0].checkpoints.empty(), 30000);
}

const RunEvent* eventOf(const RunData& run, const std::string& kind) {
    for (const RunEvent& event : run.events)
        if (event.kind == kind) return &event;
    return nullptr;
}

void openOne(Bench& b, const RunData& run) {
    const QString path = b.folder.filePath("one.h5");
    save_session(path.toStdString(), {run}, "{}");
    QSignalSpy opened(&b.lab->session(), &LabSession::opened);
    b.lab->session().open(path);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
}

}  // namespace

class ForksTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aForkBeginsAtAnyStep_data() {
        QTest::addColumn<int>("step");
        for (const int step : {0, 1, 3, 17, 29}) QTest::addRow("%d", step) << step;
    }
    /// None of these steps has a checkpoint: the run has one at its end.
    void aForkBeginsAtAnyStep() {
        QFETCH(int, step);
        Bench b(30);
        trainOne(b);
        b.lab->view().setStep(step);
        QVERIFY(step == 29 || !b.lab->forks().atEnd());
        if (step == 29) b.lab->view().setStep(28);
        b.lab->forks().forkSelected();
        QTRY_COMPARE_WITH_TIMEOUT(b.lab->comparison().runs.size(), 2u, 20000);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QCOMPARE(b.run(1).steps.step, b.run(0).steps.step);
        for (const char* column : {"loss", "grad_norm", "lr", "batch_hash"})
            QCOMPARE(*b.run(1).steps.find(column), *b.run(0).steps.find(column));
        const int at = std::min(step, 28);
        QVERIFY(b.run(1).name.find("fork at " + std::to_string(at)) != std::string::npos);
        if (at > 0) QCOMPARE(eventOf(b.run(1), "fork")->step, std::int64_t(at) - 1);
        QVERIFY(!eventOf(b.run(1), "steps"));
        QCOMPARE(b.problems, QStringList());
    }

    /// A moved knob acts from the forked step on, and not before.
    void aMovedKnobActsFromTheForkOn() {
        Bench b(20);
        trainOne(b);
        b.lab->view().setStep(7);
        b.lab->knobs().commitKey("optimizer.lr", 0.1);
        b.lab->forks().forkSelected();
        QTRY_COMPARE_WITH_TIMEOUT(b.lab->comparison().runs.size(), 2u, 20000);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        const std::vector<double>&parent = *b.run(0).steps.find("loss"), &fork = *b.run(1).steps.find("loss");
        for (std::size_t i = 0; i <= 7; ++i) QCOMPARE(fork[i], parent[i]);  // step 7 is its first update
        QVERIFY(fork[8] != parent[8]);
        QVERIFY(!b.lab->comparison().changesPending());
    }

    /// At its end a run is trained on: with a constant rate as one that was planned that long.
    void atTheEndItTrainsMoreSteps() {
        Bench b(12);
        b.lab->knobs().commitKey("schedule.lr", std::string("constant"));
        trainOne(b);
        QVERIFY(b.lab->forks().atEnd());
        b.lab->forks().forkSelected(18);
        QTRY_COMPARE_WITH_TIMEOUT(b.lab->comparison().runs.size(), 2u, 20000);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QCOMPARE(b.lab->comparison().runs[1].live.train.steps, 30);
        QCOMPARE(b.lab->comparison().runs[0].live.train.steps, 12);
        QCOMPARE(eventOf(b.run(1), "steps")->text, std::string("12 → 30"));
        QVERIFY(!b.lab->comparison().changesPending());

        Recipe whole = b.lab->comparison().runs[1].recipe;
        complete_and_validate(whole);
        Experiment alone(whole, "x", "alone");
        RunData wanted = alone.header();
        ThreadPool pool(1);
        while (!alone.ended()) append(wanted, alone.advance(pool));
        QCOMPARE(*b.run(1).steps.find("loss"), *wanted.steps.find("loss"));

        // What its parent trained is measured there.
        b.lab->runs().select(1);
        b.lab->view().setStep(4);
        QVERIFY(b.lab->forks().obstacle().contains("its length was changed"));
        b.lab->view().setStep(20);
        QCOMPARE(b.lab->forks().obstacle(), QString());
        QCOMPARE(b.problems, QStringList());
    }

    /// Where a knob was moved after the last checkpoint, its new value is known to four digits alone.
    void aStepThatCannotBeReplayedHasALine() {
        Bench b(20);
        trainOne(b);
        RunData moved = b.run(0);
        moved.events.push_back({5, "knob", "Δt 1 → 0.3333"});
        openOne(b, moved);
        b.lab->view().setStep(9);
        const QString line = b.lab->forks().obstacle();
        QVERIFY2(line.contains("cannot be forked at step 9") && line.contains("a knob was moved at step 5"),
                 qPrintable(line));
        b.lab->forks().forkSelected();
        QCOMPARE(b.problems, QStringList{line});
        QCOMPARE(b.lab->comparison().runs.size(), 1u);
        b.lab->view().setStep(4);
        QCOMPARE(b.lab->forks().obstacle(), QString());
    }

    void aReplayIsCancelled() {
        Bench b(20);
        trainOne(b);
        RunData longer = b.run(0);
        Recipe recipe = longer.recipe.value("x");
        recipe.train.steps = 100000;
        longer.recipe = recipe;
        for (std::int64_t step = 20; step < 50000; ++step) {
            longer.steps.step.push_back(step);
            for (auto& column : longer.steps.columns) column.push_back(1);
        }
        longer.outcome = {RunState::Interrupted, 49999, "", -1};
        openOne(b, longer);
        b.lab->view().setStep(40000);
        b.lab->forks().forkSelected();
        QVERIFY(b.lab->forks().running());
        QTRY_VERIFY(b.lab->forks().status().contains("to step 40000, at "));
        b.lab->forks().forkSelected();  // the same key
        QVERIFY(!b.lab->forks().running() && b.lab->forks().status().isEmpty());
        QVERIFY(b.lab->waitingRequests().empty());
        // The engine is free: a near step is answered.
        b.lab->view().setStep(2);
        b.lab->forks().forkSelected();
        QTRY_COMPARE_WITH_TIMEOUT(b.lab->comparison().runs.size(), 2u, 20000);
        QVERIFY(b.run(1).name.find("fork at 2") != std::string::npos);
        b.lab->training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QCOMPARE(b.problems, QStringList());
    }

    void aReplayDoesNotLandInAnotherSession() {
        Bench b(20);
        trainOne(b);
        b.lab->view().setStep(11);
        b.lab->forks().forkSelected();
        b.lab->view().setVisibleProbes(
            {});  // nothing of the default stack is measured, which would take long
        b.lab->session().startOver();
        QTRY_VERIFY_WITH_TIMEOUT(b.lab->waitingRequests().empty(), 20000);
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
        QVERIFY(!b.lab->comparison().anyTraining());
    }
};

NORMSCOPE_TEST(ForksTest)
#include "forks_test.moc"
