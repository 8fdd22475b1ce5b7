// SPDX-License-Identifier: GPL-3.0-or-later
// Which runs an edit reaches, and which train on: starts, undo, pins, forks, hot knobs.
#include "core/interchange/model_file.h"
#include "lab_bench.h"
#include "tests/support/test_main.h"

#include <algorithm>

using namespace normscope;
using namespace normscope::app;
using Bench = normscope::test::LabBench;

namespace {

bool bothTrain(const Bench& b) {
    return b.run(0).steps.rows() > 3 && b.run(1).steps.rows() > 3;
}

}  // namespace

class LabRunsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void startingOneRunAgainLeavesTheOtherTraining() {
        Bench b(100000);
        b.lab->training().play();
        QTRY_VERIFY(bothTrain(b));
        b.lab->runs().setLinked(false);
        b.lab->runs().select(1);
        b.lab->knobs().commitKey("stack.depth", 3);
        const std::string other = b.lab->comparison().runs[0].id, replaced = b.lab->comparison().runs[1].id;
        b.lab->training().replaceRuns();
        QCOMPARE(b.lab->comparison().runs[0].id, other);
        QVERIFY(b.lab->comparison().runs[1].id != replaced);
        QVERIFY(b.lab->training().playing());
        auto rows = b.run(0).steps.rows();
        QTRY_VERIFY(b.run(0).steps.rows() > rows + 10 && b.run(1).steps.rows() > 3);
        QVERIFY(b.lab->comparison().runs[0].isTraining());

