// SPDX-License-Identifier: GPL-3.0-or-later
// A session that is opened in outline and read to its end afterwards.
#include "core/session/outline.h"
#include "tests/app/lab/lab_bench.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <QFile>
#include <QtTest>
#include <algorithm>

using namespace normscope;
using namespace normscope::app;

namespace {

constexpr int kSteps = 4000, kSpike = 1733;

/// A laboratory that holds back every reply after sessionOpened().
struct Bench : normscope::test::LabBench {
    bool hold = false;
    std::vector<std::function<void()>> held;
    QString path = folder.filePath("long.h5");
    std::vector<RunData> saved;

    Bench()
        : LabBench(
              6, [this](std::function<void()> reply) { hold ? held.push_back(std::move(reply)) : reply(); }) {
        const Recipe recipe = lab->comparison().runs[0].recipe;
        lab = std::make_unique<Lab>(Lab::Options{1, folder.path(), deliver, "cpu", 0});
        QObject::connect(lab.get(), &Lab::problem, lab.get(),
                         [this](const QString& text) { problems << text; });
        lab->view().setVisibleProbes({"growth"});
        for (const char* id : {"p", "q"}) {
            RunData run = sample::run(id, kSteps);
            run.recipe = recipe;
            run.name = id;
            run.outcome = {RunState::Finished, kSteps - 1, "finished", -1};
            run.steps.columns[0][kSpike] = 50;
            saved.push_back(std::move(run));
        }
        save_session(path.toStdString(), saved, "");
        QObject::connect(&lab->session(), &LabSession::opened, lab.get(), [this] { hold = true; });
    }
    void openInOutline() {
        lab->session().open(path);
        QTRY_VERIFY(hold);
        QVERIFY(run(0).unread && run(1).unread);
    }
    void release() {
        hold = false;
        for (const auto& reply : std::exchange(held, {})) reply();
    }
    std::string differences() const {
        std::string all;
        for (int i : {0, 1}) all += sample::difference(run(i), saved[std::size_t(i)]);
        return all;
    }
};

}  // namespace

class TestLabOutline : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void theFirstFigureIsOfTheOutline() {
        Bench b;
        b.openInOutline();
        QCOMPARE(b.lab->comparison().lastStep(), kSteps - 1);
        QVERIFY(b.run(0).steps.rows() < 100);
        QCOMPARE(b.run(0).probes.size(), std::size_t{1});
        const widgets::Figure losses = b.lab->view().figure("training", {});
        QVERIFY2(losses.subtitle.contains("not read to its end yet"), qPrintable(losses.subtitle));
        const widgets::Curve& curve = losses.plots[0].curves[0];
        QCOMPARE(curve.x.front(), 0.0);
        QCOMPARE(curve.x.back(), double(kSteps - 1));
        QCOMPARE(curve.y.back(), b.saved[0].steps.find("loss")->back());
        QVERIFY(curve.x.size() < kSteps / 10);
        QVERIFY(std::is_sorted(curve.x.begin(), curve.x.end()));
        QCOMPARE(*std::max_element(curve.y.begin(), curve.y.end()), 50.0);  // the spike
        QVERIFY(!b.lab->view().figure("growth", {}).plots.empty());
        // Nothing is stated of a step that is in the file but not read.
        b.lab->view().setStep(30);
        const QString text = b.lab->view().figure("growth", {}).empty_text;
        QVERIFY2(text.contains("not read from the file yet") && !text.contains("not measured"),
                 qPrintable(text));
        QVERIFY(b.lab->measurement().obstacle().contains("not read to its end yet"));
        b.lab->forks().forkSelected();
        QCOMPARE(b.problems, QStringList{b.path + ": not read to its end yet"});

