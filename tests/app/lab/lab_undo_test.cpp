// SPDX-License-Identifier: GPL-3.0-or-later
// No run is lost by an edit that replaces it: undone and done again, each comes back as it was trained.
#include "lab_bench.h"
#include "tests/support/test_main.h"

using namespace normscope;
using namespace normscope::app;
using Bench = normscope::test::LabBench;

namespace {

std::vector<double> loss(const LabRun& run) {
    const std::vector<double>* values = run.data->steps.find("loss");
    return values ? *values : std::vector<double>{};
}

/// What identifies the runs and their recordings.
struct State {
    std::vector<std::string> ids, names;
    std::vector<RunState> states;
    std::vector<std::vector<double>> losses;
    std::vector<Recipe> knobs;
    bool operator==(const State&) const = default;
};

State stateOf(const Bench& b) {
    State state;
    for (const LabRun& run : b.lab->comparison().runs) {
        state.ids.push_back(run.id);
        state.names.push_back(run.data->name);
        state.states.push_back(run.data->outcome.state);
        state.losses.push_back(loss(run));
        state.knobs.push_back(run.recipe);
    }
    return state;
}

void train(Bench& b) {
    b.lab->training().play();
    QTRY_VERIFY(b.ended() && b.run(0).steps.rows() > 0);
}

}  // namespace

class LabUndoTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aNewComparisonIsUndone() {
        Bench b;
        b.lab->runs().add(b.lab->comparison().runs[0].recipe);
        train(b);
        b.lab->runs().rename(2, "third");
        b.lab->knobs().commitKey("optimizer.lr", 1e-4);  // asks for new runs
        b.lab->runs().select(1);
        const State before = stateOf(b);
        QCOMPARE(before.losses[2].size(), 6u);
        b.lab->session().startOver();
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
        QCOMPARE(b.run(0).name, std::string("Pre-LN"));
        QCOMPARE(b.run(1).name, std::string("Post-LN"));
        QVERIFY(b.lab->comparison().exploring() && b.lab->comparison().selected == 0 &&
                !b.lab->session().unsaved());
        for (const LabRun& run : b.lab->comparison().runs)
            QVERIFY(std::count(before.ids.begin(), before.ids.end(), run.id) == 0);
        QCOMPARE(b.lab->runs().undoStack()->undoText(), QString("new comparison"));

