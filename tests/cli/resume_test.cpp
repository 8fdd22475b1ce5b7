// SPDX-License-Identifier: GPL-3.0-or-later
// A run that is stopped, by a signal or by kill -9, and resumed gives bit for bit the losses and weights of
// an uninterrupted one.
#include "core/run/experiment.h"
#include "core/session/checkpoint.h"
#include "core/session/recording/recovery.h"
#include "core/session/session.h"
#include "tests/cli/cli_process.h"
#include "tests/cli/same_run.h"
#include "tests/support/test_main.h"

#include <signal.h>

#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace normscope;

class ResumeTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    static constexpr int kSteps = 600;

    static QStringList train(const QString& out, const QString& checkpoint_every = "20") {
        return QStringList{"train",   "peri-ln",
                           "--out",   out,
                           "--steps", QString::number(kSteps),
                           "--set",   "checkpoint.every=" + checkpoint_every} +
               small_stack();
    }

    QString whole() {
        const QString out = folder_.filePath("whole.h5");
        if (!QFile::exists(out)) {
            const CliResult result = run_cli(train(out));
            if (result.code != 0) qWarning("%s", qPrintable(result.error));
        }
        return out;
    }

  private Q_SLOTS:
    void killed() {
        const QString reference = whole();
        QRandomGenerator random(20260101);
        int kills = 0, resumed_mid_way = 0;
        for (int trial = 0; trial < 4; ++trial) {
            const QString out = folder_.filePath(QString("killed%1.h5").arg(trial));
            for (int part = 0; part < 12; ++part) {
                const auto process = start_cli(train(out) + QStringList{"--resume"});
                if (process->waitForFinished(5 + static_cast<int>(random.bounded(part < 3 ? 150 : 500))))
                    break;
                process->kill();
                QVERIFY(process->waitForFinished());
                ++kills;
                if (!QFile::exists(out)) continue;
                const CliResult info = run_cli({"info", out});
                QVERIFY2(info.code == 0, qPrintable(info.error));
                const bool finished =
                    info.out.contains("\"  finished");  // killed while it saved or cleaned up
                QVERIFY2(finished || info.out.contains("\"  interrupted"), qPrintable(info.out));
                resumed_mid_way += !finished && !info.out.contains("  steps 0");
            }
            const CliResult last = run_cli(train(out) + QStringList{"--resume"});
            QVERIFY2(last.code == 0, qPrintable(last.error));
            compare_runs(out, reference);
        }
        qInfo("%d kills, %d of them with steps on disk", kills, resumed_mid_way);
        QVERIFY(kills >= 8);
        QVERIFY(resumed_mid_way >= 4);
    }

    /// Of the checkpoints that a recipe asks for the newest are kept, as in the window, not the last one
    /// alone.
    void theCheckpointsOfTheRecipeAreKept() {
        const auto stepsOf = [&](const QString& name, int steps, const QStringList& settings) {
            const QString out = folder_.filePath(name);
            const CliResult result =
                run_cli(QStringList{"train", "pre-ln", "--out", out, "--steps", QString::number(steps),
                                    "--set", "checkpoint.every=100"} +
                        settings + small_stack());
            if (result.code != 0) qWarning("%s", qPrintable(result.error));
            QList<qint64> stored;
            for (const EmbeddedCheckpoint& inside : open_session(out.toStdString()).checkpoints)
                stored << inside.step;
            return stored;
        };
        QCOMPARE(stepsOf("kept.h5", 500, {}), (QList<qint64>{100, 200, 300, 400, 500}));
        const QList<qint64> more = stepsOf("more.h5", 1500, {"--set", "checkpoint.keep=12"});
        QCOMPARE(more.size(), 13);  // the first one too
        QCOMPARE(more.mid(1),
                 (QList<qint64>{400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1300, 1400, 1500}));
        const CliResult none =
            run_cli(QStringList{"train", "pre-ln", "--steps", "20", "--out", folder_.filePath("none.h5")} +
                    small_stack());
        QCOMPARE(none.code, 0);
        QCOMPARE(open_session(folder_.filePath("none.h5").toStdString()).checkpoints.size(), std::size_t{1});
    }

    void aFinishedRunPrintsItsResultAgain() {
        const QString out = folder_.filePath("done.h5");
        const QStringList arguments =
            QStringList{"train", "pre-ln", "--steps", "20", "--out", out} + small_stack();
        const CliResult first = run_cli(arguments), again = run_cli(arguments + QStringList{"--resume"});
        QCOMPARE(first.code, 0);
        QCOMPARE(again.code, 0);
        const QStringList lines = first.out.trimmed().split('\n');
        QVERIFY2(lines.back().contains("20 steps, last loss ") && !lines.back().contains("—"),
                 qPrintable(lines.back()));
        QCOMPARE(again.out.trimmed().split('\n').back(), lines.back());
    }

    /// The names of their checkpoints differ as theirs do.
    void recordingsOfSimilarNamesDoNotShareCheckpoints() {
        const QString reference = whole(), plain = folder_.filePath("twin"),
                      other = folder_.filePath("twin.h5");
        const auto process = start_cli(train(plain));
        while (QDir(folder_.path()).entryList({"twin.ckpt.b*"}).isEmpty())
            QVERIFY(!process->waitForFinished(2));
        process->kill();
        process->waitForFinished();
        const auto newest = CheckpointPair(plain.toStdString()).newest();
        QVERIFY(newest);
        // Another run, stopped too: it has its own.
        const auto second = start_cli(train(other, "5") + QStringList{"--set", "seed=7"});
        while (CheckpointPair(other.toStdString()).paths().size() < 2) QVERIFY(!second->waitForFinished(2));
        second->kill();
        second->waitForFinished();
        QVERIFY(*CheckpointPair(plain.toStdString()).newest() == *newest);
        const CliResult resumed = run_cli(train(plain) + QStringList{"--resume"});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.error));
        QVERIFY2(!resumed.out.contains("starting at step 0"), qPrintable(resumed.out));
        compare_runs(plain, reference);
        QVERIFY(CheckpointPair(other.toStdString()).newest());
    }

    /// A key that differs is named with both values, and the file is left as it was.
    void anotherRecipeIsNotResumed() {
        const QString out = folder_.filePath("another.h5");
        QVERIFY(QFile::copy(whole(), out));
        const CliResult other = run_cli(train(out) + QStringList{"--resume", "--set", "optimizer.lr=0.0123"});
        QCOMPARE(other.code, 2);
        QVERIFY2(other.error.contains("another.h5: optimizer.lr: 0.0123 differs from the recorded"),
                 qPrintable(other.error));
        compare_runs(out, whole());
    }

    /// A step is computed from the newest checkpoint before it, of the two next to a recording.
    void aReplayStartsAtTheNewestCheckpoint() {
        const std::string out = folder_.filePath("replayed.h5").toStdString();
        Experiment experiment(load_recipe("post-ln", {"stack.depth=2", "stack.d_model=16", "stack.heads=2",
                                                      "stack.context=8", "batch=2", "steps=8"}),
                              "a", "test");
        ThreadPool pool(1);
        RunData run = experiment.header();
        std::vector<Checkpoint> saved;
        for (int step = 0; step < 6; ++step) {
            append(run, experiment.advance(pool));
            if (step == 1 || step == 3) saved.push_back(experiment.checkpoint());
        }
        save_session(out, std::vector{run}, "");
        for (const Checkpoint& checkpoint : saved) CheckpointPair(out).save(checkpoint);
        const auto probe = [&](const char* step) {
            return run_cli({"probe", QString::fromStdString(out) + step, "--probes", "growth", "--out",
                            folder_.filePath("at.h5")});
        };
        const CliResult fifth = probe("@5"), third = probe("@3");
        QVERIFY2(fifth.code == 0 && third.code == 0, qPrintable(fifth.error + third.error));
        QVERIFY2(fifth.out.contains("replayed from step 4 to 5"), qPrintable(fifth.out));
        QVERIFY2(third.out.contains("replayed from step 2 to 3"), qPrintable(third.out));
    }

    /// A new run over an old one must not use the checkpoints of the old one.
    void aNewRunForgetsOldCheckpoints() {
        const QString reference = whole(), out = folder_.filePath("again.h5"),
                      never = QString::number(2 * kSteps);
        const auto first = start_cli(train(out));
        while (QDir(folder_.path()).entryList({"again.ckpt*"}).isEmpty()) QVERIFY(!first->waitForFinished(2));
        first->kill();
        first->waitForFinished();
        QVERIFY(QFile::remove(out));  // the file is gone, its checkpoints still exist
        const auto second = start_cli(train(out, never));
        while (!QFile::exists(out)) QVERIFY(!second->waitForFinished(2));
        QVERIFY(QDir(folder_.path()).entryList({"again.ckpt*"}).isEmpty());
        second->kill();
        QVERIFY(second->waitForFinished());
        const CliResult resumed = run_cli(train(out, never) + QStringList{"--resume"});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.error));
        compare_runs(out, reference);
        QVERIFY(QDir(folder_.path()).entryList({"again.ckpt*"}).isEmpty());
    }

    /// A recording of another version has other series: they are continued, and an event names the others.
    void aRecordingWithFewerSeriesResumes() {
        const QString reference = whole(), out = folder_.filePath("older.h5");
        const auto process = start_cli(train(out));
        while (QDir(folder_.path()).entryList({"older.ckpt.b*"}).isEmpty())
            QVERIFY(!process->waitForFinished(2));
        process->kill();
        process->waitForFinished();
        RunData old = recover(out.toStdString());
        QVERIFY(old.steps.rows() > 0 && old.steps.rows() < kSteps);
        for (ProbeResult& sample : old.probes.at("null_space"))
            std::erase_if(sample.arrays,
                          [](const NamedArray& a) { return a.name.find("rho_ln") != std::string::npos; });
        const std::size_t kept = old.probes.at("null_space").front().arrays.size();
        // And one that this version no longer measures.
        for (ProbeResult& sample : old.probes.at("growth")) {
            sample.arrays.push_back(sample.arrays.front());
            sample.arrays.back().name = "of_old";
        }
        {
            std::vector<ProbeResult> first;
            for (const auto& [id, samples] : old.probes) first.push_back(samples.front());
            Recorder recorder(out.toStdString(), recording_schema(old, first), &old);
            recorder.set_state({RunState::Interrupted, old.steps.step.back(), "killed", -1});
        }
        const CliResult resumed = run_cli(train(out) + QStringList{"--resume"});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.error));
        compare_runs(out, reference);
        const RunData run = open_session(out.toStdString()).runs.at(0);
        const auto& sites = run.probes.at("null_space");
        QCOMPARE(sites.back().step, std::int64_t(kSteps - 1));
        const RunData all = open_session(reference.toStdString()).runs.at(0);
        QVERIFY(kept > 0 && kept < all.probes.at("null_space").front().arrays.size());
        for (const ProbeResult& sample : sites) {
            QCOMPARE(sample.arrays.size(), kept);
            for (const NamedArray& array : sample.arrays)
                QVERIFY(array.name.find("rho_ln") == std::string::npos);
        }
        const ProbeResult& grown = run.probes.at("growth").back();
        QVERIFY(std::isnan(grown.find("of_old")->data.at(0)) && !std::isnan(grown.find("rms")->data.at(0)));
        const auto notices = [&](const char* series) {
            return std::count_if(run.events.begin(), run.events.end(), [&](const RunEvent& e) {
                return e.kind == "series" && e.text.find(series) != std::string::npos;
            });
        };
        QCOMPARE(notices("fp16_rho_ln"), 1);
        QCOMPARE(notices("of_old"), 1);
    }

    void aLiveRunIsLeftAlone() {
        const QString out = folder_.filePath("live.h5");
        const auto process =
            start_cli(QStringList{"train", "peri-ln", "--out", out, "--steps", "100000000"} + small_stack());
        while (!QFile::exists(out)) QVERIFY(!process->waitForFinished(5));
        for (const char* option : {"--json", "--resume"}) {
            const CliResult other = run_cli(train(out) + QStringList{option});
            QCOMPARE(other.code, 2);
            QVERIFY2(other.error.contains("live.h5: is being written by process"), qPrintable(other.error));
        }
        const CliResult gathered = run_cli({"gather", whole(), "--out", out});
        QCOMPARE(gathered.code, 2);
        QVERIFY2(gathered.error_lines().size() == 1 &&
                     gathered.error.contains("live.h5: is being written by process"),
                 qPrintable(gathered.error));
        const CliResult probed = run_cli({"probe", "pre-ln", "--probes", "growth", "--out", out});
        QCOMPARE(probed.code, 2);
        QVERIFY2(probed.error.contains("live.h5: is being written by process"), qPrintable(probed.error));
        QVERIFY(run_cli({"info", out}).out.contains("\"  running"));
        process->terminate();
        QVERIFY(process->waitForFinished(60'000));
    }
};

NORMSCOPE_TEST(ResumeTest)
#include "resume_test.moc"
