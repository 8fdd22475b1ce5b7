// SPDX-License-Identifier: GPL-3.0-or-later
// The basic window: two panels, four knobs, one sentence, the stories once; and the way to the full one.
#include "app/lab/lab.h"
#include "app/window/appearance_controller.h"
#include "app/window/commands.h"
#include "tests/app/window/window_bench.h"
#include "tests/support/test_main.h"
#include "widgets/common/settings.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_row.h"
#include "widgets/panels/panel_grid.h"

#include <QLabel>
#include <QPushButton>
#include <QtTest>

using namespace normscope;
using namespace normscope::app;
using test::WindowBench;

namespace {

QStringList shownPanels(const WindowBench& b) {
    QStringList panels;
    for (const widgets::PanelCell* cell : b.window->views().grid->visibleCells())
        panels << QString::fromStdString(cell->panel());
    return panels;
}

QStringList shownKnobs(const WindowBench& b) {
    QStringList keys;
    for (const widgets::KnobRow* row : b.window->views().knobs->findChildren<widgets::KnobRow*>())
        if (row->isVisible()) keys << row->objectName();
    keys.sort();
    return keys;
}

}  // namespace

class BasicWindowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void twoPanelsFourKnobsOneSentence() {
        WindowBench b;
        const QStringList all_knobs = shownKnobs(b), all_panels = shownPanels(b);
        b.window->appearance()->setBasic(true);
        QVERIFY(!widgets::Settings().full());
        QCOMPARE(shownPanels(b), QStringList({"gradients", "training"}));
        QCOMPARE(shownKnobs(b),
                 QStringList({"optimizer.lr", "stack.depth", "stack.residual_step", "stack.scheme"}));
        auto* hint = b.find<QLabel>("basicHint");
        QVERIFY(hint->isVisible() && hint->text().startsWith("Press Space"));
        for (const char* name : {"storiesButton", "sweepButton"})
            QVERIFY(!b.find<QWidget>(name)->isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().view().exact(), 20000);
        b.keepScreenshot("basic");
        b.window->sweeps()->show(true);  // the sentence is on the panels
        QVERIFY(!hint->isVisible());
        b.window->sweeps()->show(false);
        QVERIFY(hint->isVisible());

        QTest::mouseClick(b.find<QPushButton>("fullButton"), Qt::LeftButton);
        QVERIFY(widgets::Settings().full() && !b.window->appearance()->isBasic());
        QCOMPARE(shownPanels(b), all_panels);
        QCOMPARE(shownKnobs(b), all_knobs);
        QVERIFY(!hint->isVisible() && !b.find<QWidget>("fullButton")->isVisible());
    }

    /// A knob, a third column: what the basic window does not show brings the full one.
    void whatIsHiddenBringsTheFullWindow() {
        WindowBench b;
        b.window->appearance()->setBasic(true);
        b.window->views().knobs->reveal("stack.depth");
        QVERIFY(b.window->appearance()->isBasic());
        b.window->views().knobs->reveal("optimizer.clip");
        QVERIFY(!b.window->appearance()->isBasic());
        QVERIFY(b.window->views().knobs->row("optimizer.clip")->isVisible());
        b.window->appearance()->setBasic(true);
        QVERIFY(!b.window->views().knobs->row("optimizer.clip")->isVisible());
        b.window->appearance()->toggleRail();
        QVERIFY(!b.window->appearance()->isBasic());
    }

    /// The size of a small laptop with a title bar: nothing is cut off.
    void itFitsASmallLaptop() {
        WindowBench b;
        for (const bool basic : {true, false}) {
            b.window->appearance()->setBasic(basic);
            b.window->resize(1366, 728);
            QCoreApplication::processEvents();
            QCOMPARE(b.window->size(), QSize(1366, 728));
            QVERIFY(b.window->minimumSizeHint().width() <= 1180 &&
                    b.window->minimumSizeHint().height() <= 700);
            QTRY_VERIFY_WITH_TIMEOUT(b.lab().view().exact(), 20000);
            b.keepScreenshot(basic ? "basic-laptop" : "full-laptop");
        }
    }
};

NORMSCOPE_WIDGET_TEST(BasicWindowTest)
#include "basic_window_test.moc"
