// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that have ended train further, each in its own recording.
#include "app/lab/state/run_length.h"
#include "core/run/complete.h"
#include "core/session/session.h"
#include "lab_bench.h"
#include "tests/support/test_main.h"

using namespace normscope;
using namespace normscope::app;
using Act = TrainingControl::Act;
using Bench = normscope::test::LabBench;

namespace {

void train(Bench& b) {
    b.lab->training().play();
    QTRY_VERIFY_WITH_TIMEOUT(b.lab->comparison().anyTraining(), 20000);
    QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
}
/// Both runs, to their ends.
void trainBoth(Bench& b) {
    train(b);
    for (const LabRun& run : b.lab->comparison().runs) QTRY_VERIFY_WITH_TIMEOUT(furtherSteps(run) > 0, 20000);
}

std::vector<std::string> lengths(const RunData& run) {
    std::vector<std::string> texts;
    for (const RunEvent& event : run.events)
        if (event.kind == "steps") texts.push_back(event.text);
    return texts;
}

}  // namespace

class MoreStepsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// With a constant rate as runs that were planned that long, bit for bit; and once more.
    void endedRunsTrainFurther() {
        Bench b(6);
        b.lab->knobs().commitKey("schedule.lr", std::string("constant"));
        trainBoth(b);
        QCOMPARE(b.lab->training().nextAct(), Act::MoreSteps);
        QCOMPARE(b.lab->training().moreSteps(), 6);
        const auto runs = b.lab->comparison().runs.size();
        train(b);
        trainBoth(b);
        QCOMPARE(b.lab->comparison().runs.size(), runs);
        QVERIFY(!b.lab->comparison().changesPending());
        for (int i = 0; i < static_cast<int>(runs); ++i) {
            const LabRun& run = b.lab->comparison().runs[static_cast<std::size_t>(i)];
            QCOMPARE(run.live.train.steps, 18);
            QCOMPARE(lengths(b.run(i)), (std::vector<std::string>{"6 → 12", "12 → 18"}));
            Recipe whole = run.recipe;
            complete_and_validate(whole);
            Experiment alone(whole, "x", "alone");
            RunData wanted = alone.header();
            ThreadPool pool(1);
            while (!alone.ended()) append(wanted, alone.advance(pool));
            QCOMPARE(b.run(i).steps.step, wanted.steps.step);
            for (const char* column : {"loss", "grad_norm", "lr", "batch_hash"})
                QCOMPARE(*b.run(i).steps.find(column), *wanted.steps.find(column));
            // Its recording has all of it, and states its length.
            QTRY_VERIFY_WITH_TIMEOUT(!run.recording.empty(), 20000);
            const std::string path = run.recording;
            QTRY_COMPARE_WITH_TIMEOUT(open_session(path).runs.at(0).steps.rows(), std::size_t{18}, 20000);
            QCOMPARE(open_session(path).runs.at(0).recipe.value("x").train.steps, 18);
        }
        QCOMPARE(b.lab->runs().undoStack()->undoText(), QString("6 more steps"));
        QCOMPARE(b.problems, QStringList());
    }

    /// Nothing but the plan is undone: no row is lost.
    void undoKeepsTheRows() {
        Bench b(6);
        trainBoth(b);
        train(b);
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.run(0).steps.rows(), std::size_t{12});
        QCOMPARE(b.lab->comparison().runs[0].recipe.train.steps, 6);
        QCOMPARE(b.lab->training().nextAct(), Act::StartNew);
        b.lab->runs().undoStack()->redo();
        QCOMPARE(b.lab->comparison().runs[0].recipe.train.steps, 12);
        QCOMPARE(b.lab->training().nextAct(), Act::MoreSteps);
    }

    /// Of several plans the fewest; what diverged, is a reference or has no checkpoint of its end has none.
    void whatCannotTrainFurtherHasNoAct() {
        Bench b(6);
        trainBoth(b);
        LabRun run = b.lab->comparison().runs[0];
        QCOMPARE(furtherSteps(run), 6);
        const auto with = [&](auto change) {
            LabRun changed = run;
            changed.data = std::make_shared<RunData>(*run.data);
            change(changed);
            return furtherSteps(changed);
        };
        QCOMPARE(with([](LabRun& r) { r.data->outcome.state = RunState::Diverged; }), 0);
        QCOMPARE(with([](LabRun& r) { r.data->outcome.state = RunState::Interrupted; }), 0);
        QCOMPARE(with([](LabRun& r) { r.data->outcome.state = RunState::Stalled; }), 6);
        QCOMPARE(with([](LabRun& r) { r.pinned = true; }), 0);
        QCOMPARE(with([](LabRun& r) { r.checkpoints.clear(); }), 0);
        QCOMPARE(with([](LabRun& r) { r.recipe.train.seed += 1; }), 0);
        QCOMPARE(with([](LabRun& r) { r.live.train.steps = r.recipe.train.steps = 9; }), 0);
    }

    /// A start that is rejected leaves the plan as it was.
    void aRejectedStartKeepsThePlan() {
        Bench b(6);
        trainBoth(b);
        b.lab->training().trainFurther("no-such-device");
        QTRY_VERIFY_WITH_TIMEOUT(!b.problems.isEmpty(), 20000);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.lab->training().nextAct() == Act::MoreSteps, 20000);
        QCOMPARE(b.lab->comparison().runs[0].live.train.steps, 6);
        QCOMPARE(b.run(0).steps.rows(), std::size_t{6});
        QCOMPARE(lengths(b.run(0)), std::vector<std::string>());
    }
};

NORMSCOPE_TEST(MoreStepsTest)
#include "more_steps_test.moc"
