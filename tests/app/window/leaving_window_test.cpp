// SPDX-License-Identifier: GPL-3.0-or-later
// The question asked before unsaved changes or a running training are discarded.
#include "app/window/files/files_controller.h"
#include "tests/support/test_main.h"
#include "window_bench.h"

#include <QFile>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

namespace {

QMessageBox* question(const WindowBench& b) {
    return b.find<QMessageBox>("leaving");
}

void saveTo(const WindowBench& b, const char* name) {
    QSignalSpy saved(&b.lab().session(), &LabSession::saved);
    b.window->files()->saveSession(b.folder.filePath(QLatin1String(name)));
    QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20000);
}

}  // namespace

class LeavingWindowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aWindowWithoutChangesClosesAtOnce() {
        WindowBench b;
        b.window->close();
        QVERIFY(!b.window->isVisible());
        QVERIFY(!question(b));
    }

    void closingAsksAndEscapeStays() {
        WindowBench b;
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        QTest::keyClick(b.window.get(), Qt::Key_Q, Qt::ControlModifier);
        QTRY_VERIFY(question(b) && question(b)->isVisible());
        QTest::keyClick(question(b), Qt::Key_Escape);
        QTRY_VERIFY(!question(b));
        QVERIFY(b.window->isVisible());
        QCOMPARE(b.lab().comparison().runs[0].recipe.stack.residual_step, 0.5);
    }

    void discardCloses() {
        WindowBench b;
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        b.window->close();
        QTRY_VERIFY(question(b) && question(b)->isVisible());
        QTest::keyClick(question(b)->button(QMessageBox::Discard), Qt::Key_Space);
        QTRY_VERIFY(!b.window->isVisible());
    }

    void returnSavesAndThenCloses() {
        WindowBench b;
        saveTo(b, "kept.h5");
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        b.window->close();
        QTRY_VERIFY(question(b) && question(b)->isVisible());
        QSignalSpy saved(&b.lab().session(), &LabSession::saved);
        QTest::keyClick(question(b), Qt::Key_Return);
        QTRY_VERIFY_WITH_TIMEOUT(!b.window->isVisible(), 20000);
        QCOMPARE(saved.count(), 1);
        b.open();
        QSignalSpy opened(&b.lab().session(), &LabSession::opened);
        b.window->files()->openSession(b.folder.filePath("kept.h5"));
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
        QCOMPARE(b.lab().comparison().runs[0].recipe.stack.residual_step, 0.5);
    }

    void aSaveThatFailsDoesNotClose() {
        WindowBench b;
        saveTo(b, "kept.h5");
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        QVERIFY(QFile::remove(b.folder.filePath("kept.h5")));
        QVERIFY(QDir(b.folder.path()).mkdir("kept.h5"));  // nothing can be written over a folder
        b.window->close();
        QTRY_VERIFY(question(b) && question(b)->isVisible());
        QSignalSpy failed(&b.lab().session(), &LabSession::savingFailed);
        QTest::keyClick(question(b), Qt::Key_Return);
        QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 20000);
        QTest::qWait(50);  // in which it may not close
        QVERIFY(b.window->isVisible() && b.window->isWindowModified());
    }

    void aNewComparisonAsksToo() {
        WindowBench b;
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        QTest::keyClick(b.window.get(), Qt::Key_N, Qt::ControlModifier);
        QTRY_VERIFY(question(b) && question(b)->isVisible());
        QCOMPARE(b.lab().comparison().runs[0].recipe.stack.residual_step, 0.5);
        QTest::keyClick(question(b)->button(QMessageBox::Discard), Qt::Key_Space);
        QTRY_COMPARE(b.lab().comparison().runs[0].recipe.stack.residual_step, 1.0);
        QVERIFY(b.window->isVisible() && !b.window->isWindowModified());
        QTest::keyClick(b.window.get(), Qt::Key_Z, Qt::ControlModifier);
        QTRY_COMPARE(b.lab().comparison().runs[0].recipe.stack.residual_step, 0.5);
        QVERIFY(b.window->isWindowModified());
    }

    void aRunningTrainingIsAskedFor() {
        WindowBench b;
        b.makeSmall(100000);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).steps.rows() > 3, 20000);
        b.window->files()->confirmAndOpen(b.folder.filePath("none.h5"));
        QTRY_VERIFY(question(b) && question(b)->isVisible());
        QVERIFY(question(b)->text().contains("training"));
        QTest::keyClick(question(b), Qt::Key_Escape);
        QVERIFY(b.lab().comparison().anyTraining());
        b.lab().training().stop();
    }

    /// Edits made while the file is written are not in it.
    void whatIsEditedWhileSavingStaysUnsaved() {
        WindowBench b;
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        QSignalSpy saved(&b.lab().session(), &LabSession::saved);
        b.window->files()->saveSession(b.folder.filePath("kept.h5"));
        b.lab().knobs().commitKey("stack.residual_step", 0.25);
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20000);
        QVERIFY(b.window->isWindowModified());
        saveTo(b, "kept.h5");
        QVERIFY(!b.window->isWindowModified());
    }
};

NORMSCOPE_WIDGET_TEST(LeavingWindowTest)
#include "leaving_window_test.moc"