        b.lab->runs().undoStack()->undo();  // the new run ends, the other continues
        QCOMPARE(b.lab->comparison().runs[1].id, replaced);
        QCOMPARE(b.run(1).outcome.state, RunState::Interrupted);
        QVERIFY(b.lab->comparison().runs[0].isTraining() && b.lab->training().playing());
        rows = b.run(0).steps.rows();
        QTRY_VERIFY(b.run(0).steps.rows() > rows + 10);
        b.lab->training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QCOMPARE(b.problems, QStringList());
    }

    void aStartThatIsRejectedLeavesTheOtherTraining() {
        Bench b(100000);
        b.lab->training().play();
        QTRY_VERIFY(bothTrain(b));
        b.lab->runs().setLinked(false);
        b.lab->runs().select(1);
        b.lab->knobs().commitKey("stack.heads", 3);  // 16 is no multiple of 3
        b.lab->training().replaceRuns();
        QTRY_VERIFY(!b.lab->comparison().runs[1].isTraining());
        QCOMPARE(b.run(1).outcome.state, RunState::Prepared);
        QVERIFY(b.lab->comparison().runs[0].isTraining() && b.lab->training().playing());
        const auto rows = b.run(0).steps.rows();
        QTRY_VERIFY(b.run(0).steps.rows() > rows + 10);
        b.lab->training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
    }

    void everyHotKnobIsAnEventAlsoInAPause() {
        Bench b(100000);
        b.lab->training().play();
        QTRY_VERIFY(bothTrain(b));
        b.lab->training().pause();
        QTRY_VERIFY(!b.lab->comparison().runs[0].checkpoints.empty());
        const std::vector<std::pair<const char*, double>> moves{
            {"stack.residual_step", 0.5}, {"stack.temperature", 2},        {"stack.norm.eps", 1e-3},
            {"optimizer.lr", 1e-4},       {"optimizer.weight_decay", 0.2}, {"optimizer.clip", 0.5}};
        for (const auto& [key, value] : moves) b.lab->knobs().commitKey(key, value);
        QVERIFY(!b.lab->comparison().changesPending() && !b.lab->training().playing());
        const auto events = [&] {
            QStringList texts;
            for (const RunEvent& event : b.run(0).events)
                if (event.kind == "knob") texts << QString::fromStdString(event.text);
            return texts;
        };
        QTRY_COMPARE(events(),
                     QStringList({"Δt 1 → 0.5", "τ 1 → 2", "ε 1e-05 → 0.001", "learning rate 0.003 → 0.0001",
                                  "weight decay 0.1 → 0.2", "clip 1 → 0.5"}));
        b.lab->training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
    }

    void aPinnedRunIsReachedByNoKnob() {
        Bench b;
        b.lab->runs().pinSelected();
        b.lab->knobs().commitKey("stack.temperature", 2.0);
        QCOMPARE(b.lab->comparison().runs[0].recipe.stack.temperature, 2.0);
        QCOMPARE(b.lab->comparison().runs[1].recipe.stack.temperature, 2.0);
        QCOMPARE(b.lab->comparison().runs[2].recipe.stack.temperature, 1.0);
        b.lab->runs().select(2);
        b.lab->knobs().commitKey("stack.temperature", 3.0);
        b.lab->runs().setLinked(false);
        b.lab->knobs().commitKey("stack.residual_step", 0.5);
        QCOMPARE(b.lab->comparison().runs[2].recipe.stack.temperature, 1.0);
        QCOMPARE(b.lab->comparison().runs[2].recipe.stack.residual_step, 1.0);
    }

    void aDepthDragDownAndUpKeepsTheOverrides() {
        Bench b;
        LayerOverride manual{1, {}, {}};
        manual.attn.in = false;
        b.lab->knobs().setLayers({manual}, "by hand");
        const int entries = b.lab->runs().undoStack()->count();
        b.lab->knobs().beginDrag();
        b.lab->knobs().dragKey("stack.depth", 1);
        QVERIFY(b.lab->comparison().runs[0].recipe.stack.layers.empty());
        b.lab->knobs().dragKey("stack.depth", 2);
        b.lab->knobs().commitKey("stack.depth", 2);
        QCOMPARE(b.lab->comparison().runs[0].recipe.stack.layers.size(), 1u);
        QCOMPARE(b.lab->runs().undoStack()->count(), entries);
        b.lab->knobs().commitKey("stack.depth", 1);
        QVERIFY(b.lab->comparison().runs[0].recipe.stack.layers.empty());
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.lab->comparison().runs[0].recipe.stack.layers.size(), 1u);
    }

    void ghostsLeaveWithADragThatEndsWhereItBegan() {
        Bench b;
        QTRY_VERIFY(b.measured());
        b.lab->knobs().beginDrag();
        b.lab->knobs().dragKey("stack.temperature", 2.0);
        QVERIFY(b.lab->view().panelInput("growth", {}).ghosts[0] &&
                b.lab->view().panelInput("growth", {}).ghosts[1]);
        b.lab->knobs().commitKey("stack.temperature", 1.0);
        const auto ghosts = b.lab->view().panelInput("growth", {}).ghosts;
        QVERIFY(!ghosts[0] && !ghosts[1]);
    }

    void aForkInTheMiddleRepeatsNoRow() {
        Bench b(100000);
        b.lab->runs().remove(1);
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).steps.rows() > 3);
        b.lab->training().pause();
        QTRY_VERIFY(!b.lab->comparison().runs[0].checkpoints.empty());
        const auto at = b.lab->comparison().runs[0].checkpoints.back().step;
        b.lab->training().play();
        const auto rows = b.run(0).steps.rows();
        QTRY_VERIFY(b.run(0).steps.rows() > rows + 10);
        b.lab->forks().forkSelected();
        QTRY_COMPARE(b.lab->comparison().runs.size(), 2u);
        QTRY_VERIFY(b.run(1).steps.rows() > static_cast<std::size_t>(at) + 5);
        for (std::size_t i = 0; i < b.run(1).steps.rows(); ++i)
            QCOMPARE(b.run(1).steps.step[i], static_cast<std::int64_t>(i));
        QVERIFY(b.lab->comparison().runs[0].isTraining());
        b.lab->training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
    }

    void importedWeightsStayWithUndoAndWithANewRun() {
        Bench b(4);
        Recipe recipe = b.lab->comparison().runs[0].recipe;
        recipe.train.seed = 7;
        complete_and_validate(recipe);
        const QString path = b.folder.filePath("tiny.safetensors");
        export_model(path.toStdString(), recipe, Experiment(recipe, "source", "source").checkpoint().params);
        b.lab->runs().importModel(path);
        QTRY_COMPARE(b.lab->comparison().runs.size(), 3u);
        b.lab->runs().remove(0);
        b.lab->runs().remove(0);
        const auto weights = b.lab->comparison().runs[0].weights;
        QVERIFY(weights);
        b.lab->runs().loadPreset("pre-ln");
        QVERIFY(!b.lab->comparison().runs[0].weights);
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.lab->comparison().runs[0].weights, weights);
        b.lab->knobs().commitKey("steps", 4);
        b.lab->training().play();
        QTRY_VERIFY(b.ended() && b.run(0).steps.rows() == 4);
        b.lab->knobs().commitKey("steps", 6);
        b.lab->training().replaceRuns();
        QCOMPARE(b.lab->comparison().runs[0].weights, weights);
        QTRY_VERIFY(b.ended() && b.run(0).steps.rows() == 6);
        QCOMPARE(b.run(0).events.front().kind, std::string("weights"));
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.lab->comparison().runs[0].weights, weights);
    }

    /// Explored runs are kept while their start is the same: the rounding and the optimizer belong to it.
    void everyKnobThatMovesTheStartIsMeasuredAgain() {
        Bench b;
        b.lab->view().setVisibleProbes({"growth", "updates"});
        b.lab->knobs().commitKey("precision", "bf16");
        QTRY_VERIFY(b.lab->view().exact() && b.run(0).probes.count("updates"));
        const auto rms = b.rms(0);
        b.lab->knobs().commitKey("precision_policy", "autocast");
        QTRY_VERIFY(b.lab->view().exact() && b.rms(0) != rms);
        const auto update = [&] { return b.run(0).probes.at("updates").back().find("update_ratio")->data; };
        const auto adam = update();
        b.lab->knobs().commitKey("optimizer.kind", "sgd");
        QTRY_VERIFY(b.lab->view().exact() && update() != adam);
        const auto sgd = b.rms(0);
        b.lab->knobs().commitKey("seed", 43);
        QTRY_VERIFY(b.lab->view().exact() && b.rms(0) != sgd);
    }
};

NORMSCOPE_TEST(LabRunsTest)
#include "lab_runs_test.moc"
