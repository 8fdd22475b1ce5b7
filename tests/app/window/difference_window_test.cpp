// SPDX-License-Identifier: GPL-3.0-or-later
// Where two runs differ: the drawer has what run_difference finds of the two that are chosen.
#include "app/window/runs/difference_controller.h"
#include "core/findings/run_difference_text.h"
#include "program_font.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/runs/difference_drawer.h"
#include "window_bench.h"

#include <QAbstractItemModel>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableWidget>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

namespace {

QStringList column(const QTableWidget& table, int at) {
    QStringList texts;
    for (int row = 0; row < table.rowCount(); ++row) texts << table.item(row, at)->text();
    return texts;
}

void open(WindowBench& b) {
    QTest::keyClick(b.window.get(), Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
}

RunDifference differenceOf(WindowBench& b, int first, int second) {
    return difference_of(b.run(first), b.run(second), rounding_tolerance(b.run(first), b.run(second)));
}

}  // namespace

class DifferenceWindowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::useProgramFont(); }

    void theFirstPlaceAndLaterSteps() {
        WindowBench b;
        b.makeSmall(30);
        b.lab().training().togglePlay();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.lab().comparison().lastStep() == 29, 60000);
        open(b);
        auto* drawer = b.find<widgets::DifferenceDrawer>("differenceDrawer");
        QVERIFY(drawer->isVisible());
        const RunDifference expected = differenceOf(b, 0, 1);
        QVERIFY(expected.first && expected.growth.size() > 3);
        const QString place = QString::fromStdString(place_text(*expected.first));
        // Another scheme is no rounding: the first difference is the first beyond it.
        QCOMPARE(place, QString::fromStdString(place_text(*expected.first_bit)));
        QCOMPARE(b.find<QLabel>("differenceBeyond")->text(),
                 QStringLiteral("It is beyond 10⁻⁶ relative, which is more than rounding."));
        QCOMPARE(b.find<QLabel>("differenceFirst")->text(),
                 "First difference: " + QString::fromStdString(place_text(*expected.first_bit)));
        QVERIFY(column(*b.find<QTableWidget>("differenceSettings"), 0).contains("stack.scheme"));
        auto* steps = b.find<QTableWidget>("differenceSteps");
        QCOMPARE(steps->rowCount(), int(expected.growth.size()));
        b.keepScreenshot("difference");

        // A row shows its step.
        steps->setFocus();
        steps->setCurrentCell(2, 0);
        QTest::keyClick(steps, Qt::Key_Return);
        QCOMPARE(b.lab().view().step(), qint64(expected.growth[2].step));
        // As values arrive the row and the boxes stay.
        auto* box = b.find<QComboBox>("differenceA");
        const QAbstractItemModel* const items = box->model();
        QSignalSpy filled(items, &QAbstractItemModel::rowsInserted);
        Q_EMIT b.lab().dataChanged({});
        QTest::qWait(700);
        QCOMPARE(steps->currentRow(), 2);
        QCOMPARE(filled.count(), 0);
        QTest::mouseClick(b.find<QPushButton>("differenceShow"), Qt::LeftButton);
        QCOMPARE(b.lab().view().step(), qint64(expected.first->step));

        QTest::mouseClick(b.find<QPushButton>("differenceCopy"), Qt::LeftButton);
        QVERIFY(
            QGuiApplication::clipboard()->text().endsWith(QString::fromStdString(difference_text(expected))));
        QTest::keyClick(drawer, Qt::Key_Escape);
        QVERIFY(!drawer->isVisible());
    }

    /// A run against its own twin, against one that is removed, and alone.
    void otherPairs() {
        WindowBench b;
        b.makeSmall(12);
        b.lab().runs().add(b.lab().comparison().runs[0].recipe);
        QTRY_COMPARE(b.lab().comparison().runs.size(), std::size_t{3});
        b.lab().training().togglePlay();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.lab().comparison().lastStep() == 11, 60000);
        b.lab().runs().select(0);
        open(b);
        auto *one = b.find<QComboBox>("differenceA"), *other = b.find<QComboBox>("differenceB");
        QCOMPARE(one->currentIndex(), 0);
        QCOMPARE(other->currentIndex(), 1);
        other->setCurrentIndex(2);
        Q_EMIT other->activated(2);
        auto* first = b.find<QLabel>("differenceFirst");
        QVERIFY2(!differenceOf(b, 0, 2).first_bit, "twins have the same bits");
        QCOMPARE(first->text(), QStringLiteral("No difference in any value that both recorded."));
        QVERIFY(b.find<QLabel>("differenceRest")->text().contains("The recipes are equal"));
        QVERIFY(!b.find<QTableWidget>("differenceSettings")->isVisible());

        b.lab().runs().remove(2);
        QTRY_COMPARE(other->currentIndex(), 1);
        QVERIFY(first->text() != QStringLiteral("No difference in any value that both recorded."));
        b.lab().runs().remove(1);
        QTRY_COMPARE(first->text(), QStringLiteral("A comparison of two runs needs two of them."));
        QCOMPARE(other->currentIndex(), -1);
        QVERIFY(!b.find<QPushButton>("differenceCopy")->isEnabled());
    }
};

NORMSCOPE_WIDGET_TEST(DifferenceWindowTest)
#include "difference_window_test.moc"
