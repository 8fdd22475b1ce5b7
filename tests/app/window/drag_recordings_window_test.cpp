// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings are dragged from their list onto the panels or the run strip: the program's own drag and drop,
// with the mouse's events.
#include "app/window/appearance_controller.h"
#include "app/window/files/recordings_controller.h"
#include "tests/support/test_main.h"
#include "widgets/drawers/recording_list.h"
#include "widgets/drawers/runs_drawer.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/runs/run_strip.h"
#include "window_bench.h"

#include <QDrag>
#include <QLabel>
#include <QSignalSpy>
#include <QTimer>
#include <functional>

using namespace normscope;
using namespace normscope::app;
using namespace normscope::widgets;
using normscope::test::WindowBench;

namespace {

/// A recorded comparison, and a new one with the list open.
void record(WindowBench& b) {
    b.makeSmall(20);
    b.lab().training().play();
    QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
    b.lab().session().startOver();
    QSignalSpy listed(&b.lab().recordings(), &Recordings::listed);
    QTest::keyClick(b.window.get(), Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY_WITH_TIMEOUT(!listed.isEmpty() && listed.last()[1].toBool(), 20000);
    QCOMPARE(b.window->recordings()->drawer()->paths().size(), 2);
}

void send(const WindowBench& b, QEvent::Type type, const QPoint& at) {
    const bool up = type == QEvent::MouseButtonRelease;
    QMouseEvent event(type, b.window->mapFromGlobal(at), at, up ? Qt::LeftButton : Qt::NoButton,
                      up ? Qt::NoButton : Qt::LeftButton, {});
    QCoreApplication::sendEvent(b.window->windowHandle(), &event);
}

/// Drags the first row there. `hovering` runs before the end, which is a release or Esc.
void dragRow(WindowBench& b, const QPoint& to, bool release, const std::function<void()>& hovering) {
    QListWidget* list = b.window->recordings()->drawer()->list();
    const QPoint from = list->visualItemRect(list->item(0)).center();
    const auto move = [&](const QPoint& at) {
        QMouseEvent event(QEvent::MouseMove, at, list->viewport()->mapToGlobal(at), Qt::NoButton,
                          Qt::LeftButton, {});
        QCoreApplication::sendEvent(list->viewport(), &event);
    };
    int step = 0;
    bool began = false;
    QTimer mouse;
    QObject::connect(&mouse, &QTimer::timeout, b.window.get(), [&] {
        began = true;
        ++step;
        if (step <= 3) send(b, QEvent::MouseMove, to + QPoint(step, 0));
        if (step == 6) hovering();
        if (step == 7 && release) send(b, QEvent::MouseButtonRelease, to + QPoint(3, 0));
        if (step == 7 && !release) QTest::keyClick(b.window->windowHandle(), Qt::Key_Escape);
        if (step == 40) QDrag::cancel();  // the drag does not end: the test fails rather than hangs
    });
    mouse.start(50);
    QTest::mousePress(list->viewport(), Qt::LeftButton, {}, from);
    move(from + QPoint(-20, 0));
    move(from + QPoint(-25, 0));  // returns at the end of the drag
    mouse.stop();
    QVERIFY(began && step < 40);
    QTest::mouseRelease(list->viewport(), Qt::LeftButton, {}, from);
}

bool targetShown(const WindowBench& b) {
    auto* target = b.find<QLabel>("dropTarget");
    return target && target->isVisible();
}

QPoint middleOf(QWidget* widget) {
    return widget->mapToGlobal(widget->rect().center());
}

}  // namespace

class DragRecordingsWindowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void ontoThePanels() {
        WindowBench b;
        record(b);
        const QString path = b.window->recordings()->drawer()->paths()[0];
        bool shown = false;
        // A plot that the list does not cover.
        dragRow(b, middleOf(b.window->views().grid->cells()[0]->plot()), true, [&] {
            shown = targetShown(b);
            b.keepScreenshot("drag-light");
            b.window->appearance()->setDark(true);
            b.keepScreenshot("drag-dark");
            b.window->appearance()->setDark(false);
        });
        QVERIFY(shown && !targetShown(b));
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), std::size_t(3), 20000);
        QCOMPARE(QString::fromStdString(b.lab().comparison().runs[2].recording), path);
        QTest::keyClick(b.window.get(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(b.lab().comparison().runs.size(), std::size_t(2));
    }

    void ontoTheStripOfChips() {
        WindowBench b;
        record(b);
        dragRow(b, middleOf(b.find<widgets::RunStrip>("runStrip")), true, [&] { QVERIFY(targetShown(b)); });
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), std::size_t(3), 20000);
    }

    void escapeCancels() {
        WindowBench b;
        record(b);
        bool shown = false;
        dragRow(b, middleOf(b.window->views().grid->cells()[0]->plot()), false,
                [&] { shown = targetShown(b); });
        QVERIFY(shown && !targetShown(b));
        QTest::qWait(200);
        QCOMPARE(b.lab().comparison().runs.size(), std::size_t(2));
        QVERIFY(b.window->recordings()->drawer()->isVisible());  // Esc was the drag's
    }

    void elsewhereNothingIsDropped() {
        WindowBench b;
        record(b);
        for (QWidget* place : std::initializer_list<QWidget*>{b.find<widgets::KnobPanel>("knobPanel"),
                                                              b.window->recordings()->drawer()->list()}) {
            bool shown = true;
            dragRow(b, middleOf(place), true, [&] { shown = targetShown(b); });
            QVERIFY(!shown);
            QTest::qWait(QApplication::doubleClickInterval() + 50);  // the next press begins a drag
        }
        QTest::qWait(200);  // in which nothing may be added
        QCOMPARE(b.lab().comparison().runs.size(), std::size_t(2));
    }
};

NORMSCOPE_WIDGET_TEST(DragRecordingsWindowTest)
#include "drag_recordings_window_test.moc"
