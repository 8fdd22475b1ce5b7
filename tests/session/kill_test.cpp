// SPDX-License-Identifier: GPL-3.0-or-later
// The files on disk after a process was killed at any time, or with a full disk.
#include "core/base/error.h"
#include "core/session/checkpoint.h"
#include "core/session/hdf5.h"
#include "core/session/recorder.h"
#include "core/session/recording/recovery.h"
#include "core/session/recording/settle.h"
#include "core/session/session.h"
#include "core/session/validate.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <random>

using namespace normscope;

namespace {

/// Appends as fast as it can, and after each explicit flush writes to `out` how many rows must exist.
void record_for_ever(Recorder& recorder, int out) {
    for (std::int64_t s = 0;; ++s) {
        recorder.append(sample::step(s));
        if (s % 10 == 0) {
            recorder.append(sample::growth(s));
            recorder.append(sample::theta(s));
            recorder.append(sample::null_space(s));
        }
        if (s % 97 == 0) {
            recorder.flush();
            const std::int64_t rows = s + 1;
            if (out >= 0 && ::write(out, &rows, sizeof rows) != sizeof rows) return;
        }
    }
}

std::int64_t last_in_pipe(int in) {
    std::int64_t value = 0, last = 0;
    while (::read(in, &value, sizeof value) == sizeof value) last = value;
    return last;
}

}  // namespace