        b.lab->runs().undoStack()->undo();
        QVERIFY(stateOf(b) == before);
        QVERIFY(b.lab->session().unsaved() && b.lab->comparison().changesPending());
        b.lab->runs().undoStack()->undo();  // the edits before it are there too
        QCOMPARE(b.lab->comparison().runs[0].recipe.train.optimizer.lr, 3e-3);
        QVERIFY(!b.lab->comparison().changesPending());
        b.lab->runs().undoStack()->redo();
        b.lab->runs().undoStack()->redo();
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
        QVERIFY(b.lab->comparison().exploring() && !b.lab->session().unsaved());
        QTRY_VERIFY(b.lab->view().exact() && b.run(0).probes.count("growth"));
        QCOMPARE(b.problems, QStringList());
    }

    /// The run that was selected, although its place is not in the new comparison, and the session's file.
    void theSelectedRunAndTheSessionComeBack() {
        Bench b;
        b.lab->runs().add(b.lab->comparison().runs[0].recipe);
        b.lab->runs().select(2);
        b.lab->session().setPath("mine.h5");
        const std::string id = b.lab->comparison().selectedRun().id;
        b.lab->session().startOver();
        QCOMPARE(b.lab->session().path(), QString());
        b.lab->runs().select(1);
        const std::string other = b.lab->comparison().selectedRun().id;
        b.lab->session().setPath("other.h5");
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.lab->comparison().selectedRun().id, id);
        QCOMPARE(b.lab->session().path(), QString("mine.h5"));
        b.lab->runs().undoStack()->redo();
        QCOMPARE(b.lab->comparison().selectedRun().id, other);
        QCOMPARE(b.lab->session().path(), QString("other.h5"));
    }

    /// What was trained after it was made comes back as well.
    void theNewComparisonThatWasTrainedIsDoneAgain() {
        Bench b;
        train(b);
        const State first = stateOf(b);
        b.lab->session().startOver();
        b.makeSmallKeepingUndo(4);
        train(b);
        const State second = stateOf(b);
        QCOMPARE(second.losses[0].size(), 4u);
        while (b.lab->runs().undoStack()->canUndo()) b.lab->runs().undoStack()->undo();
        QVERIFY(stateOf(b) == first);
        while (b.lab->runs().undoStack()->canRedo()) b.lab->runs().undoStack()->redo();
        QVERIFY(stateOf(b) == second);
    }

    void runsInTrainingAreStoppedAndComeBackResumable() {
        Bench b(100000);
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).steps.rows() > 3 && b.run(1).steps.rows() > 3);
        b.lab->session().startOver();
        QVERIFY(!b.lab->training().playing() && !b.lab->comparison().anyTraining() &&
                b.lab->comparison().exploring());
        b.lab->runs().undoStack()->undo();
        for (const int i : {0, 1}) {
            const LabRun& run = b.lab->comparison().runs[static_cast<std::size_t>(i)];
            QCOMPARE(run.data->outcome.state, RunState::Interrupted);
            QVERIFY(run.trained() && run.resumable());
            for (std::size_t row = 0; row < run.data->steps.rows(); ++row)
                QCOMPARE(run.data->steps.step[row], static_cast<std::int64_t>(row));
        }
        const std::string id = b.lab->comparison().runs[0].id;
        b.lab->training().resumeRuns({id});
        const auto rows = b.run(0).steps.rows();
        QTRY_VERIFY(b.lab->comparison().runs[0].isTraining() && b.run(0).steps.rows() > rows + 10);
        QCOMPARE(b.lab->comparison().runs[0].id, id);
        b.lab->training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QCOMPARE(b.problems, QStringList());
    }

    /// "Replace run" replaces the trained run; both trainings are kept.
    void aReplacedRunComesBackAndSoDoesTheNewOne() {
        Bench b;
        train(b);
        b.lab->knobs().commitKey("stack.depth", 3);
        const State before = stateOf(b);
        b.lab->training().replaceRuns();
        QTRY_VERIFY(b.ended() && b.run(0).steps.rows() == 6);
        const State after = stateOf(b);
        QVERIFY(after.ids != before.ids && after.losses != before.losses);
        b.lab->runs().undoStack()->undo();
        QVERIFY(stateOf(b) == before);
        b.lab->runs().undoStack()->redo();
        QVERIFY(stateOf(b) == after);
        b.lab->runs().undoStack()->undo();
        QVERIFY(stateOf(b) == before);
    }

    void aStartThatIsUndoneInTrainingIsDoneAgainAsItStopped() {
        Bench b(100000);
        b.lab->runs().remove(1);
        b.lab->runs().undoStack()->clear();
        b.lab->runs().add(b.lab->comparison().runs[0].recipe);
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).steps.rows() > 3);
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.lab->comparison().runs.size(), 1u);
        b.lab->training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        b.lab->runs().undoStack()->redo();
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
        QVERIFY(!b.lab->comparison().runs[1].isTraining());
    }

    void aStoryAndAPresetAreUndone() {
        Bench b;
        train(b);
        const State before = stateOf(b);
        b.lab->runs().compare({load_recipe("peri-ln")}, "story");
        QCOMPARE(b.lab->comparison().runs.size(), 1u);
        b.lab->runs().undoStack()->undo();
        QVERIFY(stateOf(b) == before);
    }
};

NORMSCOPE_TEST(LabUndoTest)
#include "lab_undo_test.moc"
