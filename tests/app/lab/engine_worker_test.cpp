// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/engine/engine_worker.h"

#include "app/lab/engine/worker_thread.h"
#include "core/run/complete_run.h"
#include "core/run/watchpoints.h"
#include "tests/app/window/small_recipe.h"
#include "tests/support/test_main.h"

#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

using namespace normscope;
using namespace normscope::app;
using normscope::test::smallRecipe;

namespace {

/// An engine in its thread and the frames that came.
struct Bench {
    WorkerThread<EngineWorker> engine{"engine", 1};
    std::vector<FramePtr> frames;
    QStringList rejections;
    bool shown = true;  ///< frames are shown when they come
    std::map<std::string, std::size_t> recorded;
    QObject receiver;
    Bench() {
        QObject::connect(engine.get(), &EngineWorker::frameReady, &receiver, [this](const FramePtr& frame) {
            frames.push_back(frame);
            if (shown) engine->frameShown(0);
        });
        QObject::connect(engine.get(), &EngineWorker::startRejected, &receiver,
                         [this](quint64, const QString&, const QString& message) { rejections << message; });
        QObject::connect(engine.get(), &EngineWorker::rejected, &receiver,
                         [this](quint64, const QString& message) { rejections << message; });
    }
    bool completed() const { return !frames.empty() && frames.back()->complete; }
    void showAll() {
        for (shown = true; const FramePtr& frame [[maybe_unused]] : frames) engine->frameShown(0);
    }
    /// What was recorded of a run so far: recordings do not wait for the frames.
    std::size_t recordedRows(const std::string& id) {
        for (const RecordingQueue::Entry& entry : engine->recordings()->take())
            recorded[entry.id] += entry.delta.steps.size();
        return recorded[id];
    }

    /// What the frames say about a run, put together.
    RunData together(const std::string& id) const {
        RunData data;
        for (const FramePtr& frame : frames)
            for (const RunFrame& run : frame->runs) {
                if (run.id != id) continue;
                if (run.header) data = *run.header;
                append(data, run.delta);
            }
        return data;
    }
};

std::vector<double> bits(const RunData& run, const char* probe, const char* array) {
    return run.probes.at(probe).back().find(array)->data;
}

}  // namespace

class EngineWorkerTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void exploringMeasuresWhatWasAskedForCheapOnesFirst() {
        Bench b;
        b.engine->explore(
            {7,
             {{"a", "A", smallRecipe(), {}, {}, {}}, {"b", "B", smallRecipe(Scheme::Post), {}, {}, {}}},
             {"growth", "gradients", "jacobian"}});
        QTRY_VERIFY_WITH_TIMEOUT(b.completed(), 20000);
        QCOMPARE(b.frames.front()->runs.size(), 2u);
        QVERIFY(!b.frames.front()->complete);
        // Drafts of the forward pass, then of the backward pass; the whole batch; then what is expensive.
        std::vector<std::vector<std::string>> probes;
        std::vector<bool> drafts;
        for (const FramePtr& frame : b.frames) {
            QCOMPARE(frame->generation, 7u);
            probes.emplace_back();
            for (const ProbeResult& result : frame->runs[0].delta.probes)
                probes.back().push_back(result.probe);
            drafts.push_back(frame->runs[0].draft);
        }
        QVERIFY((probes == std::vector<std::vector<std::string>>{
                               {"growth"}, {"gradients"}, {"growth", "gradients"}, {"jacobian"}}));
        QVERIFY((drafts == std::vector<bool>{true, true, false, false}));
        for (const char* id : {"a", "b"}) {
            const RunData run = b.together(id);
            QCOMPARE(run.probes.size(), 3u);
            QCOMPARE(run.probes.at("jacobian").size(), 1u);
            QCOMPARE(run.steps.rows(), 0u);
        }
    }

    /// A draft is the measurement of the first two sequences, and labelled so; the whole batch replaces it.
    void aDraftIsOfTwoSequences() {
        Bench b;
        Recipe recipe = smallRecipe();
        b.engine->explore({1, {{"a", "A", recipe, {}, {}, {}}}, {"growth"}});
        QTRY_VERIFY_WITH_TIMEOUT(b.completed(), 20000);
        complete_and_validate(recipe);
        ThreadPool pool(1);
        Experiment fresh(recipe, "a", "A");
        const auto measured = [&](int sequences) {
            ProbeResult result;
            fresh.measure(
                {"growth"}, pool, nullptr, [&](ProbeResult r) { result = std::move(r); }, sequences);
            return result;
        };
        QCOMPARE(b.frames.size(), 2u);
        for (const std::size_t i : {0, 1}) {
            const ProbeResult wanted = measured(i == 0 ? 2 : kProbeSequences);
            const ProbeResult& shown = b.frames[i]->runs[0].delta.probes[0];
            QCOMPARE(shown.find("rms")->data, wanted.find("rms")->data);
            QCOMPARE(shown.find("rms_error")->data, wanted.find("rms_error")->data);
            QVERIFY(shown.labels == wanted.labels);
        }
        QVERIFY(b.frames[0]->runs[0].draft && !b.frames[1]->runs[0].draft);
        QVERIFY(b.frames[0]->runs[0].delta.probes[0].labels.at("sampled") !=
                b.frames[1]->runs[0].delta.probes[0].labels.at("sampled"));
    }

    void theLatestRequestWins() {
        Bench b;
        Recipe recipe = smallRecipe();
        for (std::uint64_t g = 1; g <= 20; ++g) {
            recipe.stack.residual_step = 0.05 * static_cast<double>(g);
            b.engine->explore({g, {{"a", "A", recipe, {}, {}, {}}}, {"growth", "jacobian"}});
        }
        QTRY_VERIFY_WITH_TIMEOUT(b.completed() && b.frames.back()->generation == 20, 20000);
        QVERIFY(b.frames.size() < 40);  // not every request was answered in full
        QVERIFY(std::is_sorted(b.frames.begin(), b.frames.end(),
                               [](const auto& x, const auto& y) { return x->generation < y->generation; }));
    }

    void aDragGetsTheForwardPassFirstAndTheRestOnceItRests() {
        Bench b;
        Recipe recipe = smallRecipe();
        const auto drag = [&](std::uint64_t generation, double step) {
            recipe.stack.residual_step = step;
            Recipe post = recipe;
            post.stack.scheme = Scheme::Post;
            b.engine->explore({generation,
                               {{"a", "A", recipe, {}, {}, {}}, {"b", "B", post, {}, {}, {}}},
                               {"growth", "gradients", "jacobian"},
                               true});
        };
        drag(1, 0.5);
        QTRY_VERIFY(b.frames.size() >= 1);
        // At once after it: no backward pass.
        drag(2, 0.3);
        QTRY_VERIFY_WITH_TIMEOUT(b.completed() && b.frames.back()->generation == 2, 20000);
        std::map<std::uint64_t, std::vector<FramePtr>> of;
        for (const FramePtr& frame : b.frames) of[frame->generation].push_back(frame);
        for (const auto& [generation, frames] : of) {
            QCOMPARE(frames.front()->runs.size(), 2u);
            for (const RunFrame& run : frames.front()->runs) {
                QVERIFY(run.header);
                QCOMPARE(run.delta.probes.size(), 1u);
                QCOMPARE(run.delta.probes[0].probe, std::string("growth"));
            }
            QVERIFY(!frames.front()->complete);
        }
        QCOMPARE(of[2].size(), 3u);  // a draft, the whole batch, what is expensive
        b.frames = of[2];
        complete_and_validate(recipe);
        ThreadPool pool(2);
        Experiment fresh(recipe, "a", "A");
        const RunData run = b.together("a");
        for (const auto& [probe, array] :
             {std::pair{"growth", "rms"}, {"gradients", "hidden"}, {"jacobian", "end_to_end_sv"}})
            QCOMPARE(bits(run, probe, array), fresh.measure(probe, pool).find(array)->data);
    }

    void aRunWhoseRecipeDidNotChangeIsNotMeasuredAgain() {
        Bench b;
        Recipe recipe = smallRecipe();
        const auto ask = [&](std::uint64_t generation) {
            b.engine->explore({generation,
                               {{"a", "A", smallRecipe(), {}, {}, {}}, {"b", "B", recipe, {}, {}, {}}},
                               {"growth", "gradients"}});
        };
        ask(1);
        QTRY_VERIFY(b.completed());
        const std::vector<FramePtr> first = std::exchange(b.frames, {});
        recipe.stack.scheme = Scheme::Post;
        ask(2);
        QTRY_VERIFY(b.completed());
        for (const FramePtr& frame : b.frames) QVERIFY(!frame->runs[0].draft);
        b.frames = {first.back(), b.frames.back()};
        const auto cost = [&](std::size_t frame, std::size_t run, std::size_t probe) {
            return b.frames[frame]->runs[run].delta.probes[probe].cost_ms;
        };
        for (const std::size_t probe : {0, 1}) {
            QCOMPARE(cost(0, 0, probe), cost(1, 0, probe));
            QVERIFY(cost(0, 1, probe) != cost(1, 1, probe));
        }
        const auto rms = [&](std::size_t frame, std::size_t run) {
            return b.frames[frame]->runs[run].delta.probes[0].find("rms")->data;
        };
        QCOMPARE(rms(0, 0), rms(1, 0));
        QVERIFY(rms(0, 1) != rms(1, 1));
    }

    void aHotKnobGivesWhatAFreshExperimentWouldGive() {
        Bench b;
        Recipe recipe = smallRecipe();
        b.engine->explore({1, {{"a", "A", recipe, {}, {}, {}}}, {"growth"}});
        QTRY_VERIFY(b.completed());
        recipe.stack.residual_step = 0.3;
        recipe.stack.temperature = 2;
        b.frames.clear();
        b.engine->explore({2, {{"a", "A", recipe, {}, {}, {}}}, {"growth"}});
        QTRY_VERIFY(b.completed());
        complete_and_validate(recipe);
        ThreadPool pool(1);
        const ProbeResult fresh = Experiment(recipe, "a", "A").measure("growth", pool);
        QCOMPARE(b.frames.back()->runs[0].delta.probes[0].find("rms")->data, fresh.find("rms")->data);
        QCOMPARE(b.frames.front()->runs[0].header->recipe.text(), recipe_json(recipe, -1));
    }

    /// The length and the form of the schedule come after step 0: a drag of them builds no weights. A stack
    /// that was kept does not see that its start weights have changed since.
    void theLengthOfTheScheduleBuildsNothing() {
        Recipe recipe = smallRecipe();
        Recipe completed = recipe;
        complete_and_validate(completed);
        const auto weights = std::make_shared<StartWeights>(
            StartWeights{"w", "w.h5", Experiment(completed, "w", "w").checkpoint().params});
        Bench b;
        std::uint64_t generation = 0;
        std::vector<std::string> probes{"growth"};
        const auto measured = [&] {
            RunPlan plan{"a", "A", recipe, {}, {}, {}};
            plan.weights = weights;
            b.engine->explore({++generation, {plan}, probes});
            if (!QTest::qWaitFor([&] { return b.completed() && b.frames.back()->generation == generation; },
                                 20000))
                throw std::runtime_error("no answer");
            Recipe now = recipe;
            complete_and_validate(now);
            if (b.together("a").recipe.text() != recipe_json(now, -1)) throw std::runtime_error("old recipe");
            return bits(b.together("a"), "growth", "rms");
        };
        const auto first = measured();
        for (StoredTensor& tensor : weights->tensors)
            if (tensor.name == "tok_emb")
                for (std::size_t at = 0; at < tensor.bytes.size() / 2; ++at) tensor.bytes[at] = std::byte{0};
        for (const int steps : {7, 400, 10}) {
            recipe.train.steps = steps;
            QCOMPARE(measured(), first);
        }
        recipe.train.schedule.warmup = 5;
        recipe.train.schedule.lr = LearningRateSchedule::Linear;
        QCOMPARE(measured(), first);
        recipe.train.batch = 4;  // other batches
        QVERIFY(measured() != first);
    }

    void aRecipeThatCannotBeBuiltIsRejectedInOneLine() {
        Bench b;
        Recipe recipe = smallRecipe();
        recipe.stack.heads = 3;
        Recipe giant = smallRecipe();
        giant.stack.d_model = 65536;
        giant.stack.depth = 1000;
        b.engine->explore({1,
                           {{"a", "A", recipe, {}, {}, {}},
                            {"b", "B", smallRecipe(), {}, {}, {}},
                            {"c", "C", giant, {}, {}, {}}},
                           {"growth"}});
        QTRY_VERIFY(b.completed());
        // The other run is measured all the same.
        QCOMPARE(b.frames.size(), 2u);
        QCOMPARE(b.frames[1]->runs.size(), 1u);
        std::map<std::string, RunFrame> runs;
        for (const RunFrame& run : b.frames[0]->runs) runs[run.id] = run;
        QCOMPARE(runs.size(), 3u);
        QVERIFY(runs["b"].rejected.empty() && runs["b"].delta.probes.size() == 1);
        for (const auto& [id, word] : {std::pair{"a", "heads"}, {"c", "GB of memory"}}) {
            const QString rejected = QString::fromStdString(runs[id].rejected);
            QVERIFY2(rejected.contains(QLatin1String(word)), qPrintable(rejected));
            QVERIFY(!rejected.contains(QLatin1Char('\n')));
            QVERIFY(runs[id].delta.probes.empty() && !runs[id].header);
        }
        b.engine->train(2, {{"a", "A", recipe, {}, {}, {}}});
        QTRY_COMPARE(b.rejections.size(), 1);
        QVERIFY(b.rejections[0].contains(QLatin1String("heads")));
    }

    void trainingGivesTheSameLossesAsTheExperimentAlone() {
        Bench b;
        b.engine->train(
            1, {{"a", "A", smallRecipe(), {}, {}, {}}, {"b", "B", smallRecipe(Scheme::Post), {}, {}, {}}});
        QTRY_VERIFY_WITH_TIMEOUT(b.completed(), 20000);
        Recipe recipe = smallRecipe(Scheme::Post);
        complete_and_validate(recipe);
        Experiment alone(recipe, "b", "B");
        ThreadPool pool(1);
        RunData expected = alone.header();
        while (!alone.ended()) append(expected, alone.advance(pool));
        const RunData run = b.together("b");
        QCOMPARE(run.steps.rows(), 6u);
        QCOMPARE(*run.steps.find("loss"), *expected.steps.find("loss"));
        QCOMPARE(run.outcome.state, RunState::Finished);
        QCOMPARE(bits(run, "growth", "rms"), bits(expected, "growth", "rms"));
    }

    void aRunThatDivergesEndsAndTheOtherContinues() {
        Bench b;
        Recipe wild = smallRecipe(Scheme::None);
        wild.stack.final_norm = FinalNorm::Off;
        wild.stack.residual_step = 1e30;
        b.engine->train(1, {{"a", "A", wild, {}, {}, {}}, {"b", "B", smallRecipe(), {}, {}, {}}});
        QTRY_VERIFY_WITH_TIMEOUT(b.completed(), 20000);
        QVERIFY2(b.together("a").outcome.state == RunState::Diverged, b.together("a").outcome.text.c_str());
        QVERIFY(b.together("a").steps.rows() < 6u);
        QCOMPARE(b.together("b").outcome.state, RunState::Finished);
        QCOMPARE(b.together("b").steps.rows(), 6u);
    }

    void pauseStopsAndASingleStepIsOneStepOfEachRun() {
        Bench b;
        b.engine->train(1, {{"a", "A", smallRecipe(Scheme::Pre, 100000), {}, {}, {}},
                            {"b", "B", smallRecipe(Scheme::Post, 100000), {}, {}, {}}});
        QTRY_VERIFY(b.together("b").steps.rows() > 2);
        b.engine->setPaused(true);
        b.engine.drain();
        QTest::qWait(50);  // rows that are on their way
        const auto rows = b.together("a").steps.rows(), rows_b = b.together("b").steps.rows();
        QTest::qWait(100);  // in which none may arrive
        QCOMPARE(b.together("a").steps.rows(), rows);
        b.engine->singleStep();
        QTRY_COMPARE(b.together("b").steps.rows(), rows_b + 1);
        QTest::qWait(50);  // in which no further one may arrive
        QCOMPARE(b.together("a").steps.rows(), rows + 1);
        QCOMPARE(b.together("b").steps.rows(), rows_b + 1);
    }

    /// While two frames wait to be shown, none is sent: what ended meanwhile must not be dropped with them.
    void aNewStartKeepsWhatWasNotReportedYet() {
        Bench b;
        b.shown = false;
        b.engine->train(1, {{"a", "A", smallRecipe(Scheme::Pre, 60), {}, {}, {}, {}, 1},
                            {"b", "B", smallRecipe(Scheme::Post, 100000), {}, {}, {}, {}, 1}});
        QTRY_VERIFY_WITH_TIMEOUT(b.frames.size() == 2, 20000);
        QTRY_VERIFY_WITH_TIMEOUT(b.recordedRows("a") == 60, 20000);
        QVERIFY(b.together("a").steps.rows() < 60);
        b.engine->train(2, {{"c", "C", smallRecipe(Scheme::Pre, 6), {}, {}, {}, {}, 2}});
        b.engine.drain();
        b.showAll();
        QTRY_COMPARE_WITH_TIMEOUT(b.together("a").steps.rows(), 60u, 20000);
        QVERIFY(b.together("a").outcome.state != RunState::Running);
        b.engine->stop();
    }

    /// The number of steps of a round is of that round, whoever ended before it began.
    void runsAreInStepAfterARunAlone() {
        Bench b;
        b.engine->train(1, {{"a", "A", smallRecipe(Scheme::Pre, 5), {}, {}, {}, {}, 1}});
        QTRY_VERIFY_WITH_TIMEOUT(b.completed(), 20000);
        b.engine->train(2, {{"b", "B", smallRecipe(Scheme::Pre, 3000), {}, {}, {}, {}, 2},
                            {"c", "C", smallRecipe(Scheme::Post, 3000), {}, {}, {}, {}, 2}});
        QTRY_VERIFY_WITH_TIMEOUT(b.together("b").steps.rows() > 2, 20000);
        b.engine->setPaused(true);
        b.engine.drain();
        QTest::qWait(50);
        const auto rows = [&](const char* id) { return b.together(id).steps.rows(); };
        QCOMPARE(rows("b"), rows("c"));
        QVERIFY(rows("c") < 3000);
        b.engine->stop();
    }

    /// A pause, single steps, runs that end or join: those that started together stay at the same step.
    void runsThatStartTogetherStayInStep() {
        Bench b;
        b.engine->train(1, {{"a", "A", smallRecipe(Scheme::Pre, 100000), {}, {}, {}, {}, 1},
                            {"b", "B", smallRecipe(Scheme::Post, 100000), {}, {}, {}, {}, 1}});
        const auto rows = [&](const char* id) { return b.together(id).steps.rows(); };
        QTRY_VERIFY_WITH_TIMEOUT(rows("b") > 2, 20000);
        for (int i = 0; i < 30; ++i) {
            if (i % 6 == 3) {
                const std::string id = "c" + std::to_string(i);
                b.engine->train(2 + std::uint64_t(i),
                                {{id, id, smallRecipe(Scheme::Pre, 100000), {}, {}, {}}});
            }
            if (i % 6 == 5) b.engine->stop({"c" + std::to_string(i - 2)});
            i % 2 ? b.engine->setPaused(true) : b.engine->singleStep();
            b.engine.drain();
            QTest::qWait(i % 3);
            QTRY_COMPARE_WITH_TIMEOUT(rows("a"), rows("b"), 2000);
            b.engine->setPaused(false);
            QTest::qWait(1 + i % 4);
        }
        b.engine->stop();
    }

    /// The first run triggers at its first step, in the middle of a round; the second, alone, at a later one.
    void aWatchpointPausesAllRunsAtTheSameStep() {
        Bench b;
        Recipe watched = smallRecipe(Scheme::Pre, 40);
        watched.watch = {parse_watch("loss > 0", "test")};
        b.engine->train(1, {{"a", "A", watched, {}, {}, {}, {}, 1},
                            {"b", "B", smallRecipe(Scheme::Post, 40), {}, {}, {}, {}, 1}});
        const auto rows = [&](const char* id) { return b.together(id).steps.rows(); };
        const auto events = [&](const char* id, const char* kind) {
            std::vector<std::int64_t> steps;
            for (const RunEvent& event : b.together(id).events)
                if (event.kind == kind) steps.push_back(event.step);
            return steps;
        };
        QTRY_COMPARE_WITH_TIMEOUT(rows("b"), 1u, 20000);
        QTest::qWait(100);        // in which no further row may arrive
        QCOMPARE(rows("a"), 1u);  // both at step 0, and there they stay
        QCOMPARE(rows("b"), 1u);
        QCOMPARE(events("a", kWatchEvent), std::vector<std::int64_t>{0});
        QVERIFY(events("b", kWatchEvent).empty());

        // Set while paused: the other run triggers at the next step, and again both have made it.
        b.engine->setWatch("b", {parse_watch("grad_norm > 0", "test")});
        b.engine->setPaused(false);
        QTRY_COMPARE_WITH_TIMEOUT(rows("a"), 2u, 20000);
        QTRY_COMPARE_WITH_TIMEOUT(rows("b"), 2u, 20000);
        QTest::qWait(100);  // in which no further row may arrive
        QCOMPARE(rows("a"), 2u);
        QCOMPARE(events("b", kWatchesEvent), std::vector<std::int64_t>{1});
        QCOMPARE(events("b", kWatchEvent), std::vector<std::int64_t>{1});

        b.engine->setPaused(false);
        QTRY_VERIFY_WITH_TIMEOUT(b.completed(), 20000);
        QCOMPARE(events("a", kWatchEvent).size(), std::size_t{1});
        QCOMPARE(events("b", kWatchEvent).size(), std::size_t{1});
        // The bits are those of runs without watchpoints.
        ThreadPool pool(1);
        for (const auto& [id, scheme] : {std::pair{"a", Scheme::Pre}, {"b", Scheme::Post}}) {
            const RunData plain = complete_run(smallRecipe(scheme, 40), "plain", pool), run = b.together(id);
            QCOMPARE(run.steps.rows(), 40u);
            QCOMPARE(*run.steps.find("loss"), *plain.steps.find("loss"));
            QCOMPARE(*run.steps.find("grad_norm"), *plain.steps.find("grad_norm"));
        }
    }

    void aStopAfterASingleStepThatTriggersClearsThePause() {
        Bench b;
        Recipe watched = smallRecipe(Scheme::Pre, 40);
        watched.watch = {parse_watch("loss > 0", "test")};
        b.engine->train(1, {{"a", "A", watched, {}, {}, {}, {}, 1}});
        QTRY_COMPARE_WITH_TIMEOUT(b.together("a").steps.rows(), 1u, 20000);
        b.engine->singleStep();
        QTRY_COMPARE_WITH_TIMEOUT(b.together("a").steps.rows(), 2u, 20000);
        b.engine->stop();
        b.engine->train(2, {{"c", "C", smallRecipe(Scheme::Pre, 40), {}, {}, {}, {}, 2}});
        QTRY_VERIFY_WITH_TIMEOUT(b.completed() && b.together("c").steps.rows() == 40, 20000);
    }

    void aHotKnobWhileTrainingIsAnEventAndActsFromTheNextStep() {
        Bench b;
        b.engine->train(1, {{"a", "A", smallRecipe(Scheme::Pre, 100000), {}, {}, {}}});
        QTRY_VERIFY(b.together("a").steps.rows() > 2);
        HotKnobs knobs = hot_knobs(smallRecipe());
        knobs.temperature = 3;
        b.engine->setKnobs("a", knobs);
        QTRY_VERIFY(!b.together("a").events.empty());
        QCOMPARE(b.together("a").events[0].kind, std::string("knob"));
        QTRY_COMPARE(b.together("a").steps.find("temperature")->back(), 3.0);
    }

    /// For a run that is not there (yet, any more, in this comparison) they change nothing; twice is once.
    void interventionsThatComeLateEarlyOrTwice() {
        Bench b;
        Recipe recipe = smallRecipe(Scheme::Pre, 40);
        recipe.train.precision = Precision::Bf16;
        recipe.stack.norm.eps = 0.1;
        const std::vector<InterventionSpec> list{{InterventionKind::NormEps, 0.3, 1, 1e-6, 3, 2}};
        const auto interventions = [&](const char* id) {
            const std::vector<RunEvent>& events = b.together(id).events;
            return std::count_if(events.begin(), events.end(),
                                 [](const RunEvent& event) { return event.kind == "intervention"; });
        };
        b.engine->setInterventions("a", list);  // before there is a run
        b.engine->train(1, {{"a", "A", recipe, {}, {}, {}}});
        b.engine->setInterventions("gone", list);
        QTRY_VERIFY_WITH_TIMEOUT(b.completed(), 20000);
        b.engine->setInterventions("a", list);  // after its end
        b.engine->train(2, {{"c", "C", recipe, {}, {}, {}, {}, 2}});
        b.engine->setInterventions("a", list);  // of the comparison before
        QTRY_VERIFY_WITH_TIMEOUT(b.completed() && b.together("c").steps.rows() == 40, 20000);
        QCOMPARE(interventions("a") + interventions("c"), 0);
        QCOMPARE(*b.together("c").steps.find("loss"), *b.together("a").steps.find("loss"));

        Recipe longer = recipe;
        longer.train.steps = 100000;
        b.engine->train(3, {{"d", "D", longer, {}, {}, {}, {}, 3}});
        b.engine->setInterventions("d", list);
        b.engine->setInterventions("d", list);
        QTRY_VERIFY_WITH_TIMEOUT(interventions("d") > 0, 20000);
        b.engine->stop();
        QTRY_COMPARE_WITH_TIMEOUT(b.together("d").outcome.state, RunState::Interrupted, 20000);
        const std::vector<RunEvent> events = b.together("d").events;
        QCOMPARE(std::count_if(events.begin(), events.end(),
                               [](const RunEvent& event) {
                                   return event.text.find("interventions none →") != std::string::npos;
                               }),
                 1);
    }

    void stoppingLeavesACheckpointAndAnInterruptedRun() {
        Bench b;
        b.engine->train(1, {{"a", "A", smallRecipe(Scheme::Pre, 100000), {}, {}, {}}});
        QTRY_VERIFY(b.together("a").steps.rows() > 2);
        b.engine->stop();
        QTRY_COMPARE(b.together("a").outcome.state, RunState::Interrupted);
        CheckpointPtr last;
        for (const FramePtr& frame : b.frames)
            for (const CheckpointPtr& checkpoint : frame->runs.at(0).checkpoints) last = checkpoint;
        QVERIFY(last);
        QCOMPARE(static_cast<std::size_t>(last->step), b.together("a").steps.rows());

        // No thread recorded: all of it waits, in one piece.
        const auto waiting = b.engine->recordings()->take();
        QCOMPARE(waiting.size(), 1u);
        QVERIFY(waiting[0].header && waiting[0].ends && waiting[0].failure.empty());
        QCOMPARE(waiting[0].delta.steps.size(), b.together("a").steps.rows());
        QCOMPARE(waiting[0].newest->step, last->step);
        QCOMPARE(waiting[0].delta.outcome->state, RunState::Interrupted);
    }

    /// An interface that hangs and a recorder that does not come: neither is sent an event a step, and
    /// nothing is lost.
    void whatIsNotReadGathersInOnePiece() {
        // Written in the engine's thread; frameShown() is never called.
        std::mutex mutex;
        std::vector<FramePtr> frames;
        std::atomic<int> wakes = 0;
        WorkerThread<EngineWorker> engine("engine", 1);
        connect(engine.get(), &EngineWorker::frameReady, [&](const FramePtr& frame) {
            const std::lock_guard lock(mutex);
            frames.push_back(frame);
        });
        connect(engine.get(), &EngineWorker::recordingWaits, [&] { ++wakes; });
        const auto complete = [&] {
            const std::lock_guard lock(mutex);
            return !frames.empty() && frames.back()->complete;
        };
        Recipe recipe = smallRecipe(Scheme::Pre, 300);
        recipe.train.checkpoint_every = 1;
        engine->train(1, {{"a", "A", recipe, {}, {}, {}}});
        QTRY_VERIFY_WITH_TIMEOUT(complete(), 20000);
        const std::lock_guard lock(mutex);
        QVERIFY(frames.size() <= 4);
        QCOMPARE(wakes.load(), 1);
        std::size_t rows = 0;
        for (const FramePtr& frame : frames) {
            const RunFrame& run = frame->runs.at(0);
            rows += run.delta.steps.size();
            QVERIFY(run.checkpoints.size() <= 3);
        }
        QCOMPARE(rows, 300u);
        QCOMPARE(frames.back()->runs.at(0).checkpoints.back()->step, 300);
        const auto waiting = engine->recordings()->take();
        QCOMPARE(waiting.size(), 1u);
        QCOMPARE(waiting[0].delta.steps.size(), 300u);
        QCOMPARE(waiting[0].newest->step, 300);
    }
};

NORMSCOPE_TEST(EngineWorkerTest)
#include "engine_worker_test.moc"