class TestKill : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::mt19937 random_{20240607};
    std::string path(const std::string& name) {
        return folder_.filePath(QString::fromStdString(name)).toStdString();
    }
    int microseconds(int most) { return std::uniform_int_distribution<>(0, most)(random_); }

  private Q_SLOTS:
    /// The mark of a writer is removed by writing the file a second time, and only when its writer is dead.
    void aKilledRecordingIsClosedForOtherPrograms() {
        const std::string file = path("settled.h5");
        Settled while_written = Settled::NotNeeded;
        const int code = sample::with_child(
            [&] {
                Recorder recorder(file, sample::schema("a"));
                record_for_ever(recorder, -1);
                return 0;
            },
            [&](int pid) {
                while (!std::filesystem::exists(file)) ::usleep(200);
                ::usleep(50'000);
                while_written = settle_recording(file);
                ::kill(pid, SIGKILL);
            });
        QCOMPARE(code, -SIGKILL);
        QVERIFY(while_written == Settled::StillWritten);
        QVERIFY(hdf5::marked_by_writer(file));
        const RunData before = recover(file);
        QVERIFY(before.steps.rows() > 0);
        QVERIFY(settle_recording(file) == Settled::Rewritten);
        QVERIFY(!hdf5::marked_by_writer(file));
        const RunData after = recover(file);
        QCOMPARE(sample::difference(after, before), "");
        QVERIFY(after.outcome.state == RunState::Interrupted);
        QVERIFY(validate_session(file).empty());
        QVERIFY(settle_recording(file) == Settled::NotNeeded);
        QVERIFY(settle_recording(path("nowhere.h5")) == Settled::NotNeeded);  // reading it states why
    }

    void everythingFlushedSurvives() {
        for (int trial = 0; trial < 30; ++trial) {
            const std::string file = path("run" + std::to_string(trial) + ".h5");
            int ends[2];
            QCOMPARE(::pipe(ends), 0);
            const int code = sample::with_child(
                [&] {
                    ::close(ends[0]);
                    Recorder recorder(file, sample::schema("a"));
                    record_for_ever(recorder, ends[1]);
                    return 0;
                },
                [&](int pid) {
                    ::close(ends[1]);
                    while (!std::filesystem::exists(file)) ::usleep(200);
                    ::usleep(static_cast<useconds_t>(microseconds(60'000)));
                    ::kill(pid, SIGKILL);
                });
            QCOMPARE(code, -SIGKILL);
            const std::int64_t flushed = last_in_pipe(ends[0]);
            ::close(ends[0]);
            std::vector<std::string> warnings;
            const RunData read = recover(file, &warnings);
            QVERIFY2(warnings.empty(), warnings.empty() ? "" : warnings[0].c_str());
            QCOMPARE(sample::broken_prefix(read), "");
            QCOMPARE(read.outcome.state, RunState::Interrupted);
            QVERIFY2(static_cast<std::int64_t>(read.steps.rows()) >= flushed,
                     qPrintable(QString::number(flushed)));
            if (flushed > 0) QCOMPARE(read.outcome.step, read.steps.step.back());
            QVERIFY(validate_session(file).empty());
            save_session(path("saved.h5"), std::vector{read}, "{}");
            QCOMPARE(sample::difference(open_session(path("saved.h5")).runs.at(0), read), "");
        }
    }

    void aSaveIsOldOrNew() {
        const std::string file = path("session.h5");
        const std::vector<RunData> small{sample::run("a", 30)},
            large{sample::run("a", 900), sample::run("b", 400)};
        QElapsedTimer clock;
        clock.start();
        save_session(file, small, "0");
        const int one_save = static_cast<int>(clock.nsecsElapsed() / 1000);
        int seen_small = 0, seen_large = 0;
        for (int trial = 0; trial < 40; ++trial) {
            int ends[2];
            QCOMPARE(::pipe(ends), 0);
            const int code = sample::with_child(
                [&] {
                    for (int i = 1;; ++i) {
                        save_session(file, i % 2 ? large : small, std::to_string(i % 2));
                        if (::write(ends[1], "x", 1) != 1) return 1;
                    }
                },
                [&](int pid) {  // killed within one of its first saves, however slow this machine is
                    char done;
                    for (int saves = trial % 4; saves > 0; --saves)
                        if (::read(ends[0], &done, 1) != 1) break;
                    ::usleep(static_cast<useconds_t>(microseconds(2 * one_save)));
                    ::kill(pid, SIGKILL);
                });
            ::close(ends[0]);
            ::close(ends[1]);
            QCOMPARE(code, -SIGKILL);
            const Session session = open_session(file);
            const auto& wanted = session.view_json == "1" ? large : small;
            (session.view_json == "1" ? seen_large : seen_small)++;
            QCOMPARE(session.runs.size(), wanted.size());
            for (std::size_t i = 0; i < wanted.size(); ++i)
                QCOMPARE(sample::difference(session.runs[i], wanted[i]), "");
        }
        QVERIFY(seen_small > 0 && seen_large > 0);
        save_session(file, small, "");
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path().toStdString()))
            QVERIFY(entry.path().string().find("session.h5.saving") == std::string::npos);
    }

    void theLastCheckpointSurvives() {
        for (int trial = 0; trial < 20; ++trial) {
            const std::string file = path("ck" + std::to_string(trial) + ".h5");
            int ends[2];
            QCOMPARE(::pipe(ends), 0);
            sample::with_child(
                [&] {
                    CheckpointPair pair(file);
                    Checkpoint checkpoint;
                    checkpoint.params = {
                        {"w", {50'000}, StoredType::Float64, std::vector<std::byte>(400'000)}};
                    for (std::int64_t s = 1;; ++s) {
                        checkpoint.step = s;
                        pair.save(checkpoint);
                        if (::write(ends[1], &s, sizeof s) != sizeof s) return 1;
                    }
                },
                [&](int pid) {
                    ::close(ends[1]);
                    ::usleep(static_cast<useconds_t>(microseconds(80'000)));
                    ::kill(pid, SIGKILL);
                });
            const std::int64_t reported = last_in_pipe(ends[0]);
            ::close(ends[0]);
            const auto newest = CheckpointPair(file).newest();
            QVERIFY(newest.has_value() || reported == 0);
            if (newest) QVERIFY(newest->step >= reported && newest->params.at(0).bytes.size() == 400'000);
        }
    }

    void aFullDiskLeavesWhatWasFlushed() {
        for (const rlim_t limit : {60'000, 111'111, 300'000, 1'000'000, 2'345'678}) {
            const std::string file = path("full" + std::to_string(limit) + ".h5");
            int ends[2];
            QCOMPARE(::pipe(ends), 0);
            const int code = sample::with_child(
                [&] {
                    ::signal(SIGXFSZ, SIG_IGN);  // then writing past the limit fails like a full disk
                    const rlimit most{limit, limit};
                    ::setrlimit(RLIMIT_FSIZE, &most);
                    {
                        Recorder recorder(file, sample::schema("a"));
                        try {
                            record_for_ever(recorder, ends[1]);
                            return 1;
                        } catch (const SystemError& error) {
                            const std::string text = error.what();
                            if (!text.starts_with(file + ": ") ||
                                text.find("File too large") == std::string::npos) {
                                ::dprintf(2, "%s\n", text.c_str());
                                return 2;
                            }
                        }
                        try {
                            recorder.append(sample::step(0));
                            return 3;
                        } catch (const SystemError&) {
                        }
                    }
                    // The library still works.
                    save_session(path("after.h5"), std::vector{sample::run("a", 30)}, "");
                    return open_session(path("after.h5")).runs.at(0).steps.rows() == 30 ? 0 : 4;
                },
                [&](int) { ::close(ends[1]); });
            QCOMPARE(code, 0);
            const std::int64_t flushed = last_in_pipe(ends[0]);
            ::close(ends[0]);
            const RunData read = recover(file);
            QCOMPARE(sample::broken_prefix(read), "");
            QVERIFY(static_cast<std::int64_t>(read.steps.rows()) >= flushed);
            if (limit >= 300'000) QVERIFY(flushed > 0);
        }
    }

    void aSaveOnAFullDiskKeepsTheOldFile() {
        const std::string file = path("keep.h5");
        const RunData run = sample::run("a", 30);
        save_session(file, std::vector{run}, "");
        const int code = sample::with_child(
            [&] {
                ::signal(SIGXFSZ, SIG_IGN);
                const rlimit most{100'000, 100'000};
                ::setrlimit(RLIMIT_FSIZE, &most);
                try {
                    save_session(file, std::vector{sample::run("a", 20'000)}, "");
                } catch (const SystemError& error) {
                    return std::string(error.what()).starts_with(file + ": ") ? 0 : 2;
                }
                return 1;
            },
            [](int) {});
        QCOMPARE(code, 0);
        QCOMPARE(sample::difference(open_session(file).runs.at(0), run), "");
    }
};

NORMSCOPE_TEST(TestKill)
#include "kill_test.moc"
