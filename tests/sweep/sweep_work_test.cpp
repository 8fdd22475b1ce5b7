// SPDX-License-Identifier: GPL-3.0-or-later
// One run of a sweep: what is in its file does not depend on whether it was recorded while it trained.
#include "core/sweep/sweep_work.h"

#include "core/run/checkpoints/run_file.h"
#include "core/run/complete.h"
#include "core/session/session.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>
#include <stdexcept>

using namespace normscope;
using namespace std::chrono_literals;

namespace {

constexpr int kSteps = 6;

/// Times are those of each training.
RunData without_times(RunData run) {
    for (std::size_t c = 0; c < run.steps.names.size(); ++c)
        for (const char* name : {"tokens_per_s", "step_ms", "probe_ms"})
            if (run.steps.names[c] == name) run.steps.columns[c].assign(run.steps.rows(), 0);
    for (auto& [probe, samples] : run.probes)
        for (ProbeResult& sample : samples) sample.cost_ms = 0;
    return run;
}

}  // namespace

class SweepWorkTest : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    ThreadPool pool_{1};

    struct Trained {
        RecordedEnd end;
        int file_calls = 0;
        bool seen = false;  ///< the file was there while the run trained
    };
    /// `stop_after`, `fail_after`: steps; −1: never.
    Trained train(const char* name, std::chrono::milliseconds unrecorded, int stop_after = -1,
                  int fail_after = -1) {
        RecordedRun run;
        run.recipe =
            load_recipe("pre-ln", {"stack.depth=2", "stack.d_model=16", "stack.heads=2", "stack.context=16",
                                   "batch=2", "steps=6", R"(probes=[{"id":"growth","every":2}])"});
        run.name = "short";
        run.path = path(name);
        run.keep_weights = true;
        run.unrecorded = unrecorded;
        Trained trained;
        int calls = 0, polls = 0;
        trained.end = train_recorded(
            run, cpu_device(),
            [&]() -> ThreadPool& {
                trained.seen = trained.seen || is_recorded(path(name));
                // Called once before the steps, for the number of threads.
                if (fail_after >= 0 && ++calls > fail_after + 1) throw std::runtime_error("no thread");
                return pool_;
            },
            [&] { return stop_after >= 0 && ++polls >= stop_after; },
            [&](const std::function<void()>& work) {
                ++trained.file_calls;
                work();
            });
        return trained;
    }
    std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }

  private Q_SLOTS:
    void aShortRunIsThatOfALongOne() {
        const Trained brief = train("short.h5", 1h), recorded = train("recorded.h5", 0ms);
        QVERIFY(!brief.seen && recorded.seen);
        QCOMPARE(brief.file_calls, 3);  // what there was, nothing to close, the session
        for (const char* name : {"short.h5", "recorded.h5"}) {
            const Session session = open_session(path(name));
            const RunData& run = session.runs.at(0);
            QCOMPARE(run.outcome.state, RunState::Finished);
            QCOMPARE(run.steps.rows(), std::size_t(kSteps));
            QCOMPARE(sample::difference(without_times(run), without_times(recorded.end.recorded)), "");
            QCOMPARE(session.checkpoints.size(), std::size_t(1));
        }
        QCOMPARE(sample::difference(brief.end.recorded, open_session(path("short.h5")).runs.at(0)), "");
        QVERIFY(brief.end.has_recording);
    }

    /// What was not written yet is there after it.
    void aShortRunThatIsStoppedIsResumed() {
        const Trained stopped = train("stopped.h5", 1h, 2);
        QCOMPARE(stopped.end.outcome.state, RunState::Interrupted);
        QCOMPARE(stopped.end.recorded.steps.rows(), std::size_t(2));
        const Trained rest = train("stopped.h5", 1h), whole = train("whole.h5", 1h);
        RunData resumed = without_times(open_session(path("stopped.h5")).runs.at(0));
        QCOMPARE(rest.end.outcome.state, RunState::Finished);
        QVERIFY(!resumed.events.empty());
        RunData other = without_times(whole.end.recorded);
        for (RunData* run : {&resumed, &other}) {  // what a stop adds
            run->events.clear();
            run->probes.erase("flight");
        }
        const std::string apart = sample::difference(resumed, other);
        QVERIFY2(apart.empty(), apart.c_str());
    }

    void aShortRunThatFailsIsRecorded() {
        const Trained failed = train("failed.h5", 1h, -1, 3);
        QCOMPARE(failed.end.outcome.state, RunState::Failed);
        QVERIFY(failed.end.has_recording);
        QCOMPARE(failed.end.recorded.steps.rows(), std::size_t(3));
        QCOMPARE(failed.end.recorded.outcome.state, RunState::Failed);
    }
};

NORMSCOPE_TEST(SweepWorkTest)
#include "sweep_work_test.moc"
