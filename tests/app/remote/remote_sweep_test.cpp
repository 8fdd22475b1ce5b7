// SPDX-License-Identifier: GPL-3.0-or-later
// Sweeps that the window trains on another machine: the rows and recordings are those of an engine here, a
// cut connection or an engine that is gone loses none, and what trains there began or continues anywhere.
#include "app/lab/studies/sweep_copy.h"
#include "core/recipe/presets.h"
#include "core/session/session.h"
#include "core/sweep/sweep_folder.h"
#include "remote_bench.h"
#include "tests/app/window/small_recipe.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QSignalSpy>
#include <algorithm>

using namespace normscope;
using namespace normscope::app;
using normscope::test::smallRecipe;
using normscope::test::There;
using normscope::test::remote::sameBits;

namespace {

struct SweepBench : normscope::test::remote::Bench {
    using Bench::Bench;
    /// The folder of a sweep.
    std::string map() const { return place.filePath(QStringLiteral("map")).toStdString(); }
    /// To its end.
    void sweep(const SweepSpec& spec, const std::string& device) const {
        lab->sweeps().start(spec, QString::fromStdString(map()), device, 1);
        if (!QTest::qWaitFor([this] { return !lab->sweeps().running(); }, 60000))
            throw std::runtime_error("the sweep does not end");
    }
};

SweepSpec smallSweep(int steps) {
    SweepSpec spec;
    spec.recipe = recipe_json(smallRecipe(Scheme::Pre, steps));
    spec.grid = {{"optimizer.lr", {"0.001", "0.01"}}};
    spec.seeds = {42, 43, 44};
    return spec;
}

/// All but the time that they took.
void compareRows(const SweepResults& a, const SweepResults& b) {
    QCOMPARE(b.rows.size(), a.rows.size());
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
        SweepRow row = b.rows[i];
        row.seconds = a.rows[i].seconds;
        QVERIFY2(row == a.rows[i], row.recording.c_str());
    }
}

}  // namespace

class RemoteSweepTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// As by an engine here, recorded there and here.
    void aSweepTrainsThere() {
        const There there;
        SweepBench away(There::device()), here("cpu");
        NORMSCOPE_CONNECTED(away);
        const SweepSpec spec = smallSweep(12);
        away.sweep(spec, There::device());
        here.sweep(spec, "cpu");
        const SweepResults a = read_sweep(here.map()), b = read_sweep(away.map());
        QCOMPARE(a.rows.size(), 6u);
        compareRows(a, b);
        compareRows(b, away.lab->sweeps().sweep()->results);
        QVERIFY(away.lab->sweeps().sweep()->count.ended == 6 && away.lab->sweeps().sweep()->training.empty());
        const QFileInfoList folders =
            QDir(there.recordings() + "/sweeps").entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot);
        QCOMPARE(folders.size(), 1);
        QVERIFY(folders[0].fileName().startsWith("map-"));
        for (const SweepRow& row : b.rows) {
            const auto bytes = text_of_file(away.map() + "/" + row.recording);
            QVERIFY(bytes &&
                    bytes == text_of_file(folders[0].filePath().toStdString() + "/" + row.recording));
            const auto recorded = open_session(away.map() + "/" + row.recording).runs.at(0);
            const auto other = open_session(here.map() + "/" + row.recording).runs.at(0);
            QVERIFY(sameBits(*recorded.steps.find("loss"), *other.steps.find("loss")));
        }
        // The same sweep again has nothing to train, and takes what is there: a recording that was lost here.
        QFile::remove(QString::fromStdString(away.map() + "/" + b.rows[2].recording));
        away.sweep(spec, There::device());
        compareRows(b, read_sweep(away.map()));
        QVERIFY(QFile::exists(QString::fromStdString(away.map() + "/" + b.rows[2].recording)));
    }

    /// Stopped there, what has ended is here; it resumes there, and where the engine is gone, here.
    void aSweepIsStoppedAndResumed() {
        const There there;
        SweepBench away(There::device()), here("cpu");
        NORMSCOPE_CONNECTED(away);
        const SweepSpec spec = smallSweep(400);
        here.sweep(spec, "cpu");
        SweepRunner& sweeps = away.lab->sweeps();
        const auto ended = [&] { return sweeps.sweep() ? sweeps.sweep()->results.rows.size() : 0; };
        const QString folder = QString::fromStdString(away.map());
        sweeps.start(spec, folder, There::device(), 1);
        QTRY_VERIFY_WITH_TIMEOUT(ended() >= 1, 60000);
        sweeps.start(smallSweep(3), folder + "-2", There::device(), 1);  // rejected: one at a time
        sweeps.stop();
        QVERIFY(sweeps.stopping());
        QTRY_VERIFY_WITH_TIMEOUT(!sweeps.running(), 20000);
        QVERIFY2(ended() < 6, "all had ended");
        QCOMPARE(read_sweep(away.map()).rows.size(), ended());
        QVERIFY(!QFile::exists(folder + "-2"));
        const std::size_t before = ended();
        sweeps.resume(There::device(), 1);
        QTRY_VERIFY_WITH_TIMEOUT(ended() > before, 60000);
        QSignalSpy problem(&sweeps, &SweepRunner::problem);
        There::kill();
        QTRY_VERIFY_WITH_TIMEOUT(!sweeps.running(), 20000);
        QVERIFY2(problem.size() == 1 && problem[0][0].toString().startsWith("there: "),
                 problem.isEmpty() ? "no line" : qPrintable(problem[0][0].toString()));
        QVERIFY2(ended() < 6, "all had ended");
        sweeps.resume("cpu", 1);
        QTRY_VERIFY_WITH_TIMEOUT(!sweeps.running(), 60000);
        compareRows(read_sweep(here.map()), read_sweep(away.map()));
    }

    /// What has ended here is not trained again there.
    void aSweepThatBeganHereContinuesThere() {
        const There there;
        SweepBench away(There::device());
        NORMSCOPE_CONNECTED(away);
        SweepRunner& sweeps = away.lab->sweeps();
        const auto ended = [&] { return sweeps.sweep() ? sweeps.sweep()->results.rows.size() : 0; };
        sweeps.start(smallSweep(200), QString::fromStdString(away.map()), "cpu", 1);
        QTRY_VERIFY_WITH_TIMEOUT(ended() >= 1, 60000);
        sweeps.stop();
        QTRY_VERIFY_WITH_TIMEOUT(!sweeps.running(), 20000);
        const SweepResults before = read_sweep(away.map());
        QVERIFY2(before.rows.size() < 6, "all had ended");
        const auto bytes = text_of_file(away.map() + "/" + before.rows[0].recording);
        sweeps.resume(There::device(), 1);
        QTRY_VERIFY_WITH_TIMEOUT(!sweeps.running(), 60000);
        const SweepResults after = read_sweep(away.map());
        QCOMPARE(after.rows.size(), 6u);
        QVERIFY(std::count(after.rows.begin(), after.rows.end(), before.rows[0]) == 1);
        QVERIFY(bytes && bytes == text_of_file(away.map() + "/" + before.rows[0].recording));
        const QDir folder(there.recordings() + "/sweeps");
        const QString name = folder.entryList(QDir::Dirs | QDir::NoDotAndDotDot).value(0);
        const std::string copy = folder.filePath(name).toStdString() + "/";
        QVERIFY(QFile::exists(QString::fromStdString(copy + after.rows[5].recording)));
        QVERIFY(!QFile::exists(QString::fromStdString(copy + before.rows[0].recording)));
    }

    /// The sweep continues there; nothing of it is lost. Stopped meanwhile, it is over here at once.
    void aSweepWhoseConnectionIsCut() {
        const There there;
        SweepBench away(There::device()), here("cpu");
        NORMSCOPE_CONNECTED(away);
        const SweepSpec spec = smallSweep(400);
        here.sweep(spec, "cpu");
        SweepRunner& sweeps = away.lab->sweeps();
        const auto ended = [&] { return sweeps.sweep() ? sweeps.sweep()->results.rows.size() : 0; };
        sweeps.start(spec, QString::fromStdString(away.map()), There::device(), 1);
        QTRY_VERIFY_WITH_TIMEOUT(ended() >= 1, 60000);
        there.cut();
        QTRY_VERIFY_WITH_TIMEOUT(!away.lab->devices().waits(There::device()).isEmpty(), 20000);
        QTest::qWait(300);
        const std::size_t before = ended();
        QVERIFY2(before < 6 && sweeps.running(), "the sweep was over before the cut");
        there.restore();
        QTRY_VERIFY_WITH_TIMEOUT(!sweeps.running(), 60000);
        compareRows(read_sweep(here.map()), read_sweep(away.map()));

        QVERIFY(QDir(QString::fromStdString(away.map())).removeRecursively());
        SweepSpec other = spec;
        other.seeds = {52, 53, 54};
        sweeps.start(other, QString::fromStdString(away.map()), There::device(), 1);
        QTRY_VERIFY_WITH_TIMEOUT(sweeps.sweep()->results.spec.seeds == other.seeds && ended() >= 1, 60000);
        there.cut();
        QTRY_VERIFY_WITH_TIMEOUT(!away.lab->devices().waits(There::device()).isEmpty(), 20000);
        QSignalSpy problem(&sweeps, &SweepRunner::problem);
        sweeps.stop();
        QVERIFY(!sweeps.running());
        QCOMPARE(problem.size(), 1);
        QCOMPARE(problem[0][0].toString(), QString("The sweep stops on there once it is connected"));
        there.restore();
        QTRY_VERIFY_WITH_TIMEOUT(away.lab->devices().waits(There::device()).isEmpty(), 20000);
        sweeps.resume(There::device(), 1);
        QTRY_VERIFY_WITH_TIMEOUT(!sweeps.running(), 60000);
        QCOMPARE(read_sweep(away.map()).rows.size(), 6u);
    }

    /// One line each: a folder of another sweep here, a recipe that is not valid there, a machine that is not
    /// reached, a folder that cannot be written.
    void aSweepThatCannotTrainThere() {
        const There there;
        SweepBench away(There::device());
        NORMSCOPE_CONNECTED(away);
        SweepRunner& sweeps = away.lab->sweeps();
        QSignalSpy rejected(&sweeps, &SweepRunner::rejected), problem(&sweeps, &SweepRunner::problem);
        const QString folder = QString::fromStdString(away.map());
        away.sweep(smallSweep(2), There::device());
        sweeps.start(smallSweep(3), folder, There::device(), 1);
        QTRY_COMPARE_WITH_TIMEOUT(rejected.size(), 1, 20000);
        QVERIFY2(rejected[0][0].toString().contains("the folder is another sweep's"),
                 qPrintable(rejected[0][0].toString()));
        QVERIFY(!sweeps.running());
        SweepSpec wrong = smallSweep(2);
        wrong.grid[0] = {"stack.heads", {"2", "3"}};
        sweeps.start(wrong, folder + "-wrong", There::device(), 1);
        QTRY_COMPARE_WITH_TIMEOUT(rejected.size(), 2, 20000);
        QVERIFY2(rejected[1][0].toString().contains("stack.heads"), qPrintable(rejected[1][0].toString()));
        sweeps.start(smallSweep(2), folder + "-far", "ssh://changed cpu", 1);
        QTRY_COMPARE_WITH_TIMEOUT(problem.size(), 1, 20000);
        QVERIFY2(problem[0][0].toString().startsWith("changed: "), qPrintable(problem[0][0].toString()));
        QVERIFY(!sweeps.running());
        sweeps.start(smallSweep(2), "/proc/none", There::device(), 1);
        QTRY_COMPARE_WITH_TIMEOUT(problem.size(), 2, 20000);
        QVERIFY2(problem[1][0].toString().startsWith("/proc/none: cannot be made"),
                 qPrintable(problem[1][0].toString()));
        // The window is closed while a sweep trains there: it is stopped, and continues another time.
        sweeps.start(smallSweep(400), folder + "-closed", There::device(), 1);
        QTRY_VERIFY_WITH_TIMEOUT(
            sweeps.sweep() && sweeps.sweep()->folder.endsWith("-closed") && !sweeps.sweep()->training.empty(),
            60000);
        away.lab.reset();
        QTRY_VERIFY_WITH_TIMEOUT(There::engines().empty(), 20000);
    }

    /// Rows that are of no run of the sweep, or name another file, end it and write nothing.
    void rowsThatNoSweepSendsAreRejected() {
        QTemporaryDir place;
        SweepRow strange;
        strange.run = 99;
        strange.state = RunState::Finished;
        SweepRow outside = strange;
        outside.run = 1;
        outside.recording = "../outside.h5";
        for (const SweepRow& row : {strange, outside}) {
            const QString folder = place.filePath(QString::number(row.run));
            SweepCopy copy(3, smallSweep(2), folder);
            QSignalSpy failed(&copy, &SweepCopy::failed), taken(&copy, &SweepCopy::taken);
            copy.open();
            const auto reply = [&](std::uint64_t token) {
                return std::make_shared<const SweepReply>(
                    SweepReply{token, SweepReply::Ended{row, {1, 6, -1}, "bytes"}});
            };
            copy.take(reply(2));  // of an earlier request
            QCOMPARE(failed.size(), 0);
            copy.take(reply(3));
            copy.take(reply(3));
            QCOMPARE(failed.size(), 1);
            QVERIFY(!failed[0][0].toString().isEmpty());
            QCOMPARE(taken.size(), 0);
            QCOMPARE(QDir(folder + "/runs").entryList(QDir::Files).size(), 0);
            QVERIFY(!QFile::exists(folder + "/outside.h5"));
        }
    }
};

NORMSCOPE_TEST(RemoteSweepTest)
#include "remote_sweep_test.moc"
