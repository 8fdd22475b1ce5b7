// SPDX-License-Identifier: GPL-3.0-or-later
// Requests that fail, and files that others write: no work is lost by them.
#include "core/session/session.h"
#include "lab_bench.h"
#include "tests/support/test_main.h"

#include <QFile>
#include <QProcess>
#include <algorithm>

using namespace normscope;
using namespace normscope::app;
using Bench = normscope::test::LabBench;

namespace {

/// A session of a version that has one more key in its recipes.
void writeLaterSession(const QString& path, const std::vector<LabRun>& runs) {
    std::vector<RunData> later;
    for (const LabRun& run : runs) {
        later.push_back(*run.data);
        std::string text = later.back().recipe.text();
        text.insert(text.find('{') + 1, "\"later\":1,");
        later.back().recipe = RunRecipe::read(text);
    }
    save_session(path.toStdString(), later, "{}");
}

bool saved(Bench& b, const QString& path) {
    QSignalSpy done(&b.lab->session(), &LabSession::saved),
        failed(&b.lab->session(), &LabSession::savingFailed);
    b.lab->session().save(path, "{}");
    return QTest::qWaitFor([&] { return done.count() + failed.count() > 0; }, 20000) && done.count() == 1;
}

bool opened(Bench& b, const QString& path) {
    QSignalSpy done(&b.lab->session(), &LabSession::opened);
    b.lab->session().open(path);
    b.interrupted();  // the files answer in turn
    return done.count() == 1;
}

QByteArray contents(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// A training in another process, which writes this file.
struct OtherProcess {
    QProcess process;
    QString path;

    OtherProcess(const Bench& b, const char* steps) : path(b.folder.filePath("live.h5")) {
        const QString recipe = b.folder.filePath("recipe.json");
        QFile file(recipe);
        if (!file.open(QIODevice::WriteOnly)) throw std::runtime_error("no recipe");
        file.write(QByteArray::fromStdString(recipe_json(b.lab->comparison().runs[0].recipe)));
        file.close();
        process.setStandardOutputFile(QProcess::nullDevice());
        process.start(NORMSCOPE_CLI, {"train", recipe, "--out", path, "--steps", steps});
        if (!process.waitForStarted()) throw std::runtime_error("normscope-cli does not start");
    }
    ~OtherProcess() {
        process.kill();
        process.waitForFinished();
    }
    /// Waits until the file can be opened.
    bool writes() const {
        return QTest::qWaitFor(
            [&] {
                try {
                    return QFile::exists(path) && open_session(path.toStdString()).runs[0].steps.rows() > 20;
                } catch (const std::exception&) {
                    return false;  // not complete yet
                }
            },
            20000);
    }
};

}  // namespace

class LostWorkTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aSessionThatDoesNotOpenChangesNothing() {
        Bench b;
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 180000);
        const QString later = b.folder.filePath("later.h5");
        writeLaterSession(later, b.lab->comparison().runs);
        const std::string id = b.lab->comparison().runs[0].id;
        QVERIFY(!opened(b, later));
        QCOMPARE(b.problems.size(), 1);
        QVERIFY2(b.problems[0].contains("later"), qPrintable(b.problems[0]));
        QVERIFY(b.lab->session().path() != later);
        QCOMPARE(b.run(0).steps.rows(), std::size_t{6});
        QCOMPARE(b.lab->comparison().runs[0].id, id);
    }

    /// What is saved is the session that was left; the path is not that of the new one.
    void aSaveOfTheSessionBeforeDoesNotNameTheNewOne() {
        Bench b;
        const QString path = b.folder.filePath("before.h5");
        QSignalSpy done(&b.lab->session(), &LabSession::saved);
        b.lab->session().save(path, "{}");
        b.lab->session().startOver();
        b.interrupted();
        QVERIFY(QFile::exists(path));
        QCOMPARE(b.lab->session().path(), QString());
        for (const auto& signal : done) QVERIFY(signal.size() > 2 && !signal[2].toBool());
    }

    /// A training whose recording begins only after another session was opened.
    void aRecordingOfTheSessionBeforeIsNotOfThisOne() {
        std::vector<std::function<void()>> held;
        bool hold = true;
        Bench b(2000);
        const QString path = b.folder.filePath("other.h5");
        QVERIFY(saved(b, path));
        b.lab.reset();
        b.deliver = [&](std::function<void()> reply) { hold ? held.push_back(std::move(reply)) : reply(); };
        b.open(2000);
        b.lab->training().play();
        QTest::qWait(200);
        b.lab->training().stop();
        QTest::qWait(50);
        b.lab->session().open(path);
        QTest::qWait(100);
        // What came last is applied first: the session before the recordings that began in the one before.
        std::reverse(held.begin(), held.end());
        for (const auto& reply : held) reply();
        hold = false;
        QTRY_COMPARE(b.lab->comparison().runs[0].session, path.toStdString());
        for (const LabRun& run : b.lab->comparison().runs) QCOMPARE(run.recording, std::string());
    }

    void aResumptionThatIsRejectedKeepsTheRows() {
        for (const bool from_step_0 : {false, true}) {
            Bench b(100000);
            b.lab->training().play();
            QTRY_VERIFY(b.run(0).steps.rows() > 10);
            b.lab->training().stop();
            QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 180000);
            QTRY_VERIFY(!b.lab->comparison().runs[0].checkpoints.empty());
            const QString path = b.folder.filePath("stopped.h5");
            if (from_step_0) {
                std::vector<RunData> runs;
                for (const LabRun& run : b.lab->comparison().runs) runs.push_back(*run.data);
                save_session(path.toStdString(), runs, "{}");
                QVERIFY(opened(b, path));
            }
            const auto rows = b.run(0).steps.rows();
            QVERIFY(b.lab->comparison().runs[0].resumable());
            b.lab->training().resumeRuns({b.lab->comparison().runs[0].id}, "no-such-device");
            QTRY_COMPARE(b.problems.size(), 1);
            QCOMPARE(b.run(0).steps.rows(), rows);
            QCOMPARE(b.run(0).outcome.state, RunState::Interrupted);
            QVERIFY(b.lab->comparison().runs[0].resumable() && !b.lab->training().playing());
        }
    }

    /// A file that another process writes: it is not this laboratory that trains it.
    void aLiveFileIsNotTrainedHere() {
        Bench b;
        OtherProcess other(b, "1000000");
        QVERIFY(other.writes());
        QVERIFY(opened(b, other.path));
        QVERIFY(b.lab->comparison().runs[0].trained());
        QVERIFY(!b.lab->comparison().anyTraining());
        QVERIFY(b.lab->comparison().runs[0].followed && !b.lab->comparison().runs[0].resumable());
        b.lab->training().pause();
        QVERIFY(!b.lab->training().playing());
        b.lab->training().singleStep();
        b.lab->training().stop();
        QVERIFY(!b.lab->training().playing() && b.lab->comparison().runs[0].followed);
    }

    void aSaveDoesNotReplaceAFileThatIsBeingWritten() {
        Bench b;
        OtherProcess other(b, "1000000");
        QVERIFY(other.writes());
        QVERIFY(opened(b, other.path));
        const auto rows = b.run(0).steps.rows();
        QVERIFY(!saved(b, other.path));
        QCOMPARE(b.problems.size(), 1);
        QVERIFY2(b.problems[0].contains(other.path), qPrintable(b.problems[0]));
        QTRY_VERIFY(open_session(other.path.toStdString()).runs[0].steps.rows() > rows + 10);
    }

    void aSaveDoesNotReplaceAFileThatChangedSinceItWasRead() {
        Bench b;
        const QString path = b.folder.filePath("session.h5");
        QVERIFY(saved(b, path));
        QVERIFY(saved(b, path));  // as this laboratory left it
        QVERIFY(opened(b, path));
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 180000);
        QVERIFY(saved(b, path));
        // Another window saves there.
        std::vector<RunData> others{b.run(0)};
        others[0].name = "of another window";
        save_session(path.toStdString(), others, "{}");
        const QByteArray theirs = contents(path);
        QVERIFY(!saved(b, path));
        QCOMPARE(contents(path), theirs);
        QVERIFY2(b.problems.value(0).contains(path), qPrintable(b.problems.value(0)));
        QVERIFY(saved(b, b.folder.filePath("own.h5")));
    }

    void oneRunThatCannotBeBuiltDoesNotStopTheOthers() {
        Bench b;
        b.lab->runs().setLinked(false);
        b.lab->runs().select(1);
        b.lab->knobs().commitKey("stack.heads", 3);  // 16 is no multiple of 3
        QTRY_VERIFY(b.lab->view().exact() && !b.lab->comparison().runs[1].rejection.empty());
        QVERIFY(b.run(0).probes.count("jacobian"));
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 180000);
        QCOMPARE(b.run(0).steps.rows(), std::size_t{6});
        QCOMPARE(b.run(1).steps.rows(), std::size_t{0});
    }

    /// Its text is not there: the others are measured and trained all the same.
    void oneRunWithoutItsTextDoesNotStopTheOthers() {
        Bench b;
        b.lab->runs().setLinked(false);
        b.lab->runs().select(1);
        b.lab->knobs().commitKey("data.source", "text");
        b.lab->knobs().commitKey("data.path", b.folder.filePath("gone.txt").toStdString());
        QTRY_VERIFY_WITH_TIMEOUT(b.lab->view().exact(), 3000);
        QVERIFY(b.run(0).probes.count("jacobian"));
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).steps.rows() == 6);
        b.lab->knobs().commitKey("data.path", "");
        QTRY_VERIFY_WITH_TIMEOUT(b.lab->view().exact(), 3000);
    }

    /// As after a start of a window that was closed while it trained.
    void theMainButtonResumesEveryRunThatCanBe() {
        Bench b(100000);
        for (int i = 0; i < 2; ++i) b.lab->runs().addSeeds(1);
        b.lab->training().play();
        const auto all = [&](auto&& condition) {
            return std::all_of(b.lab->comparison().runs.begin(), b.lab->comparison().runs.end(), condition);
        };
        QTRY_VERIFY(all([](const LabRun& run) { return run.trained(); }));
        QStringList recordings;
        QTRY_VERIFY(all([](const LabRun& run) { return !run.recording.empty(); }));
        for (const LabRun& run : b.lab->comparison().runs)
            recordings << QString::fromStdString(run.recording);
        b.lab.reset();
        b.open(100000);
        b.lab->session().reopen(recordings);
        QTRY_VERIFY(b.lab->comparison().runs.size() == std::size_t(recordings.size()) &&
                    b.lab->comparison().runs[0].trained());
        std::vector<std::size_t> rows;
        for (const LabRun& run : b.lab->comparison().runs) rows.push_back(run.data->steps.rows());
        b.lab->training().play();
        QTRY_VERIFY(all([&](const LabRun& run) {
            return run.isTraining() &&
                   run.data->steps.rows() > rows[std::size_t(&run - b.lab->comparison().runs.data())] + 3;
        }));
        QCOMPARE(b.problems, QStringList());
        b.lab->training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 180000);
    }
};

NORMSCOPE_TEST(LostWorkTest)
#include "lost_work_test.moc"
