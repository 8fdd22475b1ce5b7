// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that another process writes: shown as they grow, never written here, ordinary when the writer has
// ended.
#include "app/lab/following.h"

#include "core/recipe/presets.h"
#include "lab_bench.h"
#include "tests/support/test_main.h"

#include <QCryptographicHash>
#include <QFile>
#include <QProcess>
#include <QSignalSpy>

using namespace normscope;
using namespace normscope::app;
using Bench = normscope::test::LabBench;

namespace {

constexpr int kLong = 30000;  // steps, a few seconds

/// The command line trains a small run into a file until it has ended or is killed.
class Writer {
  public:
    Writer(const QString& path, int steps) {
        QStringList arguments{"train", "post-ln", "--out", path, "--threads", "1"};
        for (const QString& setting :
             {QString("stack.depth=2"), QString("stack.d_model=16"), QString("stack.heads=2"),
              QString("stack.context=16"), QString("batch=2"), QString("steps=%1").arg(steps)})
            arguments << "--set" << setting;
        process.start(QStringLiteral(NORMSCOPE_CLI), arguments);
        if (!process.waitForStarted()) throw std::runtime_error(process.errorString().toStdString());
    }
    ~Writer() { stop(); }
    void stop() {
        process.kill();
        process.waitForFinished();
    }
    QProcess process;
};

bool hasRows(const QString& path) {
    try {
        return open_session(path.toStdString()).runs.at(0).steps.rows() > 0;
    } catch (const std::exception&) {
        return false;
    }
}

/// Opens a session that another process writes.
void openLive(Bench& b, const QString& path) {
    QTRY_VERIFY_WITH_TIMEOUT(hasRows(path), 20000);
    QSignalSpy opened(&b.lab->session(), &LabSession::opened);
    b.lab->session().open(path);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
}

QByteArray contents(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly)
               ? QCryptographicHash::hash(file.readAll(), QCryptographicHash::Sha256)
               : QByteArray();
}

bool sameNumbers(const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

/// What the file has, row by row and sample by sample.
void compareWithFile(const RunData& shown, const QString& path) {
    const RunData file = open_session(path.toStdString()).runs.at(0);
    QCOMPARE(shown.steps.step, file.steps.step);
    QCOMPARE(shown.steps.names, file.steps.names);
    for (std::size_t c = 0; c < file.steps.columns.size(); ++c)
        QVERIFY2(sameNumbers(shown.steps.columns[c], file.steps.columns[c]), file.steps.names[c].c_str());
    QCOMPARE(shown.events.size(), file.events.size());
    QCOMPARE(shown.probes.size(), file.probes.size());
    for (const auto& [probe, samples] : file.probes) {
        const auto& own = shown.probes.at(probe);
        QCOMPARE(own.size(), samples.size());
        for (std::size_t s = 0; s < samples.size(); ++s) {
            QCOMPARE(own[s].step, samples[s].step);
            for (std::size_t a = 0; a < samples[s].arrays.size(); ++a)
                QVERIFY(sameNumbers(own[s].arrays[a].data, samples[s].arrays[a].data));
        }
    }
}

}  // namespace

class FollowingTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aRunGrowsUntilItsWriterEnds() {
        Bench b;
        const QString path = b.folder.filePath("live.h5");
        Writer writer(path, kLong);
        openLive(b, path);
        QVERIFY(b.lab->following().any());
        QSignalSpy noted(&b.lab->following(), &Following::noted);
        const std::size_t first = b.run(0).steps.rows();
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).steps.rows() > first, 20000);
        QCOMPARE(noted.count(), 1);
        QVERIFY2(noted[0][0].toString().contains(QString("process %1").arg(writer.process.processId())),
                 qPrintable(noted[0][0].toString()));
        // It is not trained here: nothing of it can be started, paused, resumed or changed.
        QCOMPARE(b.lab->training().nextAct(), TrainingControl::Act::Follow);
        QVERIFY(!b.lab->comparison().anyTraining() && !b.lab->comparison().runs[0].resumable());
        b.lab->training().play();
        QVERIFY(!b.lab->training().playing());
        QCOMPARE(b.problems.size(), 1);
        const Recipe before = b.lab->comparison().runs[0].recipe;
        b.lab->knobs().commitKey("stack.residual_step", 0.1);
        QVERIFY(same_recipe(b.lab->comparison().runs[0].recipe, before));

        QTRY_VERIFY_WITH_TIMEOUT(!b.lab->following().any(), 60000);
        writer.process.waitForFinished();
        QCOMPARE(b.run(0).outcome.state, open_session(path.toStdString()).runs[0].outcome.state);
        QCOMPARE(b.run(0).steps.rows(), std::size_t(kLong));
        compareWithFile(b.run(0), path);
        QCOMPARE(noted.count(), 2);
        QVERIFY(b.lab->waitingRequests().empty() || b.problems.size() == 1);
    }

    void aKilledWriterIsNoticed() {
        Bench b;
        const QString path = b.folder.filePath("live.h5");
        Writer writer(path, 1000000);
        openLive(b, path);
        const std::size_t first = b.run(0).steps.rows();
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).steps.rows() > first, 20000);
        QSignalSpy noted(&b.lab->following(), &Following::noted);
        writer.stop();
        const QByteArray left = contents(path);
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab->following().any(), 20000);
        QCOMPARE(b.run(0).outcome.state, RunState::Interrupted);
        QVERIFY2(noted.back()[0].toString().contains("has ended at step"),
                 qPrintable(noted.back()[0].toString()));
        compareWithFile(b.run(0), path);
        // Now it is a run as any other; what it trains on is not written into the file of the other process.
        QVERIFY(b.lab->comparison().runs[0].resumable());
        QVERIFY(b.lab->comparison().runs[0].recording.empty());
        QCOMPARE(contents(path), left);
    }

    /// While it grows it is measured, forked, duplicated, saved elsewhere and removed; undo brings it back.
    void aLiveRunIsALabRunForAllElse() {
        Bench b;
        const QString path = b.folder.filePath("live.h5"), copy = b.folder.filePath("copy.h5");
        Writer writer(path, 1000000);
        openLive(b, path);
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).steps.rows() > 100, 20000);
        b.lab->view().setVisibleProbes({"growth"});
        std::int64_t step = 3;
        while (b.run(0).sample_of("growth", step)) ++step;
        b.lab->view().setStep(step);
        b.lab->measurement().measureHere();
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab->measurement().running(), 20000);
        QVERIFY(b.run(0).sample_of("growth", step));
        const std::size_t rows = b.run(0).steps.rows();
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).steps.rows() > rows, 20000);
        QVERIFY(b.run(0).sample_of("growth", step));

        b.lab->runs().pinSelected();
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
        QVERIFY(!b.lab->comparison().runs[1].followed && b.run(1).outcome.state == RunState::Interrupted);
        b.lab->view().setStep(2);
        b.lab->runs().select(0);
        b.lab->forks().forkSelected();
        QTRY_COMPARE_WITH_TIMEOUT(b.lab->comparison().runs.size(), 3u, 20000);
        QVERIFY(!b.lab->comparison().runs[2].followed);
        b.lab->training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab->comparison().anyTraining(), 20000);

        // The file is not replaced while another process writes it, a copy elsewhere is.
        QSignalSpy saved(&b.lab->session(), &LabSession::saved),
            failed(&b.lab->session(), &LabSession::savingFailed);
        b.problems.clear();
        b.lab->session().save(path, "{}");
        QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 20000);
        QVERIFY2(b.problems.value(0).contains("is being written by process"),
                 qPrintable(b.problems.value(0)));
        b.lab->session().save(copy, "{}");
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20000);
        QCOMPARE(open_session(copy.toStdString()).runs.size(), 3u);
        QCOMPARE(open_session(copy.toStdString()).runs[0].outcome.state, RunState::Interrupted);

        b.lab->runs().remove(0);
        QCOMPARE(b.lab->comparison().runs.size(), 2u);
        QVERIFY(!b.lab->following().any());
        b.lab->runs().undoStack()->undo();
        QVERIFY(b.lab->following().any());
        const std::size_t again = b.run(0).steps.rows();
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).steps.rows() > again, 20000);
        writer.stop();
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab->following().any(), 20000);
        for (std::size_t i = 0; i < b.run(0).steps.rows(); ++i)
            QCOMPARE(b.run(0).steps.step[i], std::int64_t(i));
    }

    /// Another run begins in the same file: its rows replace those of the first.
    void anotherFileAtThePathIsReadWhole() {
        Bench b;
        const QString path = b.folder.filePath("live.h5");
        auto first = std::make_unique<Writer>(path, 1000000);
        openLive(b, path);
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).steps.rows() > 200, 20000);
        const QString name = QString::fromStdString(b.run(0).name);
        const QString moved = b.folder.filePath("moved.h5");
        QVERIFY(QFile::rename(path, moved));  // the first still writes the file that it has open
        Writer second(path, 60);
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab->following().any(), 20000);
        QCOMPARE(b.run(0).steps.rows(), std::size_t(60));
        QCOMPARE(QString::fromStdString(b.run(0).name), name);
        compareWithFile(b.run(0), path);
    }

    void aFileThatIsRemovedIsALine() {
        Bench b;
        const QString path = b.folder.filePath("live.h5");
        Writer writer(path, 1000000);
        openLive(b, path);
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).steps.rows() > 20, 20000);
        QSignalSpy noted(&b.lab->following(), &Following::noted);
        QVERIFY(QFile::remove(path));
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab->following().any(), 30000);
        QVERIFY2(noted.back()[0].toString().contains("is not followed any more") &&
                     noted.back()[0].toString().contains("live.h5"),
                 qPrintable(noted.back()[0].toString()));
        QCOMPARE(b.run(0).outcome.state, RunState::Interrupted);
        QVERIFY(b.run(0).steps.rows() > 20);
    }

    void aReplyDoesNotLandInAnotherSession() {
        Bench b;
        const QString path = b.folder.filePath("live.h5");
        Writer writer(path, 1000000);
        openLive(b, path);
        b.lab->view().setVisibleProbes(
            {});  // nothing of the default stack is measured, which would take long
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab->waitingRequests().empty(), 20000);  // it is being read
        b.lab->session().startOver();
        QTRY_VERIFY_WITH_TIMEOUT(b.lab->waitingRequests().empty(), 20000);
        QVERIFY(!b.lab->following().any());
        for (int i : {0, 1}) QVERIFY(!b.lab->comparison().runs[std::size_t(i)].trained());
    }
};

NORMSCOPE_TEST(FollowingTest)
#include "following_test.moc"
