// SPDX-License-Identifier: GPL-3.0-or-later
// The recordings of a sweep on their way to the window: in order, each once, and few of them in memory.
#include "app/serve/sweep_outbox.h"

#include "app/lab/remote/messages.h"
#include "tests/support/test_main.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

using namespace normscope;
using namespace normscope::app;

namespace {

constexpr std::size_t kRecording = 1000, kMaxWaiting = 2500;  // bytes

/// A window and an engine, without a line between them until connect().
struct Ends {
    std::vector<SweepReply> got;
    std::string to_window, to_engine;
    Channel window{[this](const std::string& message) {
        got.push_back(std::get<reply::Swept>(reply_of(message)).reply);
    }};
    Channel engine{[](const std::string&) {}};
    SweepOutbox outbox{engine, kMaxWaiting};

    void connect() {
        window.connected([this](const std::string& bytes) { to_engine += bytes; });
        engine.connected([this](const std::string& bytes) { to_window += bytes; });
    }
    void pass() {
        const std::string down = std::exchange(to_window, {});
        window.receive(down.data(), down.size());
        window.beat();
        const std::string up = std::exchange(to_engine, {});
        engine.receive(up.data(), up.size());
        outbox.send();
    }
};

SweepReply ended(std::size_t run) {
    SweepRow row;
    row.run = run;
    row.recording = "runs/" + std::to_string(run) + ".h5";
    return {7, SweepReply::Ended{row, {run + 1, 20, -1}, {}}};
}

}  // namespace

class SweepOutboxTest : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

    std::string recording(std::size_t run) const {
        return folder_.filePath(QString::number(run)).toStdString();
    }
    /// Each run's bytes are its own.
    std::string write(std::size_t run) const {
        QFile file(QString::fromStdString(recording(run)));
        if (!file.open(QIODevice::WriteOnly)) throw std::runtime_error("no file");
        file.write(QByteArray(kRecording, static_cast<char>('a' + run)));
        return recording(run);
    }

  private Q_SLOTS:
    void recordingsWaitOnTheDisk() {
        Ends ends;
        ends.outbox.add({7, SweepReply::Begun{{0, 20, -1}}}, {});
        for (std::size_t run = 0; run < 20; ++run) {
            ends.outbox.add({7, SweepReply::Started{run}}, {});
            ends.outbox.add(ended(run), write(run));
        }
        ends.outbox.add({7, SweepReply::Over{}}, {});
        const auto few = [&] { return ends.engine.waitingBytes() < kMaxWaiting + 2 * kRecording; };
        QVERIFY(few() && ends.engine.waitingBytes() >= kMaxWaiting);
        QVERIFY(QFile::remove(QString::fromStdString(recording(19))));  // it has not been read yet
        ends.connect();
        for (int i = 0; i < 100 && !(ends.outbox.empty() && ends.engine.waiting() == 0); ++i) {
            ends.pass();
            QVERIFY(few());
        }
        QVERIFY(ends.outbox.empty());
        QCOMPARE(ends.engine.waitingBytes(), std::size_t(0));

        QVERIFY(std::holds_alternative<SweepReply::Begun>(ends.got.front().what));
        QVERIFY(std::holds_alternative<SweepReply::Over>(ends.got.back().what));
        std::size_t run = 0;
        for (const SweepReply& reply : ends.got) {
            QCOMPARE(reply.token, std::uint64_t(7));
            const auto* row = std::get_if<SweepReply::Ended>(&reply.what);
            if (!row) continue;
            QCOMPARE(row->row.run, run);
            const bool removed = run == 19;
            QCOMPARE(row->row.recording.empty(), removed);
            QCOMPARE(row->recording,
                     removed ? std::string() : std::string(kRecording, static_cast<char>('a' + run)));
            ++run;
        }
        QCOMPARE(run, std::size_t(20));
        const auto* noted = std::get_if<SweepReply::Noted>(&ends.got[ends.got.size() - 3].what);
        QVERIFY(noted && noted->line.starts_with(recording(19) + ": cannot be read"));
        QCOMPARE(ends.got.size(), std::size_t(1 + 20 * 2 + 1 + 1));
    }
};

NORMSCOPE_TEST(SweepOutboxTest)
#include "sweep_outbox_test.moc"
