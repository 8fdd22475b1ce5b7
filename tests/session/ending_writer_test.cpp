// SPDX-License-Identifier: GPL-3.0-or-later
// A writer that finishes its run while another process reads the recording: a reader that takes it as ended
// must have everything. The library's H5Dopen2 is replaced by one that lets the writer end at a chosen call.
#include "core/base/error.h"
#include "core/session/recorder.h"
#include "core/session/recording/recording_growth.h"
#include "core/session/session.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <dlfcn.h>
#include <hdf5.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QtTest>
#include <functional>
#include <optional>

using namespace normscope;

namespace {

constexpr int kSeen = 24, kAll = 60;  // rows: while it is first read, at the end
constexpr int kSampleEvery = 10;

int opens_left = 0;  ///< of data sets until `at_open`; 0: it is not called
std::function<void()> at_open;

void append(Recorder& recorder, int from, int to) {
    for (int s = from; s < to; ++s) {
        recorder.append(sample::step(s));
        if (s % kSampleEvery == 0) recorder.append(sample::growth(s));
    }
    recorder.append(RunEvent{to, "knob", "lr"});
}

/// A process that records kSeen rows, waits, records the rest, finishes its run and ends.
class Writer {
  public:
    explicit Writer(const std::string& path) {
        if (::pipe(to_.data()) != 0 || ::pipe(from_.data()) != 0) throw SystemError("no pipe");
        pid_ = ::fork();
        if (pid_ == 0) ::_exit(record(path));
        ::close(to_[0]);
        ::close(from_[1]);
        char ready = 0;
        if (::read(from_[0], &ready, 1) != 1) throw SystemError("the writer has ended early");
    }
    ~Writer() {
        finish();
        ::close(from_[0]);
    }
    void finish() {
        if (pid_ == 0) return;
        ::close(to_[1]);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }

  private:
    int record(const std::string& path) {
        ::close(to_[1]);
        try {
            Recorder recorder(path, sample::schema("a"));
            append(recorder, 0, kSeen);
            recorder.flush();
            char byte = 0;
            if (::write(from_[1], &byte, 1) != 1) return 1;
            if (::read(to_[0], &byte, 1) != 0) return 2;
            append(recorder, kSeen, kAll);
            recorder.set_state({RunState::Finished, kAll - 1, "", -1});
            recorder.close();
        } catch (const std::exception& error) {
            ::dprintf(2, "writer: %s\n", error.what());
            return 3;
        }
        return 0;
    }

    std::array<int, 2> to_{}, from_{};
    pid_t pid_ = 0;
};

/// What `read` returns if the writer ends when it opens its `call`-th data set; nullopt: it opens fewer.
template <typename Result>
std::optional<Result> reading(Writer& writer, int call, const std::function<Result()>& read) {
    bool ended = false;
    at_open = [&] {
        ended = true;
        writer.finish();
    };
    opens_left = call;
    Result result = read();
    opens_left = 0;
    return ended ? std::optional(std::move(result)) : std::nullopt;
}

std::size_t samples_of(const RunData& run) {
    const auto found = run.probes.find("growth");
    return found == run.probes.end() ? 0 : found->second.size();
}

}  // namespace

extern "C" hid_t H5Dopen2(hid_t place, const char* name, hid_t access) {
    if (opens_left > 0 && --opens_left == 0) at_open();
    static const auto real =
        reinterpret_cast<hid_t (*)(hid_t, const char*, hid_t)>(::dlsym(RTLD_NEXT, "H5Dopen2"));
    return real(place, name, access);
}

class TestEndingWriter : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

  private Q_SLOTS:
    void growthOfAnEndedRunIsWhole_data() {
        QTest::addColumn<bool>("fromTheBeginning");
        QTest::newRow("beyond what is known") << false;
        QTest::newRow("whole") << true;
    }
    void growthOfAnEndedRunIsWhole() {
        QFETCH(const bool, fromTheBeginning);
        const std::string path = folder_.filePath("growing.h5").toStdString();
        int call = 0;
        for (bool more = true; more;) {
            Writer writer(path);
            const RunData known = open_session(path).runs.at(0);
            QCOMPARE(known.steps.rows(), std::size_t(kSeen));
            const RecordingMark mark = fromTheBeginning ? RecordingMark{} : mark_of(known, identity_of(path));
            const auto growth =
                reading<RecordingGrowth>(writer, ++call, [&] { return read_growth(path, mark); });
            more = growth.has_value();
            if (!more) continue;
            QCOMPARE(growth->whole, fromTheBeginning);
            QVERIFY2(growth->run.outcome.state != RunState::Interrupted, qPrintable(QString::number(call)));
            if (!growth->writer.empty()) continue;  // it is read again
            QCOMPARE(growth->run.outcome.state, RunState::Finished);
            QCOMPARE(growth->mark.rows, std::size_t(kAll));
            QCOMPARE(growth->mark.events, std::size_t(2));
            QCOMPARE(growth->mark.samples.at("growth"), std::size_t(kAll / kSampleEvery));
        }
        QVERIFY(call > 10);
    }

    /// So is a session that is opened: what is taken as ended is complete, and nothing is interrupted.
    void anOpenedRunIsFinishedOrRunning() {
        const std::string path = folder_.filePath("opened.h5").toStdString();
        int call = 0;
        for (bool more = true; more;) {
            Writer writer(path);
            const auto run = reading<RunData>(writer, ++call, [&] { return open_session(path).runs.at(0); });
            more = run.has_value();
            if (!more || run->outcome.state == RunState::Running) continue;
            QVERIFY2(run->outcome.state == RunState::Finished, qPrintable(QString::number(call)));
            QCOMPARE(run->steps.rows(), std::size_t(kAll));
            QCOMPARE(samples_of(*run), std::size_t(kAll / kSampleEvery));
        }
        QVERIFY(call > 10);
    }
};

NORMSCOPE_TEST(TestEndingWriter)
#include "ending_writer_test.moc"
