// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/model_file.h"
#include "lab_bench.h"
#include "tests/support/test_main.h"

#include <QSignalSpy>

using namespace normscope;
using namespace normscope::app;
using Bench = normscope::test::LabBench;

class LabTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aDragIsOneUndoEntryAndUndoRestoresTheFigure() {
        Bench b;
        QTRY_VERIFY(b.measured());
        const auto before = b.rms(0);
        b.lab->knobs().beginDrag();
        for (const double step : {0.9, 0.7, 0.5, 0.3}) b.lab->knobs().dragKey("stack.residual_step", step);
        QCOMPARE(b.lab->runs().undoStack()->count(), 0);
        b.lab->knobs().commitKey("stack.residual_step", 0.3);
        QCOMPARE(b.lab->runs().undoStack()->count(), 1);
        QTRY_VERIFY(b.measured() && b.rms(0) != before);
        QCOMPARE(b.lab->comparison().runs[0].recipe.stack.residual_step, 0.3);
        QCOMPARE(b.lab->comparison().runs[1].recipe.stack.residual_step, 0.3);
        QCOMPARE(b.run(0).name, std::string("Pre-LN"));  // both runs have that Δt
        b.lab->runs().undoStack()->undo();
        QTRY_VERIFY(b.measured() && b.rms(0) == before);
        QCOMPARE(b.lab->comparison().runs[1].recipe.stack.residual_step, 1.0);
        b.lab->runs().undoStack()->redo();
        QCOMPARE(b.lab->comparison().runs[1].recipe.stack.residual_step, 0.3);
    }

    /// Moves faster than the engine measures must still get frames.
    void aDragGetsFramesWhileItMoves() {
        Bench b;
        for (const auto& [key, value] :
             std::vector<std::pair<const char*, int>>{{"stack.d_model", 64}, {"stack.depth", 12}})
            b.lab->knobs().commitKey(key, value);
        QTRY_VERIFY(b.measured());
        QSignalSpy taken(b.lab.get(), &Lab::frameTaken);
        QDeadlineTimer deadline(20000);
        double value = 1;
        while (taken.count() < 5 && !deadline.hasExpired()) {
            b.lab->knobs().dragKey("stack.residual_step", value *= 0.999);
            QTest::qWait(1);
        }
        QVERIFY(taken.count() >= 5);
        b.lab->knobs().commitKey("stack.residual_step", 0.5);
        QTRY_VERIFY(b.measured());
        QCOMPARE(b.run(0).recipe.value("test").stack.residual_step, 0.5);
    }

    void aDragThatComesBackLeavesNoEntry() {
        Bench b;
        b.lab->knobs().beginDrag();
        b.lab->knobs().dragKey("stack.temperature", 2.0);
        b.lab->knobs().commitKey("stack.temperature", 1.0);
        QCOMPARE(b.lab->runs().undoStack()->count(), 0);
        QVERIFY(!b.lab->knobs().dragging());
    }

    void onlyWhatWasUnlinkedDiffers() {
        Bench b;
        b.lab->knobs().commitKey("stack.scheme", "peri");  // the scheme is what the comparison is about
        QCOMPARE(b.lab->comparison().runs[0].recipe.stack.scheme, Scheme::Peri);
        QCOMPARE(b.lab->comparison().runs[1].recipe.stack.scheme, Scheme::Post);
        b.lab->runs().setLinked(false);
        b.lab->runs().select(1);
        b.lab->knobs().commitKey("stack.residual_step", 0.2);
        QCOMPARE(b.lab->comparison().runs[0].recipe.stack.residual_step, 1.0);
        QCOMPARE(b.run(1).name, std::string("Post-LN Δt 0.2"));
        b.lab->runs().setLinked(true);
        b.lab->knobs().commitKey("stack.residual_step", 0.5);  // it differs already: its own knob
        QCOMPARE(b.lab->comparison().runs[0].recipe.stack.residual_step, 1.0);
        QCOMPARE(b.lab->comparison().runs[1].recipe.stack.residual_step, 0.5);
        b.lab->knobs().commitKey("stack.temperature", 2.0);
        QCOMPARE(b.lab->comparison().runs[0].recipe.stack.temperature, 2.0);
        const auto differing = differingKeys(b.lab->comparison());
        QVERIFY(std::count(differing.begin(), differing.end(), KeyRef("stack.residual_step")) == 1);
    }

    void runsOfOneKindGetDifferentNames() {
        Bench b;
        b.lab->runs().add(b.lab->comparison().runs[0].recipe);
        QCOMPARE(b.run(2).name, std::string("Pre-LN · 2"));
        b.lab->knobs().commitKey("stack.temperature", 2.0);
        QCOMPARE(b.run(2).name, std::string("Pre-LN · 2"));
        b.lab->runs().undoStack()->undo();
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
    }

    void aStaleFrameIsDropped() {
        Bench b;
        QTRY_VERIFY(b.measured());
        const auto before = b.rms(0);
        RunDelta delta;
        delta.probes = {b.run(0).probes.at("growth").back()};
        for (auto& array : delta.probes[0].arrays) array.data.assign(array.data.size(), 1234);
        QSignalSpy taken(b.lab.get(), &Lab::frameTaken);
        b.lab->applyFrame(std::make_shared<const Frame>(
            Frame{1, Frame::Kind::Explore, {{"a", nullptr, delta}}, true, 1, 0}));
        QCOMPARE(b.rms(0), before);
        QCOMPARE(taken.count(), 0);
    }

    void aSwitchedNormIsOneEntryAndChangesTheFigure() {
        Bench b;
        QTRY_VERIFY(b.measured());
        const auto before = b.rms(0);
        b.lab->knobs().setNorm(0, Sublayer::FeedForward, widgets::NormPlace::Out, true, true);
        QCOMPARE(b.lab->runs().undoStack()->count(), 1);
        QTRY_VERIFY(b.measured() && b.rms(0) != before);
        QVERIFY(sublayer_rule(b.lab->comparison().runs[0].recipe.stack, 1, Sublayer::FeedForward).out);
        b.lab->runs().undoStack()->undo();
        QTRY_VERIFY(b.measured() && b.rms(0) == before);
    }

    void overridesAreSetAndResetAsOneEntryEach() {
        Bench b;
        LayerOverride manual;
        manual.index = 1;
        manual.ffn.b = 0.5;
        b.lab->knobs().setLayers({manual}, "b of layer 2");
        QCOMPARE(b.lab->runs().undoStack()->undoText(), "b of layer 2");
        QCOMPARE(sublayer_rule(b.lab->comparison().runs[0].recipe.stack, 1, Sublayer::FeedForward).b, 0.5);
        QVERIFY(b.lab->comparison().runs[1].recipe.stack.layers.empty());  // the selected run alone
        b.lab->knobs().resetKey("stack.layers", Recipe{});
        QVERIFY(b.lab->comparison().runs[0].recipe.stack.layers.empty());
        QCOMPARE(b.lab->runs().undoStack()->count(), 2);
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.lab->comparison().runs[0].recipe.stack.layers.size(), 1u);
    }

    void aResetKeyMovesTheRunsThatItsKnobMoves() {
        Bench b;
        b.lab->knobs().commitKey("stack.temperature", 2.0);
        b.lab->knobs().resetKey("stack.temperature", Recipe{});
        QCOMPARE(b.lab->comparison().runs[0].recipe.stack.temperature, 1.0);
        QCOMPARE(b.lab->comparison().runs[1].recipe.stack.temperature, 1.0);
        QVERIFY_THROWS_EXCEPTION(InputError, b.lab->knobs().resetKey("stack.colour", Recipe{}));
    }

    /// A run that cannot be built keeps its last figure and those of the others.
    void aRejectedRecipeKeepsTheLastGoodFigure() {
        Bench b;
        QTRY_VERIFY(b.measured());
        const auto good = b.rms(0), other = b.rms(1);
        b.lab->runs().setLinked(false);
        b.lab->knobs().commitKey("stack.heads", 5);
        QTRY_VERIFY(!b.lab->comparison().runs[0].rejection.empty());
        QCOMPARE(b.problems.size(), 1);
        QVERIFY(b.problems[0].contains("stack.heads"));
        QCOMPARE(b.rms(0), good);
        QTRY_VERIFY(b.lab->view().exact());
        QVERIFY(b.lab->view().panelInput("growth", {}).draft[0]);
        QVERIFY(!b.lab->view().panelInput("growth", {}).draft[1]);
        b.lab->runs().setLinked(true);
        b.lab->knobs().commitKey("stack.temperature", 0.2);
        QTRY_VERIFY(b.lab->view().exact() && b.rms(1) != other);
        QCOMPARE(b.rms(0), good);
        QCOMPARE(b.problems.size(), 1);  // reported once
        b.lab->runs().undoStack()->undo();
        b.lab->runs().undoStack()->undo();
        QTRY_VERIFY(b.measured() && b.lab->comparison().runs[0].rejection.empty());
        QCOMPARE(b.rms(0), good);
        QVERIFY(!b.lab->view().panelInput("growth", {}).draft[0]);
    }

    void gateWarningsOfTheWeightsArrive() {
        Bench b;
        QSignalSpy requested(b.lab.get(), &Lab::explorationRequested);
        b.lab->knobs().commitKey("stack.gpas.enabled", true);
        QTRY_VERIFY(b.measured() && requested.count() > 0);
        QVERIFY(b.lab->comparison().runs[0].gate_warnings.empty());  // gates start at 0
        QSignalSpy changed(b.lab.get(), &Lab::noticesChanged);
        b.lab->knobs().commitKey("stack.temperature", 1.5);
        const auto generation = requested.last()[0].toULongLong();  // which the engine has not answered yet
        Frame frame{generation, Frame::Kind::Explore, {{"a", b.lab->comparison().runs[0].data, {}}}, false, 1,
                    0};
        frame.runs[0].gate_warnings = {"blocks.0.gate: 1 − act(g) = −0.1"};
        b.lab->applyFrame(std::make_shared<const Frame>(frame));
        QCOMPARE(changed.count(), 1);
        QCOMPARE(b.lab->comparison().runs[0].gate_warnings.size(), 1u);
    }

    void gatesSetTwoRunsApartByName() {
        Bench b;
        b.lab->runs().loadPreset("pre-ln");
        b.lab->runs().remove(1);
        b.lab->runs().add(b.lab->comparison().runs[0].recipe);
        b.lab->runs().setLinked(false);
        b.lab->runs().select(1);
        b.lab->knobs().commitKey("stack.gpas.enabled", true);
        QCOMPARE(b.run(0).name, std::string("Pre-LN"));
        QCOMPARE(b.run(1).name, std::string("Pre-LN + GPAS"));
        // What both share goes without saying.
        b.lab->runs().select(0);
        b.lab->knobs().commitKey("stack.gpas.enabled", true);
        QCOMPARE(b.run(0).name, std::string("Pre-LN"));
        QCOMPARE(b.run(1).name, std::string("Pre-LN · 2"));
    }

    /// Probes that are rarely due sample long after a run was resumed: the steps before that are recorded
    /// too.
    void aRunThatContinuesIsRecordedFromItsFirstStep() {
        Bench b;
        Recipe recipe = b.lab->comparison().runs[0].recipe;
        recipe.train.steps = 100000;
        complete_and_validate(recipe);
        for (ProbePlan& plan : recipe.probes) plan.every = 50000;
        b.lab->runs().remove(1);
        b.lab->runs().useRecipe(recipe, "rare probes");
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).steps.rows() > 3);
        b.lab->training().pause();
        QTRY_VERIFY(!b.lab->comparison().runs[0].checkpoints.empty());
        const auto at = b.lab->comparison().runs[0].checkpoints.back().step;
        b.lab.reset();
        for (int part = 0; part < 2; ++part) {
            b.open(4);
            const auto runs = b.interrupted();
            QCOMPARE(runs.size(), 1);
            if (part == 1) {
                QVERIFY(runs[0].step > at + 3);
                break;
            }
            b.lab->session().resume({runs[0].path});
            QTRY_VERIFY(b.run(0).steps.rows() > static_cast<std::size_t>(at) + 10);
            b.lab.reset();
        }
        QCOMPARE(b.problems, QStringList());
    }

    /// A killed program leaves no session: the start weights of an imported run are stored next to its
    /// recording.
    void anImportedRunThatWasCutOffKeepsItsWeights() {
        Bench b(100000);
        Recipe recipe = b.lab->comparison().runs[0].recipe;
        recipe.train.seed = 7;
        complete_and_validate(recipe);
        Experiment source(recipe, "source", "source");
        const QString path = b.folder.filePath("tiny.safetensors");
        export_model(path.toStdString(), recipe, source.checkpoint().params);
        b.lab->runs().importModel(path);
        QTRY_COMPARE(b.lab->comparison().runs.size(), 3u);
        b.lab->runs().remove(0);
        b.lab->runs().remove(0);
        b.lab->knobs().commitKey("steps", 100000);
        QTRY_VERIFY(b.measured());
        const auto imported = b.rms(0);
        b.lab->training().play();
        // Two pauses: two checkpoints, that take the place of the one of step 0.
        for (int pause = 0; pause < 2; ++pause) {
            const auto rows = b.run(0).steps.rows();
            QTRY_VERIFY(b.run(0).steps.rows() > rows + 3);
            const auto taken = b.lab->comparison().runs[0].checkpoints.size();
            b.lab->training().pause();
            QTRY_VERIFY(b.lab->comparison().runs[0].checkpoints.size() > taken);
            b.lab->training().play();
        }
        b.lab.reset();  // the program quits in the middle
        for (const bool continue_training : {false, true}) {
            b.open(4);
            const auto runs = b.interrupted();
            QCOMPARE(runs.size(), 1);
            continue_training ? b.lab->session().resume({runs[0].path})
                              : b.lab->session().reopen({runs[0].path});
            QTRY_COMPARE(b.lab->comparison().runs.size(), 1u);
            QVERIFY(b.lab->comparison().runs[0].weights);
            QCOMPARE(b.lab->comparison().runs[0].weights->name, std::string("tiny"));
            QCOMPARE(b.lab->comparison().runs[0].checkpoints.front().step, std::int64_t(0));
            QVERIFY(b.lab->comparison().runs[0].checkpoints.size() > 1);
            if (continue_training) {
                const auto rows = b.run(0).steps.rows();
                QTRY_VERIFY(b.run(0).steps.rows() > rows + 3);
                b.lab->training().stop();
                QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
            }
            // A new run of it starts from them again.
            b.lab->knobs().commitKey("steps", 9);
            QTRY_VERIFY(b.lab->view().exact() && b.lab->comparison().runs[0].preview);
            QCOMPARE(b.lab->comparison().runs[0].preview->probes.at("growth").back().find("rms")->data,
                     imported);
            b.lab.reset();
        }
        QCOMPARE(b.problems, QStringList());
    }

    void anImportedModelIsARunWithItsWeights() {
        Bench b(4);
        Recipe recipe = b.lab->comparison().runs[0].recipe;
        recipe.train.steps = 20;
        complete_and_validate(recipe);
        Experiment source(recipe, "source", "source");
        ThreadPool pool(1);
        for (int i = 0; i < 3; ++i) source.advance(pool);
        const QString path = b.folder.filePath("tiny.safetensors");
        export_model(path.toStdString(), recipe, source.checkpoint().params);

        b.lab->runs().importModel(path);
        QTRY_COMPARE(b.lab->comparison().runs.size(), 3u);
        QCOMPARE(b.lab->comparison().selected, 2);
        QCOMPARE(b.run(2).name, std::string("tiny"));
        QTRY_VERIFY(b.lab->view().exact() && b.run(2).probes.count("growth"));
        QCOMPARE(b.rms(2), source.measure("growth", pool).find("rms")->data);
        // A recipe that does not match the weights is rejected, and the figure is kept.
        const auto imported = b.rms(2);
        b.lab->runs().setLinked(false);
        b.lab->knobs().commitKey("stack.depth", 3);
        QTRY_VERIFY(!b.lab->comparison().runs[2].rejection.empty());
        QVERIFY(b.problems.last().contains("tiny.safetensors"));
        QCOMPARE(b.rms(2), imported);
        b.lab->runs().undoStack()->undo();
        QTRY_VERIFY(b.lab->view().exact() && b.lab->comparison().runs[2].rejection.empty());

        // A session keeps the weights of an untrained run, also one that was reopened and saved
        // again.
        for (const char* session : {"once.h5", "twice.h5"}) {
            QSignalSpy saved(&b.lab->session(), &LabSession::saved);
            b.lab->session().save(b.folder.filePath(session), {});
            QTRY_COMPARE(saved.count(), 1);
            b.open(4);
            QSignalSpy opened(&b.lab->session(), &LabSession::opened);
            b.lab->session().open(b.folder.filePath(session));
            QTRY_COMPARE(opened.count(), 1);
            QCOMPARE(b.run(2).name, std::string("tiny"));
            b.lab->runs().select(2);
            b.lab->runs().setLinked(false);
            b.lab->knobs().commitKey("stack.residual_step", 0.5);
            QTRY_VERIFY(b.lab->view().exact() && b.rms(2) != imported);
            b.lab->knobs().commitKey("stack.residual_step", 1.0);
            QTRY_VERIFY(b.lab->view().exact() && b.rms(2) == imported);
        }

        b.lab->knobs().commitKey("steps", 4);
        b.lab->training().play();
        QTRY_VERIFY(b.ended() && b.run(2).steps.rows() == 4);
        QCOMPARE(b.run(2).probes.at("growth").front().find("rms")->data, imported);
        QCOMPARE(b.run(2).events.front().kind, std::string("weights"));
        QCOMPARE(b.lab->comparison().runs[2].checkpoints.front().step, std::int64_t(0));
        // So does one that was trained: what its knobs would give is measured with them.
        QSignalSpy saved(&b.lab->session(), &LabSession::saved);
        b.lab->session().save(b.folder.filePath("trained.h5"), {});
        QTRY_COMPARE(saved.count(), 1);
        b.open(4);
        QSignalSpy opened(&b.lab->session(), &LabSession::opened);
        b.lab->session().open(b.folder.filePath("trained.h5"));
        QTRY_COMPARE(opened.count(), 1);
        b.lab->runs().select(2);
        b.lab->runs().setLinked(false);
        b.lab->knobs().commitKey("steps", 9);
        QTRY_VERIFY(b.lab->view().exact() && b.lab->comparison().runs[2].preview);
        QCOMPARE(b.lab->comparison().runs[2].preview->probes.at("growth").back().find("rms")->data, imported);

        b.lab->runs().importModel(b.folder.filePath("none.bin"));
        QTRY_VERIFY(b.problems.last().contains("none.bin"));
        QCOMPARE(b.lab->comparison().runs.size(), 3u);
    }

    void aWrongValueIsReportedAndChangesNothing() {
        Bench b;
        b.lab->knobs().commitKey("stack.depth", -3);
        QCOMPARE(b.problems.size(), 1);
        QVERIFY(b.problems[0].contains("stack.depth"));
        QCOMPARE(b.lab->comparison().runs[0].recipe.stack.depth, 2);
        QCOMPARE(b.lab->runs().undoStack()->count(), 0);
    }

    void trainingThenAStructuralKnobOnlyPreviewsUntilItIsStarted() {
        Bench b;
        QTRY_VERIFY(b.measured());
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QCOMPARE(b.run(0).steps.rows(), 6u);
        QCOMPARE(b.run(0).outcome.state, RunState::Finished);
        QVERIFY(!b.lab->comparison().changesPending());
        QVERIFY(!b.lab->comparison().runs[0].preview);
        const auto trained = *b.run(0).steps.find("loss");
        b.lab->knobs().commitKey("stack.depth", 3);
        QVERIFY(b.lab->comparison().changesPending());
        QTRY_VERIFY(b.lab->comparison().runs[0].preview != nullptr);
        QCOMPARE(*b.run(0).steps.find("loss"), trained);
        const widgets::PanelInput input = b.lab->view().panelInput("growth", {});
        QVERIFY(input.previews[0] != nullptr);
        QCOMPARE(input.previews[0]->probes.at("growth").back().find("rms")->data.size(), 7u);

        const std::string old_id = b.lab->comparison().runs[0].id;
        b.lab->training().replaceRuns();
        QVERIFY(b.lab->comparison().runs[0].id != old_id);
        QTRY_VERIFY(b.ended() && b.run(0).steps.rows() == 6);
        QVERIFY(!b.lab->comparison().changesPending());
        QCOMPARE(b.rms(0).size(), 7u);
        b.lab->runs().undoStack()->undo();
        QCOMPARE(*b.run(0).steps.find("loss"), trained);
    }

    void aHotKnobWhileTrainingActsWithoutRestart() {
        Bench b(100000);
        b.lab->training().play();
        QTRY_VERIFY(b.run(1).steps.rows() > 3);
        b.lab->knobs().commitKey("optimizer.lr", 1e-4);
        QVERIFY(!b.lab->comparison().changesPending());
        const auto isTheKnobs = [](const RunEvent& event) {
            return event.text.find("learning rate") != std::string::npos;
        };
        QTRY_VERIFY(std::any_of(b.run(0).events.begin(), b.run(0).events.end(), isTheKnobs));
        const auto rows = b.run(0).steps.rows();
        QTRY_VERIFY(b.run(0).steps.rows() > rows + 2);
        b.lab->training().stop();
        QTRY_COMPARE(b.run(0).outcome.state, RunState::Interrupted);
    }

    void pinnedRunsStayAsTheyWere() {
        Bench b;
        QTRY_VERIFY(b.measured());
        b.lab->runs().pinSelected();
        QCOMPARE(b.lab->comparison().runs.size(), 3u);
        const auto pinned = b.rms(2);
        b.lab->knobs().commitKey("stack.residual_step", 0.2);
        QTRY_VERIFY(b.measured() && b.rms(0) != pinned);
        QCOMPARE(b.rms(2), pinned);
        b.lab->runs().undoStack()->undo();
        b.lab->runs().undoStack()->undo();
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
    }

    void aForkContinuesFromACheckpointWithItsOwnKnobs() {
        Bench b;
        b.lab->training().play();
        QTRY_VERIFY(b.ended() && !b.lab->comparison().runs[0].checkpoints.empty());
        b.lab->runs().setLinked(false);
        b.lab->knobs().commitKey("steps", 6);
        b.lab->knobs().commitKey("optimizer.weight_decay", 0.0);
        b.lab->forks().forkSelected();
        QTRY_COMPARE(b.lab->comparison().runs.size(), 3u);
        // The parent ended at its last step, so the fork, which continues after it, takes one step more at
        // most.
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QVERIFY(b.run(2).steps.rows() >= b.run(0).steps.rows());
        QCOMPARE(b.run(2).steps.find("loss")->at(3), b.run(0).steps.find("loss")->at(3));
        QVERIFY(b.run(2).name.find("fork at") != std::string::npos);
        QVERIFY(!b.lab->comparison().changesPending());  // the changed knob went with the fork
    }

    void aRunThatWasCutOffResumesBitForBit() {
        Bench whole(600);
        whole.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(whole.ended(), 30000);

        Bench cut(600);
        cut.lab->training().play();
        QTRY_VERIFY(cut.run(0).steps.rows() > 3);
        cut.lab.reset();  // the program quits in the middle
        cut.open(600);
        const auto runs = cut.interrupted();
        QCOMPARE(runs.size(), 2);
        cut.lab->session().resume({runs[0].path, runs[1].path});
        QTRY_VERIFY_WITH_TIMEOUT(cut.lab->comparison().runs[0].isTraining() || cut.run(0).steps.rows() == 600,
                                 30000);
        QTRY_VERIFY_WITH_TIMEOUT(cut.ended() && cut.run(0).steps.rows() == 600, 30000);
        QCOMPARE(cut.problems, QStringList());
        for (int i = 0; i < 2; ++i) {
            QCOMPARE(cut.run(i).name, whole.run(i).name);
            QCOMPARE(*cut.run(i).steps.find("loss"), *whole.run(i).steps.find("loss"));
        }
        // The recordings are the whole runs now, and nothing is left to offer.
        cut.lab.reset();
        cut.open(600);
        QCOMPARE(cut.interrupted().size(), 0);
    }
};

NORMSCOPE_TEST(LabTest)
#include "lab_test.moc"
