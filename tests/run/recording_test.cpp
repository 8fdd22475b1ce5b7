// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/recording.h"

#include "core/base/error.h"
#include "core/run/checkpoints/resume.h"
#include "core/session/recording/recovery.h"
#include "small_run.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <sys/resource.h>

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <csignal>

using namespace normscope;
using namespace normscope::test;
using namespace std::chrono_literals;

namespace {

/// Kills this process once the checkpoint of a step is written.
struct KilledAfter : RunSink {
    Recording& recording;
    std::int64_t step;
    KilledAfter(Recording& r, std::int64_t s) : recording(r), step(s) {}
    void add(const RunDelta& delta) override { recording.add(delta); }
    void save(const std::shared_ptr<const Checkpoint>& checkpoint) override {
        recording.save(checkpoint);
        if (checkpoint->step == step) std::raise(SIGKILL);
    }
};

}  // namespace

class RecordingTest : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) { return folder_.filePath(name).toStdString(); }

  private Q_SLOTS:
    /// Rows are flushed ten times a second, these steps take a millisecond: without a flush the checkpoint
    /// would lie ahead of them.
    void aKilledRunHasTheRowsOfItsNewestCheckpoint() {
#if defined(__SANITIZE_THREAD__)
        QSKIP("ThreadSanitizer has no threads in a forked child of a program that had some");
#endif
        const std::string file = path("killed.h5");
        const Recipe recipe = small_recipe(50, 2);
        const int code = sample::with_child(
            [&] {
                auto experiment = small_experiment(recipe);
                Recording recording(file, std::make_shared<const RunData>(experiment->header()));
                KilledAfter sink(recording, 20);
                Run run(std::move(experiment), {}, sink, 1h);
                run.begin();
                ThreadPool pool(1);
                while (!run.ended()) run.advance(pool);
                return 0;
            },
            [](int) {});
        QCOMPARE(code, -SIGKILL);
        const RunData read = recover(file);
        QCOMPARE(CheckpointPair(file).newest()->step, 20);
        QVERIFY2(read.steps.rows() >= 20, qPrintable(QString::number(read.steps.rows())));
        QCOMPARE(read.probes.at("growth").back().step, 18);
        QCOMPARE(resumable_checkpoint(file, read)->step, 20);
    }

    void aResumedRecordingIsTheWholeRun() {
        const std::string file = path("whole.h5");
        const Recipe recipe = small_recipe(9, 4);
        ThreadPool pool(1);
        {
            auto experiment = small_experiment(recipe);
            Recording recording(file, std::make_shared<const RunData>(experiment->header()));
            Run run(std::move(experiment), {}, recording, 1h);
            run.begin();
            for (int i = 0; i < 6; ++i) run.advance(pool);
            run.interrupt("stopped", "stopped");
            recording.close();
        }
        RunData read = recover(file);
        QCOMPARE(read.outcome.state, RunState::Interrupted);
        QCOMPARE(read.steps.rows(), std::size_t{6});
        {
            RunStart start;
            start.checkpoint = std::make_shared<const Checkpoint>(*resumable_checkpoint(file, read));
            QCOMPARE(start.checkpoint->step, 6);
            cut_after(read, start.checkpoint->step - 1);
            start.history = std::make_shared<const RunData>(read);
            Recording recording(file, start.history);
            QCOMPARE(recording.last_step(), 5);
            Run run(small_experiment(recipe), std::move(start), recording, 1h);
            run.begin();
            while (!run.ended()) run.advance(pool);
            recording.close();
            QCOMPARE(recording.last_step(), 8);
        }
        read = recover(file);
        MemorySink alone;
        Run run(small_experiment(recipe), {}, alone, 1h);
        run.begin();
        while (!run.ended()) run.advance(pool);
        QCOMPARE(*read.steps.find("loss"), alone.losses());
        QCOMPARE(read.outcome.state, RunState::Finished);
        const auto& samples = alone.all.probes;
        QCOMPARE(
            static_cast<std::ptrdiff_t>(read.probes.at("growth").size()),
            std::count_if(samples.begin(), samples.end(), [](const auto& s) { return s.probe == "growth"; }));
    }

    /// A run that measures nothing has its first rows too.
    void rowsWithoutSamplesAreRecorded() {
        const std::string file = path("rows.h5");
        Recipe recipe = small_recipe(3);
        recipe.probes.clear();
        auto experiment = small_experiment(recipe);
        Recording recording(file, std::make_shared<const RunData>(experiment->header()));
        Run run(std::move(experiment), {}, recording, 1h);
        ThreadPool pool(1);
        run.begin();
        QVERIFY(!QFile::exists(QString::fromStdString(file)));
        run.advance(pool);
        QVERIFY(QFile::exists(
            QString::fromStdString(file)));  // not only with the flight recorder's samples at the end
        while (!run.ended()) run.advance(pool);
        recording.close();
        QCOMPARE(recover(file).steps.rows(), std::size_t{3});
    }

    void deltasMayComeCoalesced() {
        const std::string file = path("coalesced.h5");
        MemorySink memory;
        ThreadPool pool(1);
        auto experiment = small_experiment(small_recipe(9));
        Recording recording(file, std::make_shared<const RunData>(experiment->header()));
        Run run(std::move(experiment), {}, memory, 1h);
        run.begin();
        while (!run.ended()) run.advance(pool);
        recording.add(memory.all);  // several samples of each probe at once
        recording.save(memory.last);
        recording.close();
        const RunData read = recover(file);
        QCOMPARE(*read.steps.find("loss"), memory.losses());
        QCOMPARE(read.probes.at("growth").size(), std::size_t{4});  // steps 0, 3, 6 and the last
    }

    void aCheckpointAheadOfTheRowsIsPassedOver() {
        const std::string file = path("ahead.h5");
        RunData history;
        history.steps.names = {"loss"};
        history.steps.columns.resize(1);
        for (int s = 0; s < 6; ++s) history.steps.append({s, {{"loss", 1.0}}});
        CheckpointPair pair(file);
        const auto at = [](std::int64_t step) {
            Checkpoint checkpoint = small_experiment(small_recipe(9))->checkpoint();
            checkpoint.step = step;
            return checkpoint;
        };
        QVERIFY(!resumable_checkpoint(file, history));
        pair.save(at(7));
        QVERIFY(!resumable_checkpoint(file, history));
        pair.save(at(6));
        pair.save(at(7));
        QCOMPARE(pair.newest()->step, 7);
        QCOMPARE(resumable_checkpoint(file, history)->step, 6);  // the last row is that of step 5
    }

    /// As on a full disk: no file may grow beyond a size. The recording fails in one line and stays readable;
    /// the run can be driven on without it.
    void aFullDiskIsOneLine() {
#if defined(__SANITIZE_THREAD__)
        QSKIP("ThreadSanitizer has no threads in a forked child of a program that had some");
#endif
        const std::string file = path("full.h5");
        const int code = sample::with_child(
            [&] {
                std::signal(SIGXFSZ, SIG_IGN);
                auto experiment = small_experiment(small_recipe(400, 1));
                Recording recording(file, std::make_shared<const RunData>(experiment->header()));
                Run run(std::move(experiment), {}, recording, 1h);
                ThreadPool pool(1);
                run.begin();
                run.advance(pool);
                const rlimit limit{20'000, 20'000};
                ::setrlimit(RLIMIT_FSIZE, &limit);
                std::string line;
                int failed = 0, advanced = 0;
                while (!run.ended()) {
                    ++advanced;
                    try {
                        run.advance(pool);
                    } catch (const SystemError& error) {
                        if (line.empty())
                            recording.abandon(
                                {RunState::Interrupted, recording.last_step(), error.what(), -1});
                        line = error.what();
                        ++failed;
                        if (failed > 3) break;
                    }
                }
                if (line.find('\n') != std::string::npos || line.find("full") == std::string::npos) return 2;
                return failed > 3 && advanced > 3 ? 0 : 3;
            },
            [](int) {});
        QCOMPARE(code, 0);
        QVERIFY(recover(file).steps.rows() >= 1);
    }
};

NORMSCOPE_TEST(RecordingTest)
#include "recording_test.moc"
