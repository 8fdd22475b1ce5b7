// SPDX-License-Identifier: GPL-3.0-or-later
// What the laboratory makes of answers that come late, and of lists of runs that change under a drag.
#include "core/recipe/interchange.h"
#include "lab_bench.h"

using namespace normscope;
using namespace normscope::app;
using Bench = normscope::test::LabBench;

namespace {

/// A small model of another program.
QString modelFile(const Bench& b) {
    Recipe recipe = b.lab->runs()[0].recipe;
    complete_and_validate(recipe);
    const QString path = b.folder.filePath(QStringLiteral("tiny.safetensors"));
    export_model(path.toStdString(), recipe, Experiment(recipe, "source", "source").checkpoint().params);
    return path;
}

double temperature(const Bench& b, std::size_t i) {
    return b.lab->runs().at(i).recipe.stack.temperature;
}

/// All runs trained to their end, with checkpoints.
void train(Bench& b) {
    b.lab->play();
    QTRY_VERIFY(b.ended() && !b.lab->runs()[0].checkpoints.empty() && !b.lab->runs()[1].checkpoints.empty());
}

}  // namespace

class LabRepliesTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aDragKeepsToItsRunsWhenOneIsRemoved() {
        Bench b;
        b.lab->addRun(b.lab->runs()[0].recipe);
        b.lab->beginDrag();
        b.lab->dragKey("stack.temperature", 1.5);
        b.lab->removeRun(0);
        b.lab->dragKey("stack.temperature", 1.75);
        QCOMPARE(temperature(b, 0), 1.75);
        QCOMPARE(temperature(b, 1), 1.75);
        b.lab->commitKey("stack.temperature", 2.0);
        QCOMPARE(b.lab->runs().size(), 2u);
        QCOMPARE(b.lab->undoStack()->count(), 3);
        b.lab->undoStack()->undo();
        for (const std::size_t i : {0u, 1u}) QCOMPARE(temperature(b, i), 1.0);
        b.lab->undoStack()->undo();  // the removal: it must not bring a value of the drag back
        QCOMPARE(b.lab->runs().size(), 3u);
        for (const std::size_t i : {0u, 1u, 2u}) QCOMPARE(temperature(b, i), 1.0);
        b.lab->undoStack()->redo();
        for (const std::size_t i : {0u, 1u}) QCOMPARE(temperature(b, i), 1.0);
        b.lab->undoStack()->redo();
        for (const std::size_t i : {0u, 1u}) QCOMPARE(temperature(b, i), 2.0);
    }

    void anImportThatArrivesInADragIsNotDragged() {
        Bench b;
        const QString path = modelFile(b);
        b.lab->beginDrag();
        b.lab->dragKey("stack.temperature", 1.5);
        b.lab->importModel(path);
        QTRY_COMPARE(b.lab->runs().size(), 3u);
        b.lab->dragKey("stack.temperature", 2.0);
        b.lab->commitKey("stack.temperature", 2.0);
        QCOMPARE(temperature(b, 0), 2.0);
        QCOMPARE(temperature(b, 1), 2.0);
        QCOMPARE(temperature(b, 2), 1.0);
        b.lab->undoStack()->undo();
        QCOMPARE(b.lab->runs().size(), 3u);
        QCOMPARE(temperature(b, 1), 1.0);
        b.lab->undoStack()->undo();
        QCOMPARE(b.lab->runs().size(), 2u);
        QCOMPARE(temperature(b, 1), 1.0);
    }

    /// The drag goes on from what undo brought back.
    void anUndoInADragIsNotTakenBackByIt() {
        Bench b;
        b.lab->commitKey("stack.residual_step", 0.5);
        b.lab->beginDrag();
        b.lab->dragKey("stack.temperature", 1.5);
        b.lab->undoStack()->undo();
        b.lab->commitKey("stack.temperature", 2.0);
        QCOMPARE(b.lab->runs()[0].recipe.stack.residual_step, 1.0);
        QCOMPARE(temperature(b, 0), 2.0);
        b.lab->undoStack()->undo();
        QCOMPARE(b.lab->runs()[0].recipe.stack.residual_step, 1.0);
        QCOMPARE(temperature(b, 0), 1.0);
    }

    void aForkResetsItsParentAndNoOtherRun() {
        Bench b;
        train(b);
        b.lab->setLinked(false);
        for (const int run : {1, 0}) {
            b.lab->selectRun(run);
            b.lab->commitKey("optimizer.weight_decay", 0.5);
        }
        b.lab->forkSelected();
        b.lab->selectRun(1);
        QTRY_COMPARE(b.lab->runs().size(), 3u);
        QVERIFY(b.lab->runs()[0].recipe.train.optimizer.weight_decay != 0.5);
        QCOMPARE(b.lab->runs()[1].recipe.train.optimizer.weight_decay, 0.5);
        QCOMPARE(b.lab->runs()[2].recipe.train.optimizer.weight_decay, 0.5);
    }

    void aForkOfARunThatWasRemovedMeanwhileStillComes() {
        Bench b;
        train(b);
        b.lab->selectRun(1);
        const std::string other = b.lab->runs()[0].id;
        b.lab->forkSelected();
        b.lab->removeRun(1);
        QTRY_COMPARE(b.lab->runs().size(), 2u);
        QCOMPARE(b.lab->runs()[0].id, other);
        QVERIFY(b.run(1).name.find("fork at") != std::string::npos);
    }

    void twoForksInARowBothCome() {
        Bench b;
        train(b);
        b.lab->forkSelected();
        b.lab->forkSelected();
        QTRY_COMPARE(b.lab->runs().size(), 4u);
        QVERIFY(b.lab->runs()[2].id != b.lab->runs()[3].id);
    }

    void aForkDoesNotLandInAnotherSession() {
        Bench b;
        train(b);
        b.lab->forkSelected();
        b.lab->startOver();
        b.interrupted();  // the files answer in turn: the fork's checkpoint came before this
        QCOMPARE(b.lab->runs().size(), 2u);
        QVERIFY(!b.lab->anyUnderWay());
    }

    void anImportDoesNotLandInAnotherSession() {
        Bench b;
        b.lab->importModel(modelFile(b));
        b.lab->startOver();
        b.interrupted();
        QCOMPARE(b.lab->runs().size(), 2u);
    }

    void aSessionThatOpensLateDoesNotReplaceANewerComparison() {
        Bench b;
        b.lab->addRun(b.lab->runs()[0].recipe);
        QSignalSpy saved(b.lab.get(), &Lab::sessionSaved), opened(b.lab.get(), &Lab::sessionOpened);
        b.lab->saveSession(b.folder.filePath("three.h5"), "{}");
        QTRY_COMPARE(saved.count(), 1);
        b.lab->openSession(b.folder.filePath("three.h5"));
        b.lab->startOver();
        b.interrupted();
        QCOMPARE(opened.count(), 0);
        QCOMPARE(b.lab->runs().size(), 2u);
    }

    void aRecordingThatIsReadLateDoesNotReplaceANewerComparison() {
        Bench b(100000);
        b.lab->play();
        QTRY_VERIFY(b.run(0).steps.rows() > 3 && b.run(1).steps.rows() > 3);
        b.lab.reset();  // the program quits in the middle
        b.open(4);
        const auto found = b.interrupted();
        QCOMPARE(found.size(), 2);
        b.lab->resume({found[0].path});
        b.lab->startOver();
        b.interrupted();
        QCOMPARE(b.lab->runs().size(), 2u);
        QVERIFY(!b.lab->anyUnderWay());
    }

    /// Stopping takes a last checkpoint of each run; a run of the next session may have the same id.
    void aCheckpointDoesNotLandInAnotherSession() {
        Bench b(100000);
        b.lab->play();
        QTRY_VERIFY(b.run(0).steps.rows() > 3 && b.run(1).steps.rows() > 3);
        b.lab->startOver();
        b.makeSmall(6);
        QTRY_VERIFY(b.measured());  // the engine answers in turn
        QVERIFY(b.lab->runs()[0].checkpoints.empty());
        QVERIFY(b.lab->runs()[1].checkpoints.empty());
        train(b);
        QVERIFY(b.lab->runs()[0].checkpoints.back().step <= 6);
    }

    void theSelectionStaysWithItsRun() {
        Bench b;
        b.lab->addRun(b.lab->runs()[0].recipe);
        b.lab->selectRun(1);
        const std::string id = b.lab->selected().id;
        b.lab->removeRun(0);
        QCOMPARE(b.lab->selected().id, id);
        b.lab->undoStack()->undo();
        QCOMPARE(b.lab->selected().id, id);
        b.lab->undoStack()->redo();
        QCOMPARE(b.lab->selected().id, id);
        // A run that is gone leaves the selection to the one that takes its place.
        b.lab->removeRun(0);
        QCOMPARE(b.lab->selectedRun(), 0);
    }
};

QTEST_GUILESS_MAIN(LabRepliesTest)
#include "lab_replies_test.moc"
