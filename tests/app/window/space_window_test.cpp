// SPDX-License-Identifier: GPL-3.0-or-later
// What the recordings take on the disk: nothing is removed unless it is removed by hand, into the trash and
// back, without a trace there.
#include "app/window/files/recordings_controller.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/dialogs/space_dialog.h"
#include "widgets/drawers/runs_drawer.h"
#include "window_bench.h"

#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <algorithm>
#include <set>

using namespace normscope;
using namespace normscope::app;
using namespace normscope::widgets;
using normscope::test::WindowBench;

namespace {

constexpr int kWait = 20000;  // ms, at most

std::set<QString> filesIn(const QString& folder) {
    std::set<QString> files;
    for (const QFileInfo& file : QDir(folder).entryInfoList(QDir::Files)) files.insert(file.fileName());
    return files;
}

std::set<QString> recorded(const WindowBench& b) {
    return filesIn(b.folder.filePath("recordings"));
}

/// Two recorded runs that are not in the comparison.
void record(WindowBench& b) {
    b.makeSmall(30);
    b.lab().training().play();
    QTRY_VERIFY_WITH_TIMEOUT(b.ended(), kWait);
    b.lab().session().startOver();
    // The last checkpoint of each is written in the background.
    // A file that is still being written has another name, and counts too.
    const auto written = [&] {
        const std::set<QString> names = recorded(b);
        return names.size() == 4 && std::all_of(names.begin(), names.end(),
                                                [](const QString& name) { return name.endsWith(".h5"); });
    };
    QTRY_VERIFY_WITH_TIMEOUT(written(), kWait);
}

SpaceDialog* openSpace(WindowBench& b) {
    b.window->recordings()->toggle();
    b.find<QPushButton>("recordingsSpace")->click();
    return b.find<SpaceDialog>("spaceDialog");
}

QTableWidget& table(const WindowBench& b) {
    return *b.find<QTableWidget>("spaceTable");
}

QString cell(const WindowBench& b, int row, SpaceDialog::Column column) {
    return table(b).item(row, column)->text();
}

SpaceRow rowOf(const QString& name, qint64 bytes, qint64 checkpoints, int days, const QString& kept = {}) {
    return {"/recordings/" + name,
            name,
            RunState::Finished,
            QDateTime(QDate(2026, 1, 1).addDays(-days), {}),
            bytes,
            checkpoints,
            kept};
}

}  // namespace

class SpaceWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    /// The largest first; a header orders by its numbers; what is in use cannot be selected for the trash.
    void rowsAreOrderedBySize() {
        SpaceDialog dialog(nullptr);
        dialog.setRows({rowOf("small", 900, 100, 1), rowOf("large", 5 << 20, 3 << 20, 40),
                        rowOf("used", 2 << 20, 0, 3, "in training")},
                       "/recordings", QDateTime(QDate(2026, 1, 1), {}));
        auto* shown = dialog.findChild<QTableWidget*>("spaceTable");
        const auto names = [&] {
            QStringList all;
            for (int row = 0; row < shown->rowCount(); ++row)
                all << shown->item(row, SpaceDialog::Name)->text();
            return all;
        };
        QCOMPARE(names(), QStringList({"large", "used (in training)", "small"}));
        QCOMPARE(shown->item(0, SpaceDialog::Recording)->text(), QString("5.0 MiB"));
        QCOMPARE(shown->item(0, SpaceDialog::Checkpoints)->text(), QString("3.0 MiB"));
        QCOMPARE(shown->item(0, SpaceDialog::Together)->text(), QString("8.0 MiB"));
        QCOMPARE(shown->item(0, SpaceDialog::Age)->text(), QString("40 days"));
        const QString total = dialog.findChild<QLabel*>("spaceTotal")->text();
        QVERIFY2(total.startsWith("3 recordings take 10.0 MiB: 7.0 MiB and their checkpoints 3.0 MiB"),
                 qPrintable(total));
        shown->sortByColumn(SpaceDialog::Age, Qt::AscendingOrder);
        QCOMPARE(names(), QStringList({"small", "used (in training)", "large"}));
        auto* trash = dialog.findChild<QPushButton*>("spaceTrash");
        shown->selectRow(1);
        QVERIFY(dialog.selected().isEmpty() && !trash->isEnabled());
        shown->selectAll();
        QCOMPARE(dialog.selected().size(), 2);
        QCOMPARE(trash->text(), QString("Move 2 to trash, 8.0 MiB (Delete)"));
    }

    /// The sizes are those of the files, the checkpoints included.
    void sizesAreThoseOfTheFiles() {
        WindowBench b;
        record(b);
        const QString first = b.folder.filePath("recordings/" + *recorded(b).begin());
        QFile checkpoint(first.left(first.indexOf('.', first.lastIndexOf('/'))) + ".ckpt.b.h5");
        QVERIFY(checkpoint.open(QFile::WriteOnly) && checkpoint.write(QByteArray(5000, 'x')) == 5000);
        checkpoint.close();
        QVERIFY(openSpace(b));
        QTRY_COMPARE_WITH_TIMEOUT(table(b).rowCount(), 2, kWait);
        qint64 all = 0, checkpoints = 0, listed = 0;
        for (const QString& name : recorded(b)) {
            const qint64 size = QFileInfo(b.folder.filePath("recordings/" + name)).size();
            all += size;
            if (name.contains(".ckpt.")) checkpoints += size;
        }
        QVERIFY(checkpoints >= 5000);
        for (const RecordingRow& row : b.window->recordings()->drawer()->rows()) listed += row.totalBytes();
        QCOMPARE(listed, all);
        const QString total = b.find<QLabel>("spaceTotal")->text();
        QVERIFY2(total.contains(sizeText(all)) && total.contains(sizeText(checkpoints)), qPrintable(total));
        b.keepScreenshot("space", b.find<SpaceDialog>("spaceDialog"));
    }

    /// Delete moves a recording with its checkpoints to the trash; Undo brings all of it back, and the trash
    /// has neither the files nor their descriptions.
    void deleteMovesToTheTrashAndUndoLeavesNothingThere() {
        WindowBench b;
        QVERIFY(QDir(b.folder.path()).mkdir("data"));
        qputenv("XDG_DATA_HOME", b.folder.filePath("data").toLocal8Bit());  // the trash
        record(b);
        const std::set<QString> before = recorded(b);
        QVERIFY(openSpace(b));
        QTRY_COMPARE_WITH_TIMEOUT(table(b).rowCount(), 2, kWait);
        QCOMPARE(recorded(b), before);  // nothing is removed by showing it
        table(b).selectAll();
        QTest::keyClick(&table(b), Qt::Key_Delete);
        QTRY_COMPARE_WITH_TIMEOUT(table(b).rowCount(), 0, kWait);
        QTRY_COMPARE(b.find<QLabel>("spaceUndoLine")->text(), QString("Moved 2 recordings to the trash"));
        QVERIFY(recorded(b).empty());
        const QString trash = b.folder.filePath("data/Trash/");
        QCOMPARE(filesIn(trash + "files").size(), before.size());
        QCOMPARE(filesIn(trash + "info").size(), before.size());
        b.find<QPushButton>("spaceUndo")->click();
        QTRY_COMPARE_WITH_TIMEOUT(table(b).rowCount(), 2, kWait);
        QVERIFY(recorded(b) == before);
        QVERIFY(filesIn(trash + "files").empty());
        const std::set<QString> left = filesIn(trash + "info");
        QVERIFY2(left.empty(), left.empty() ? "" : qPrintable(*left.begin()));
        QVERIFY(!b.find<QPushButton>("spaceUndo")->isEnabled());
        qunsetenv("XDG_DATA_HOME");
    }

    /// A recording of the comparison is listed and stays.
    void aRecordingOfTheComparisonStays() {
        WindowBench b;
        b.makeSmall(30);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), kWait);
        SpaceDialog* dialog = openSpace(b);
        QTRY_COMPARE_WITH_TIMEOUT(table(b).rowCount(), 2, kWait);
        QVERIFY(cell(b, 0, SpaceDialog::Name).endsWith("(in the comparison)"));
        table(b).selectAll();
        QVERIFY(dialog->selected().isEmpty());
        QTest::keyClick(&table(b), Qt::Key_Delete);
        QVERIFY(!recorded(b).empty() && table(b).rowCount() == 2);
    }
};

NORMSCOPE_WIDGET_TEST(SpaceWindowTest)
#include "space_window_test.moc"
