// SPDX-License-Identifier: GPL-3.0-or-later
// The list of recordings: its rows are the files of the folder; opening one adds its run.
#include "widgets/drawers/runs_drawer.h"

#include "app/window/appearance_controller.h"
#include "app/window/files/recordings_controller.h"
#include "tests/support/test_main.h"
#include "widgets/common/banner.h"
#include "window_bench.h"

#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSignalSpy>
#include <cmath>
#include <set>

using namespace normscope;
using namespace normscope::app;
using namespace normscope::widgets;
using normscope::test::WindowBench;

namespace {

RunsDrawer& drawer(const WindowBench& b) {
    return *b.window->recordings()->drawer();
}

std::set<QString> filesOf(const WindowBench& b) {
    std::set<QString> files;
    const QDir folder(b.folder.filePath("recordings"));
    for (const QFileInfo& file : folder.entryInfoList({"*.h5"}, QDir::Files))
        if (!file.fileName().contains(".ckpt.")) files.insert(file.filePath());
    return files;
}

std::set<QString> rowsOf(const WindowBench& b) {
    const QStringList paths = drawer(b).paths();
    return {paths.begin(), paths.end()};
}

/// Two recorded runs, then a new comparison.
void record(WindowBench& b) {
    b.makeSmall(30);
    b.lab().training().play();
    QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
    b.lab().session().startOver();
}

void openDrawer(WindowBench& b) {
    QSignalSpy listed(&b.lab().recordings(), &Recordings::listed);
    QTest::keyClick(b.window.get(), Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(drawer(b).isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(!listed.isEmpty() && listed.last()[1].toBool(), 20000);
}

void type(WindowBench& b, const QString& text) {
    b.find<QLineEdit>("recordingSearch")->clear();
    QTest::keyClicks(b.find<QLineEdit>("recordingSearch"), text);
}

}  // namespace

class RunsDrawerTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void withoutRecordingsASentenceStatesIt() {
        WindowBench b;
        openDrawer(b);
        auto* empty = b.find<QLabel>("recordingsEmpty");
        QVERIFY(empty->isVisible() && empty->text().startsWith("No recordings yet"));
        QTest::keyClick(b.window.get(), Qt::Key_Escape);
        QVERIFY(!drawer(b).isVisible());
    }

    void itsRowsAreTheFiles() {
        WindowBench b;
        record(b);
        openDrawer(b);
        QCOMPARE(rowsOf(b).size(), std::size_t(2));
        QVERIFY(rowsOf(b) == filesOf(b));
        for (const QString& path : drawer(b).paths()) {
            const RecordingRow& row = *drawer(b).row(path);
            QVERIFY(row.damage.isEmpty() && !row.live);
            QCOMPARE(row.last_step, 29);
            QVERIFY(std::isfinite(row.last_loss));
            QVERIFY(drawer(b).details(row).contains("30 steps"));
            QTRY_VERIFY(drawer(b).curve(path));
            QCOMPARE(drawer(b).curve(path)->low.size(), std::size_t(30));
            QCOMPARE(drawer(b).curve(path)->low.back(), row.last_loss);
        }
        b.keepScreenshot("drawer-light");
        b.window->appearance()->setDark(true);
        b.keepScreenshot("drawer-dark");
        b.window->appearance()->setDark(false);
    }

    void searchEnterAndUndo() {
        WindowBench b;
        record(b);
        b.window.reset();
        b.open();  // its runs have the ids that the recorded ones had
        openDrawer(b);
        type(b, "post");
        QCOMPARE(drawer(b).paths().size(), 1);
        QCOMPARE(drawer(b).nameOf(*drawer(b).row(drawer(b).paths()[0])), QString("Post-LN"));
        QTest::keyClick(b.find<QLineEdit>("recordingSearch"), Qt::Key_Return);
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), std::size_t(3), 20000);
        QCOMPARE(b.lab().comparison().selected, 2);
        const LabRun& added = b.lab().comparison().runs[2];
        QCOMPARE(added.data->steps.rows(), std::size_t(30));
        QCOMPARE(added.data->name, std::string("Post-LN"));
        QVERIFY(added.id != b.lab().comparison().runs[0].id && added.id != b.lab().comparison().runs[1].id);
        QCOMPARE(QString::fromStdString(added.recording), drawer(b).paths()[0]);
        QVERIFY(drawer(b).details(*drawer(b).row(drawer(b).paths()[0])).contains("in the comparison"));
        // Again: it is selected, not added twice.
        b.lab().runs().select(0);
        QTest::keyClick(b.find<QLineEdit>("recordingSearch"), Qt::Key_Return);
        QTRY_COMPARE(b.lab().comparison().selected, 2);
        QTest::qWait(100);  // in which nothing may be added
        QCOMPARE(b.lab().comparison().runs.size(), std::size_t(3));
        b.lab().runs().undoStack()->undo();
        QCOMPARE(b.lab().comparison().runs.size(), std::size_t(2));
        type(b, "nothing like this");
        QVERIFY(drawer(b).paths().isEmpty());
        QCOMPARE(b.find<QLabel>("recordingsEmpty")->text(), QString("No recording matches"));
    }

    void theListIsUsedByKeys() {
        WindowBench b;
        record(b);
        openDrawer(b);
        QTest::keyClick(b.find<QLineEdit>("recordingSearch"), Qt::Key_Down);
        QVERIFY(drawer(b).list()->hasFocus());
        QCOMPARE(drawer(b).list()->currentRow(), 1);
        QTest::keyClick(drawer(b).list(), Qt::Key_Return);
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), std::size_t(3), 20000);
        const auto place = drawer(b).list()->visualItemRect(drawer(b).list()->item(0)).center();
        QTest::mouseClick(drawer(b).list()->viewport(), Qt::LeftButton, {}, place);
        QTest::mouseDClick(drawer(b).list()->viewport(), Qt::LeftButton, {}, place);
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), std::size_t(4), 20000);
    }

    void aDamagedFileIsARowWithTheReason() {
        WindowBench b;
        record(b);
        const QString path = b.folder.filePath("recordings/0-damaged.h5");
        QFile file(path);
        QVERIFY(file.open(QFile::WriteOnly));
        file.write("no recording");
        file.close();
        openDrawer(b);
        QVERIFY(rowsOf(b) == filesOf(b));
        const RecordingRow& row = *drawer(b).row(path);
        QVERIFY(drawer(b).details(row).contains("damaged: ") && !drawer(b).details(row).contains('\n'));
        type(b, "0-damaged");
        b.keepScreenshot("drawer-damaged");
        QTest::keyClick(b.find<QLineEdit>("recordingSearch"), Qt::Key_Return);
        QTest::qWait(100);  // in which nothing may be added
        QCOMPARE(b.lab().comparison().runs.size(), std::size_t(2));
    }

    void aRunInTrainingIsListedAndGrows() {
        WindowBench b;
        b.makeSmall(100000);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.run(0).steps.rows() > 3 && !b.lab().comparison().runs[0].recording.empty(),
                                 20000);
        openDrawer(b);
        const QString path = QString::fromStdString(b.lab().comparison().runs[0].recording);
        QTRY_VERIFY_WITH_TIMEOUT(drawer(b).row(path) && drawer(b).row(path)->live, 20000);
        QCOMPARE(drawer(b).nameOf(*drawer(b).row(path)), QString("Pre-LN"));
        QVERIFY(drawer(b).curve(path));
        b.lab().training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(!drawer(b).row(path)->live, 20000);
    }

    void deletingAsksAndIsUndone() {
        WindowBench b;
        QVERIFY(QDir(b.folder.path()).mkdir("data"));
        qputenv("XDG_DATA_HOME", b.folder.filePath("data").toLocal8Bit());  // the trash
        record(b);
        openDrawer(b);
        const std::set<QString> before = filesOf(b);
        QTest::keyClick(b.find<QLineEdit>("recordingSearch"), Qt::Key_Down);
        QTest::keyClick(drawer(b).list(), Qt::Key_Delete);
        QVERIFY(b.window->views().banner->message().contains("to the trash?"));
        QVERIFY(filesOf(b) == before);
        const auto press = [&](const QString& text) {
            for (QPushButton* button : b.window->views().banner->findChildren<QPushButton*>())
                if (button->text() == text) return button->click();
            QFAIL("no such button");
        };
        press("Move to trash");
        QTRY_VERIFY_WITH_TIMEOUT(filesOf(b).size() == 1 && rowsOf(b) == filesOf(b), 20000);
        QTRY_VERIFY(b.window->views().banner->message().startsWith("Moved "));
        press("Undo");
        QTRY_VERIFY_WITH_TIMEOUT(filesOf(b) == before && rowsOf(b) == before, 20000);
        qunsetenv("XDG_DATA_HOME");
    }
};

NORMSCOPE_WIDGET_TEST(RunsDrawerTest)
#include "runs_drawer_test.moc"
