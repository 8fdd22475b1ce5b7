// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/recorder.h"

#include "core/base/error.h"
#include "core/session/process/process_identity.h"
#include "core/session/recording/recovery.h"
#include "core/session/session.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>

using namespace normscope;

namespace {

void record(Recorder& recorder, const RunData& run, int from, int to) {
    for (int s = from; s < to; ++s) {
        recorder.append(sample::step(s));
        if (s % 10 == 0) {
            recorder.append(sample::growth(s));
            recorder.append(sample::theta(s));
            recorder.append(sample::null_space(s));
        }
        for (const auto& event : run.events)
            if (event.step == s) recorder.append(event);
    }
}

}  // namespace

class TestRecorder : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::string path(const char* name) { return folder_.filePath(name).toStdString(); }

  private Q_SLOTS:
    void aFinishedRecordingIsTheRun() {
        const RunData run = sample::run("a", 700);
        Recorder recorder(path("a.h5"), sample::schema("a"));
        QCOMPARE(recorder.path(), path("a.h5"));
        record(recorder, run, 0, 350);
        recorder.heartbeat();
        record(recorder, run, 350, 700);
        recorder.set_state(run.outcome);
        recorder.close();
        recorder.close();  // a second call has no effect
        QCOMPARE(sample::difference(recover(path("a.h5")), run), "");
        const Session session = open_session(path("a.h5"));
        QCOMPARE(session.runs.size(), std::size_t{1});
        QVERIFY(session.warnings.empty());
        QCOMPARE(sample::difference(session.runs[0], run), "");
    }

    void aResumedRecordingBeginsWithItsHistory() {
        const RunData run = sample::run("a", 90);
        RunData history = run;
        cut_after(history, 49);
        std::ofstream(path("old.h5")) << "";  // an empty file may be replaced
        Recorder recorder(path("old.h5"), sample::schema("a"), &history);
        record(recorder, run, 50, 90);
        recorder.set_state(run.outcome);
        recorder.close();
        QCOMPARE(sample::difference(recover(path("old.h5")), run), "");
    }

    void anEndWithoutAStateIsAnInterruption() {
        // In a child, since this process lives and would count as the writer.
        const int code = sample::with_child(
            [&] {
                Recorder recorder(path("left.h5"), sample::schema("a"));
                record(recorder, sample::run("a", 20), 0, 20);
                return 0;
            },
            [](int) {});
        QCOMPARE(code, 0);
        const RunData read = recover(path("left.h5"));
        QCOMPARE(read.steps.rows(), std::size_t{20});  // the destructor of the recorder never ran
        QCOMPARE(read.outcome.state, RunState::Interrupted);
        QCOMPARE(read.outcome.step, 19);
    }

    void longTextsAreCutAtACharacter() {
        Recorder recorder(path("long.h5"), sample::schema("a"));
        std::string text(239, 'x');
        recorder.append(RunEvent{1, "a kind of more than 16 bytes", text + "→ and more"});
        recorder.set_state({RunState::Failed, 1, text + "Δ", 0});
        recorder.close();
        const RunData read = recover(path("long.h5"));
        QCOMPARE(read.events.at(0).text, text);
        QCOMPARE(read.events.at(0).kind, "a kind of more t");
        QCOMPARE(read.outcome.text, text);
    }

    void whatIsNotInTheSchemaIsRejected() {
        Recorder recorder(path("schema.h5"), sample::schema("a"));
        QVERIFY(sample::input_error([&] {
                    recorder.append(StepRecord{0, {{"loss", 1}}});
                }).starts_with("step 0"));
        ProbeResult other = sample::growth(0);
        other.probe = "jacobian";
        QCOMPARE(sample::input_error([&] { recorder.append(other); }),
                 "probe jacobian: is not in the recording");
        ProbeResult shorter = sample::growth(0);
        shorter.arrays[2].shape = {3};
        shorter.arrays[2].data.resize(3);
        const auto error = sample::input_error([&] { recorder.append(shorter); });
        QVERIFY2(error.find("rms [3]") != std::string::npos && error.find("[7]") != std::string::npos,
                 error.c_str());
        recorder.append(sample::step(0));  // and the recording continues
        recorder.close();
        const RunData read = recover(path("schema.h5"));
        QCOMPARE(read.steps.rows(), std::size_t{1});
        QVERIFY(read.probes.empty());
        RecordingSchema reserved = sample::schema("a");
        reserved.probes[0].arrays[0].name = "step";
        QVERIFY(sample::input_error([&] { Recorder(path("x.h5"), reserved); }).find("\"step\"") !=
                std::string::npos);
        QVERIFY(!std::filesystem::exists(path("x.h5")));
    }

    void foreignFilesAreNotOverwritten() {
        std::ofstream(path("thesis.txt")) << "years of work";
        const auto error = sample::input_error([&] { Recorder(path("thesis.txt"), sample::schema("a")); });
        QVERIFY2(error.starts_with(path("thesis.txt")), error.c_str());
        QCOMPARE(std::filesystem::file_size(path("thesis.txt")), std::uintmax_t{13});
    }

    void anotherProcessReadsWhileItGrows() {
        int polls = 0, grown = 0;
        std::string broken;
        const std::string file = path("live.h5");
        const RunData run = sample::run("a", 4000);
        const int code = sample::with_child(
            [&] {
                Recorder recorder(file, sample::schema("a"));
                for (int s = 0; s < 4000; s += 4) {
                    record(recorder, run, s, s + 4);
                    ::usleep(2000);
                }
                recorder.set_state(run.outcome);
                recorder.close();
                return 0;
            },
            [&](int) {
                std::size_t last = 0;
                while (!std::filesystem::exists(file)) ::usleep(1000);
                for (RunState state = RunState::Running; state == RunState::Running && broken.empty();
                     ++polls) {
                    const Session session = open_session(file);
                    const RunData& read = session.runs.at(0);
                    state = read.outcome.state;
                    broken = sample::broken_prefix(read);
                    if (!session.warnings.empty()) broken = session.warnings[0];
                    if (read.steps.rows() < last) broken = "it shrank";
                    grown += read.steps.rows() > last;
                    last = read.steps.rows();
                    ::usleep(5000);
                }
            });
        QCOMPARE(broken, "");
        QCOMPARE(code, 0);
        qInfo("%d polls, %d of them saw more rows than before", polls, grown);
        QVERIFY(grown >= 2);
        QCOMPARE(sample::difference(recover(file), run), "");
    }

    void writersAreDistinguished() {
        const ProcessIdentity self = this_process();
        QVERIFY(self.pid > 0 && self.start > 0 && !self.boot_id.empty());
        QVERIFY(is_alive(self, 0));
        ProcessIdentity other = self;
        other.start += 1;  // the pid was used again
        QVERIFY(!is_alive(other, unix_time_ms()));
        other = self;
        other.boot_id = "another start of the machine";
        QVERIFY(!is_alive(other, unix_time_ms()));
        other.host = "elsewhere";
        QVERIFY(is_alive(other, unix_time_ms() - 20'000));
        QVERIFY(!is_alive(other, unix_time_ms() - 31'000));
    }
};

NORMSCOPE_TEST(TestRecorder)
#include "recorder_test.moc"
