// SPDX-License-Identifier: GPL-3.0-or-later
// What the laboratory makes of answers that come late, and of lists of runs that change under a drag.
#include "core/interchange/model_file.h"
#include "lab_bench.h"
#include "post.h"
#include "tests/support/test_main.h"

#include <algorithm>

using namespace normscope;
using namespace normscope::app;
using Bench = normscope::test::LabBench;
using normscope::test::Post;
using normscope::test::sound;

namespace {

/// A small model of another program.
QString modelFile(const Bench& b) {
    Recipe recipe = b.lab->comparison().runs[0].recipe;
    complete_and_validate(recipe);
    const QString path = b.folder.filePath(QStringLiteral("tiny.safetensors"));
    export_model(path.toStdString(), recipe, Experiment(recipe, "source", "source").checkpoint().params);
    return path;
}

double temperature(const Bench& b, std::size_t i) {
    return b.lab->comparison().runs.at(i).recipe.stack.temperature;
}

/// All runs trained to their end, with checkpoints.
void train(Bench& b) {
    b.lab->training().play();
    // Under a sanitizer and next to other tests this takes longer than the five seconds of QTRY_VERIFY.
    QTRY_VERIFY_WITH_TIMEOUT(b.ended() && !b.lab->comparison().runs[0].checkpoints.empty() &&
                                 !b.lab->comparison().runs[1].checkpoints.empty(),
                             60000);
}

}  // namespace

class LabRepliesTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aDragKeepsToItsRunsWhenOneIsRemoved() {
        Bench b;
        b.lab->runs().add(b.lab->comparison().runs[0].recipe);
        b.lab->knobs().beginDrag();
        b.lab->knobs().dragKey("stack.temperature", 1.5);
        b.lab->runs().remove(0);
        b.lab->knobs().dragKey("stack.temperature", 1.75);
        QCOMPARE(temperature(b, 0), 1.75);
        QCOMPARE(temperature(b, 1), 1.75);
        b.lab->knobs().commitKey("stack.temperature", 2.0);
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
        QCOMPARE(b.lab->runs().undoStack()->count(), 3);
        b.lab->runs().undoStack()->undo();
        for (const std::size_t i : {0u, 1u}) QCOMPARE(temperature(b, i), 1.0);
        b.lab->runs().undoStack()->undo();  // the removal: it must not bring a value of the drag back
        QCOMPARE(b.lab->comparison().runs.size(), 3u);
        for (const std::size_t i : {0u, 1u, 2u}) QCOMPARE(temperature(b, i), 1.0);
        b.lab->runs().undoStack()->redo();
        for (const std::size_t i : {0u, 1u}) QCOMPARE(temperature(b, i), 1.0);
        b.lab->runs().undoStack()->redo();
        for (const std::size_t i : {0u, 1u}) QCOMPARE(temperature(b, i), 2.0);
    }

    /// A run that begins while its probes are drafts does not keep one as the sample of step 0, and a draft's
    /// cost, of a quarter of the sequences, does not enter the time that training is expected to take.
    void aDraftIsNoSampleOfATrainedRun() {
        Bench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        const auto before = b.lab->comparison().runs[0].data;
        bool played = false;
        QString hint;
        connect(b.lab.get(), &Lab::dataChanged, b.lab.get(), [&] {
            if (played || !b.lab->comparison().runs[0].drafts.count("growth")) return;
            hint = b.lab->view().panelInput("training", {}).hint;
            played = true;
            b.lab->training().play();
        });
        b.lab->knobs().commitKey("stack.depth", 3);
        QTRY_VERIFY_WITH_TIMEOUT(played && b.ended(), 20000);
        QVERIFY2(!hint.contains("about"), qPrintable(hint));  // nothing of these sizes was measured in whole
        for (const auto& [probe, samples] : b.run(0).probes)
            for (const ProbeResult& sample : samples)
                if (const auto label = sample.labels.find("sampled"); label != sample.labels.end())
                    QVERIFY2(label->second[0].find("2 of 8") == std::string::npos, probe.c_str());
        QVERIFY(before != b.lab->comparison().runs[0].data);
    }

    void anImportThatArrivesInADragIsNotDragged() {
        Bench b;
        const QString path = modelFile(b);
        b.lab->knobs().beginDrag();
        b.lab->knobs().dragKey("stack.temperature", 1.5);
        b.lab->runs().importModel(path);
        QTRY_COMPARE(b.lab->comparison().runs.size(), 3u);
        b.lab->knobs().dragKey("stack.temperature", 2.0);
        b.lab->knobs().commitKey("stack.temperature", 2.0);
        QCOMPARE(temperature(b, 0), 2.0);
        QCOMPARE(temperature(b, 1), 2.0);
        QCOMPARE(temperature(b, 2), 1.0);
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.lab->comparison().runs.size(), 3u);
        QCOMPARE(temperature(b, 1), 1.0);
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
        QCOMPARE(temperature(b, 1), 1.0);
    }

    /// The drag continues from the state that undo restored.
    void anUndoInADragIsNotTakenBackByIt() {
        Bench b;
        b.lab->knobs().commitKey("stack.residual_step", 0.5);
        b.lab->knobs().beginDrag();
        b.lab->knobs().dragKey("stack.temperature", 1.5);
        b.lab->runs().undoStack()->undo();
        b.lab->knobs().commitKey("stack.temperature", 2.0);
        QCOMPARE(b.lab->comparison().runs[0].recipe.stack.residual_step, 1.0);
        QCOMPARE(temperature(b, 0), 2.0);
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.lab->comparison().runs[0].recipe.stack.residual_step, 1.0);
        QCOMPARE(temperature(b, 0), 1.0);
    }

    void aForkResetsItsParentAndNoOtherRun() {
        Bench b;
        train(b);
        b.lab->runs().setLinked(false);
        for (const int run : {1, 0}) {
            b.lab->runs().select(run);
            b.lab->knobs().commitKey("optimizer.weight_decay", 0.5);
        }
        b.lab->forks().forkSelected();
        b.lab->runs().select(1);
        QTRY_COMPARE(b.lab->comparison().runs.size(), 3u);
        QVERIFY(b.lab->comparison().runs[0].recipe.train.optimizer.weight_decay != 0.5);
        QCOMPARE(b.lab->comparison().runs[1].recipe.train.optimizer.weight_decay, 0.5);
        QCOMPARE(b.lab->comparison().runs[2].recipe.train.optimizer.weight_decay, 0.5);
    }

    void aForkOfARunThatWasRemovedMeanwhileStillComes() {
        Bench b;
        train(b);
        b.lab->runs().select(1);
        const std::string other = b.lab->comparison().runs[0].id;
        b.lab->forks().forkSelected();
        b.lab->runs().remove(1);
        QTRY_COMPARE(b.lab->comparison().runs.size(), 2u);
        QCOMPARE(b.lab->comparison().runs[0].id, other);
        QVERIFY(b.run(1).name.find("fork at") != std::string::npos);
    }

    void twoForksInARowBothCome() {
        Bench b;
        train(b);
        b.lab->forks().forkSelected();
        b.lab->forks().forkSelected();
        QTRY_COMPARE(b.lab->comparison().runs.size(), 4u);
        QVERIFY(b.lab->comparison().runs[2].id != b.lab->comparison().runs[3].id);
    }

    void aForkDoesNotLandInAnotherSession() {
        Bench b;
        train(b);
        b.lab->forks().forkSelected();
        b.lab->session().startOver();
        b.interrupted();  // the files answer in turn: the fork's checkpoint came before this
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
        QVERIFY(!b.lab->comparison().anyTraining());
    }

    void anImportDoesNotLandInAnotherSession() {
        Bench b;
        b.lab->runs().importModel(modelFile(b));
        b.lab->session().startOver();
        b.interrupted();
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
    }

    void aSessionThatOpensLateDoesNotReplaceANewerComparison() {
        Bench b;
        b.lab->runs().add(b.lab->comparison().runs[0].recipe);
        QSignalSpy saved(&b.lab->session(), &LabSession::saved),
            opened(&b.lab->session(), &LabSession::opened);
        b.lab->session().save(b.folder.filePath("three.h5"), "{}");
        QTRY_COMPARE(saved.count(), 1);
        b.lab->session().open(b.folder.filePath("three.h5"));
        b.lab->session().startOver();
        b.interrupted();
        QCOMPARE(opened.count(), 0);
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
    }

    void aRecordingThatIsReadLateDoesNotReplaceANewerComparison() {
        Bench b(100000);
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).steps.rows() > 3 && b.run(1).steps.rows() > 3);
        b.lab.reset();  // the program quits in the middle
        b.open(4);
        const auto found = b.interrupted();
        QCOMPARE(found.size(), 2);
        b.lab->session().resume({found[0].path});
        b.lab->session().startOver();
        b.interrupted();
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
        QVERIFY(!b.lab->comparison().anyTraining());
    }

    /// Stopping takes a last checkpoint of each run; a run of the next session may have the same id.
    void aCheckpointDoesNotLandInAnotherSession() {
        Bench b(100000);
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).steps.rows() > 3 && b.run(1).steps.rows() > 3);
        b.lab->session().startOver();
        b.makeSmall(6);
        QTRY_VERIFY(b.measured());  // the engine answers in turn
        QVERIFY(b.lab->comparison().runs[0].checkpoints.empty());
        QVERIFY(b.lab->comparison().runs[1].checkpoints.empty());
        train(b);
        QVERIFY(b.lab->comparison().runs[0].checkpoints.back().step <= 6);
    }

    void everyReplyTwiceIsAsGoodAsOnce() {
        Bench b(30, [](const std::function<void()>& reply) {
            reply();
            reply();
        });
        QTRY_VERIFY(b.measured());
        train(b);
        for (const int i : {0, 1}) {
            QCOMPARE(b.run(i).steps.rows(), 30u);
            QVERIFY(sound(b.run(i)));
        }
        b.lab->forks().forkSelected();
        b.lab->runs().importModel(modelFile(b));
        QTRY_COMPARE(b.lab->comparison().runs.size(), 4u);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        b.interrupted();  // the files have answered everything
        QCOMPARE(b.lab->comparison().runs.size(), 4u);

        QSignalSpy saved(&b.lab->session(), &LabSession::saved),
            opened(&b.lab->session(), &LabSession::opened);
        const QString path = b.folder.filePath("twice.h5");
        b.lab->session().save(path, "{}");
        b.interrupted();
        QCOMPARE(saved.count(), 1);
        b.lab->session().open(path);
        b.interrupted();
        QCOMPARE(opened.count(), 1);
        QCOMPARE(b.lab->comparison().runs.size(), 4u);
        QVERIFY(sound(b.run(0)) && sound(b.run(2)));
        QCOMPARE(b.problems, QStringList());
    }

    void aRecoveredRunContinuesOnceAlsoWhereItIsReadTwice() {
        Bench b(100000);
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).steps.rows() > 3 && b.run(1).steps.rows() > 3);
        b.lab.reset();
        b.deliver = [](const std::function<void()>& reply) {
            reply();
            reply();
        };
        b.open(4);
        const auto found = b.interrupted();
        b.lab->session().resume({found[0].path});
        QTRY_COMPARE(b.lab->comparison().runs.size(), 1u);
        const auto rows = b.run(0).steps.rows();
        QTRY_VERIFY(b.run(0).steps.rows() > rows + 5);
        QVERIFY(sound(b.run(0)));
        b.lab->training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QCOMPARE(b.interrupted().size(), 2);  // it continued in its own file
        QCOMPARE(b.problems, QStringList());
    }

    void repliesThatComeLateAreAsGood() {
        auto post = std::make_shared<Post>();
        Bench b(30, Post::of(post));
        QTRY_VERIFY(b.measured());
        post->hold = true;
        b.lab->training().play();
        QTRY_VERIFY(!post->held.empty());
        post->deliver();
        QTRY_VERIFY((post->deliver(), b.ended()));
        for (const int i : {0, 1}) {
            QCOMPARE(b.run(i).steps.rows(), 30u);
            QVERIFY(sound(b.run(i)));
        }
        b.lab->forks().forkSelected();
        b.lab->runs().importModel(modelFile(b));
        b.interrupted();
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
        post->deliver();
        QCOMPARE(b.lab->comparison().runs.size(), 4u);
        QTRY_VERIFY((post->deliver(), b.ended()));
        QVERIFY(sound(b.run(2)) || sound(b.run(3)));
    }

    void repliesInAnyOrderAreAsGood() {
        auto post = std::make_shared<Post>();
        Bench b(600, Post::of(post));
        QTRY_VERIFY(b.measured());
        post->hold = true;
        b.lab->training().play();
        QTRY_VERIFY(post->held.size() > 2);
        QTRY_VERIFY_WITH_TIMEOUT((post->deliver(true), b.ended()), 30000);
        for (const int i : {0, 1}) {
            QCOMPARE(b.run(i).steps.rows(), 600u);
            QVERIFY(sound(b.run(i)));
        }
        QVERIFY(!b.lab->comparison().runs[0].checkpoints.empty());

        // A drag's first and later answers, the newest first.
        b.lab->knobs().commitKey("stack.depth", 3);
        QTRY_VERIFY((post->deliver(true), b.lab->view().exact() && b.lab->comparison().runs[0].preview));
        QCOMPARE(b.lab->comparison().runs[0].preview->probes.at("growth").back().find("rms")->data.size(),
                 7u);

        // Two questions to the files, answered the other way round.
        QSignalSpy saved(&b.lab->session(), &LabSession::saved);
        b.lab->knobs().commitKey("stack.depth", 2);
        b.lab->forks().forkSelected();
        b.lab->runs().importModel(modelFile(b));
        b.lab->session().save(b.folder.filePath("order.h5"), "{}");
        b.interrupted();
        post->deliver(true);
        QCOMPARE(b.lab->comparison().runs.size(), 4u);
        QCOMPARE(saved.count(), 1);
        QVERIFY(b.lab->session().unsaved());  // the fork and the import came after it
        QTRY_VERIFY((post->deliver(), b.ended()));
    }

    void repliesThatComeInADragAreNotDragged() {
        auto post = std::make_shared<Post>();
        Bench b(30, Post::of(post));
        QTRY_VERIFY(b.measured());
        train(b);
        post->hold = true;
        b.lab->forks().forkSelected();
        b.lab->runs().importModel(modelFile(b));
        b.interrupted();
        b.lab->knobs().beginDrag();
        b.lab->knobs().dragKey("stack.temperature", 1.5);
        while (!post->held.empty()) {
            const auto reply = std::move(post->held.front());
            post->held.erase(post->held.begin());
            reply();
            b.lab->knobs().dragKey("stack.temperature", 1.75);
        }
        QCOMPARE(b.lab->comparison().runs.size(), 4u);
        b.lab->knobs().commitKey("stack.temperature", 2.0);
        for (const std::size_t i : {0u, 1u}) QCOMPARE(temperature(b, i), 2.0);
        for (const std::size_t i : {2u, 3u}) QCOMPARE(temperature(b, i), 1.0);
        b.lab->runs().undoStack()->undo();
        for (const std::size_t i : {0u, 1u, 2u, 3u}) QCOMPARE(temperature(b, i), 1.0);
        QTRY_VERIFY((post->deliver(), b.ended()));
        QVERIFY(sound(b.run(0)) && sound(b.run(1)));
    }

    void nothingLateLandsInAnotherComparison() {
        auto post = std::make_shared<Post>();
        Bench b(100000, Post::of(post));
        QTRY_VERIFY(b.measured());
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).steps.rows() > 3 && b.run(1).steps.rows() > 3);
        b.lab->training().pause();
        QTRY_VERIFY(!b.lab->comparison().runs[0].checkpoints.empty());
        const QString path = modelFile(b);
        post->hold = true;
        b.lab->forks().forkSelected();
        b.lab->runs().importModel(path);
        b.lab->session().save(b.folder.filePath("late.h5"), "{}");
        b.lab->session().open(b.folder.filePath("late.h5"));
        b.lab->training().play();
        b.interrupted();
        b.lab->session().startOver();
        QTest::qWait(100);
        post->deliver();
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
        for (const LabRun& run : b.lab->comparison().runs) {
            QCOMPARE(run.data->steps.rows(), 0u);
            QVERIFY(run.checkpoints.empty() && !run.isTraining() && run.data->events.empty());
        }
        QVERIFY(!b.lab->training().playing() && !b.lab->session().unsaved());
        post->held.clear();
    }

    /// Undone and done again, the run is another training of the same name.
    void framesOfAnUndoneStartDoNotReachTheRunThatIsBegunAgain() {
        auto post = std::make_shared<Post>();
        Bench b(100000, Post::of(post));
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).steps.rows() > 3 && b.run(1).steps.rows() > 3);
        b.lab->knobs().commitKey("stack.depth", 3);
        post->hold = true;
        b.lab->training().replaceRuns();
        const std::string id = b.lab->comparison().runs[0].id;
        QTRY_VERIFY(post->held.size() > 4);  // its frames are on their way
        b.lab->runs().undoStack()->undo();
        QVERIFY(b.lab->comparison().runs[0].id != id);
        // What was replaced while it trained has stopped.
        QCOMPARE(b.run(0).outcome.state, RunState::Interrupted);
        QVERIFY(!b.lab->comparison().anyTraining() && !b.lab->training().playing());
        b.lab->runs().undoStack()->redo();
        QCOMPARE(b.lab->comparison().runs[0].id, id);
        b.lab->training().play();
        QTest::qWait(100);
        QTRY_VERIFY((post->deliver(), b.run(0).steps.rows() > 3 && b.run(1).steps.rows() > 3));
        for (const int i : {0, 1}) QVERIFY(sound(b.run(i)));
        b.lab->training().stop();
        QTRY_VERIFY((post->deliver(), b.ended()));
        for (const int i : {0, 1}) QVERIFY(sound(b.run(i)));
    }

    void theSelectionStaysWithItsRun() {
        Bench b;
        b.lab->runs().add(b.lab->comparison().runs[0].recipe);
        b.lab->runs().select(1);
        const std::string id = b.lab->comparison().selectedRun().id;
        b.lab->runs().remove(0);
        QCOMPARE(b.lab->comparison().selectedRun().id, id);
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.lab->comparison().selectedRun().id, id);
        b.lab->runs().undoStack()->redo();
        QCOMPARE(b.lab->comparison().selectedRun().id, id);
        // A run that is gone leaves the selection to the one that takes its place.
        b.lab->runs().remove(0);
        QCOMPARE(b.lab->comparison().selected, 0);
    }
};

NORMSCOPE_TEST(LabRepliesTest)
#include "lab_replies_test.moc"