        QTRY_VERIFY(!b.held.empty());
        b.release();
        QTRY_COMPARE(notReadYet(b.lab->comparison()), QString());
        QCOMPARE(b.differences(), "");
        QVERIFY(b.lab->view().figure("growth", {}).subtitle.startsWith("at step 30"));
        QCOMPARE(b.run(0).sample_of("theta", 30)->find("max")->data, sample::theta(30).find("max")->data);
        QCOMPARE(b.lab->view().figure("training", {}).plots[0].curves[0].x.size(), std::size_t(kSteps));
        QVERIFY(!b.lab->session().unsaved());
    }

    void savedWhileItIsRead() {
        Bench b;
        b.openInOutline();
        const QString copy = b.folder.filePath("copy.h5");
        b.lab->session().save(copy, "");
        b.lab->session().save(b.path, "");  // in the place of the file that is being read
        QTRY_VERIFY(b.held.size() >= 3);
        b.release();
        QTRY_COMPARE(notReadYet(b.lab->comparison()), QString());
        QCOMPARE(b.differences(), "");
        QCOMPARE(b.problems, QStringList());
        for (const QString& file : {copy, b.path}) {
            const std::vector<RunData> runs = open_session(file.toStdString()).runs;
            for (std::size_t i : {0u, 1u}) QCOMPARE(sample::difference(runs[i], b.saved[i]), "");
        }
    }

    void anUndoThatBringsBackAnOutlineHasItRead() {
        Bench b;
        b.openInOutline();
        b.lab->runs().rename(0, "renamed");
        QTRY_VERIFY(!b.held.empty());
        b.release();
        QTRY_COMPARE(notReadYet(b.lab->comparison()), QString());
        QCOMPARE(b.run(0).name, "renamed");
        b.lab->runs().undoStack()->undo();
        QTRY_COMPARE(notReadYet(b.lab->comparison()), QString());
        QCOMPARE(b.differences(), "");
    }

    void aSessionThatWasLeftIsNotReadOn() {
        Bench b;
        b.openInOutline();
        QTRY_VERIFY(!b.held.empty());
        b.lab->session().startOver();
        b.release();
        QCOMPARE(b.run(0).steps.rows(), std::size_t{0});
        QCOMPARE(b.problems, QStringList());
        // An order is given up between two runs.
        IoWorker worker(b.folder.path());
        auto request = std::make_shared<RemainderRequest>();
        for (const RunData& run : open_outline(b.path.toStdString(), {}, 0).runs)
            request->runs.push_back(run.unread);
        QSignalSpy answered(&worker, &IoWorker::remainderRead);
        worker.readRemainder(request);
        request->cancelled = true;
        QCoreApplication::processEvents();
        QCoreApplication::processEvents();
        QCOMPARE(answered.count(), 0);
    }

    void damageInTheRestIsOneLine() {
        Bench b;
        {
            QFile file(b.path);
            QVERIFY(file.open(QIODevice::ReadWrite));
            const QByteArray all = file.readAll();
            file.seek(all.indexOf("below_099", all.indexOf("below_099") + 1));  // of the second run
            file.putChar('#');
        }
        b.openInOutline();
        QTRY_VERIFY(!b.held.empty());
        b.release();
        QTRY_COMPARE(b.problems.size(), 1);
        QVERIFY2(b.problems[0].startsWith(b.path + ": /runs/q/probes/theta") && !b.problems[0].contains('\n'),
                 qPrintable(b.problems[0]));
        QCOMPARE(sample::difference(b.run(0), b.saved[0]), "");
        QVERIFY(b.run(1).unread);
        // It cannot be saved without it.
        QSignalSpy failed(&b.lab->session(), &LabSession::savingFailed);
        b.lab->session().save(b.folder.filePath("copy.h5"), "");
        QTRY_COMPARE(failed.count(), 1);
        QCOMPARE(b.problems.last(), b.problems.first());
        QVERIFY(!QFile::exists(b.folder.filePath("copy.h5")));
    }
};

NORMSCOPE_TEST(TestLabOutline)
#include "lab_outline_test.moc"
