// SPDX-License-Identifier: GPL-3.0-or-later
// A range marked on a knob's slider is the range of a new sweep.
#include "app/window/appearance_controller.h"
#include "app/window/studies/sweep_controller.h"
#include "tests/support/test_main.h"
#include "widgets/figures/knobs/knob_table.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/sweep/sweep_dialog.h"
#include "widgets/sweep/sweep_fields.h"
#include "window_bench.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

using namespace normscope;
using namespace normscope::app;
using namespace normscope::widgets;
using normscope::test::WindowBench;

namespace {

widgets::Knob* knob(const WindowBench& b, const char* key) {
    return qobject_cast<widgets::Knob*>(b.find<widgets::KnobPanel>("knobPanel")->row(QLatin1String(key)));
}

void move(widgets::KnobSlider* slider, int x, Qt::KeyboardModifiers keys = Qt::ShiftModifier) {
    const QPoint to(x, slider->height() / 2);
    QMouseEvent event(QEvent::MouseMove, to, slider->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, keys);
    QCoreApplication::sendEvent(slider, &event);
}

void mark(widgets::KnobSlider* slider, int from, int to) {
    QTest::mousePress(slider, Qt::LeftButton, Qt::ShiftModifier, {from, slider->height() / 2});
    move(slider, (from + to) / 2);
    move(slider, to);
    QTest::mouseRelease(slider, Qt::LeftButton, Qt::ShiftModifier, {to, slider->height() / 2});
}

/// The first and the last column of pixels of which more than a quarter changed: the bars of a range.
std::pair<int, int> changedColumns(const QImage& before, const QImage& after) {
    std::vector<int> columns;
    for (int x = 0; x < after.width(); ++x) {
        int changed = 0;
        for (int y = 0; y < after.height(); ++y) changed += before.pixel(x, y) != after.pixel(x, y);
        if (4 * changed > after.height()) columns.push_back(x);
    }
    return columns.empty() ? std::make_pair(-1, -1) : std::make_pair(columns.front(), columns.back());
}

SweepDialog* dialog(const WindowBench& b) {
    return b.find<SweepDialog>("sweepDialog");
}

QString text(const WindowBench& b, const char* field) {
    return b.find<QLineEdit>(field)->text();
}

QString key(const WindowBench& b, const char* box) {
    return b.find<QComboBox>(box)->currentData().toString();
}

void closeDialog(const WindowBench& b) {
    QTest::keyClick(dialog(b), Qt::Key_Escape);
    QTRY_VERIFY(!dialog(b));
}

}  // namespace

class SweepRangeWindowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void shiftDragMarksARange() {
        WindowBench b;
        b.makeSmall(6);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        widgets::KnobSlider* slider = knob(b, "stack.residual_step")->slider();
        const double value = slider->value();
        const int low = slider->width() / 4, high = slider->width() / 2;
        slider->setFocus();
        const QImage before = slider->grab().toImage();
        QTest::mousePress(slider, Qt::LeftButton, Qt::ShiftModifier, {low, slider->height() / 2});
        move(slider, high);
        const auto [first, last] = changedColumns(before, slider->grab().toImage());
        QVERIFY2(std::abs(first - low) <= 1 && std::abs(last - high) <= 1,
                 qPrintable(QString("%1 … %2, not %3 … %4").arg(first).arg(last).arg(low).arg(high)));
        b.keepScreenshot("range-light");
        b.window->appearance()->setDark(true);
        b.keepScreenshot("range-dark");
        b.window->appearance()->setDark(false);
        QVERIFY(!dialog(b));
        QTest::mouseRelease(slider, Qt::LeftButton, Qt::ShiftModifier, {high, slider->height() / 2});
        QVERIFY(dialog(b) && dialog(b)->isVisible());
        // The knob stays where it was.
        QCOMPARE(slider->value(), value);
        QCOMPARE(b.lab().runs().undoStack()->count(), 0);
        QCOMPARE(key(b, "sweepKey0"), QString("stack.residual_step"));
        QCOMPARE(key(b, "sweepKey1"), QString());
        const auto valueOf = [&](int x) {
            return widgets::valueAt(slider->scale(), (x - 6.0) / (slider->width() - 12));
        };
        QCOMPARE(text(b, "sweepValues0"), QString("log:%1:%2:4")
                                              .arg(QString::fromStdString(short_number_text(valueOf(low))),
                                                   QString::fromStdString(short_number_text(valueOf(high)))));
        QVERIFY(valueOf(low) < valueOf(high) && valueOf(high) < 1);
        QVERIFY2(b.find<QLabel>("sweepCount")->text().startsWith("12 runs of 6 steps"),
                 qPrintable(b.find<QLabel>("sweepCount")->text()));
        QVERIFY(b.find<QPushButton>("sweepStart")->isEnabled());
        b.keepScreenshot("range-dialog", dialog(b));
        const QString forwards = text(b, "sweepValues0");
        closeDialog(b);
        // From right to left it is the same range.
        mark(slider, high, low);
        QCOMPARE(text(b, "sweepValues0"), forwards);
        closeDialog(b);
        // Whole numbers: only values that the knob has.
        widgets::KnobSlider* heads = knob(b, "stack.d_model")->slider();
        mark(heads, 8, heads->width() - 8);
        QCOMPARE(key(b, "sweepKey0"), QString("stack.d_model"));
        const QStringList widths = text(b, "sweepValues0").split(',');
        QCOMPARE(widths.size(), 4);
        for (const QString& width : widths) QVERIFY(isAllowed(heads->scale(), width.toDouble()));
        closeDialog(b);
    }

    void escapeAndAClickMarkNothing() {
        WindowBench b;
        b.makeSmall(6);
        widgets::KnobSlider* slider = knob(b, "stack.residual_step")->slider();
        const double value = slider->value();
        const int low = slider->width() / 4, high = slider->width() / 2, y = slider->height() / 2;
        slider->setFocus();
        QTest::mousePress(slider, Qt::LeftButton, Qt::ShiftModifier, {low, y});
        move(slider, high);
        QTest::keyClick(slider, Qt::Key_Escape);
        move(slider, high + 10);
        QTest::mouseRelease(slider, Qt::LeftButton, Qt::ShiftModifier, {high, y});
        QVERIFY(!dialog(b));
        QCOMPARE(slider->value(), value);
        // A click with Shift: the value under the mouse, without snapping; one undo entry.
        QTest::mouseClick(slider, Qt::LeftButton, Qt::ShiftModifier, {low, y});
        QVERIFY(!dialog(b));
        QVERIFY(slider->value() < value);
        QCOMPARE(b.lab().runs().undoStack()->count(), 1);
        // Shift during a drag passes the detents, as before.
        const double detent = slider->scale().detents.front();
        QTest::mousePress(slider, Qt::LeftButton, {}, slider->thumb().toPoint());
        const int at = int(6 + positionOf(slider->scale(), detent) * (slider->width() - 12)) + 3;
        move(slider, at, {});
        const double snapped = slider->value();
        move(slider, at + 1);
        QVERIFY(slider->value() != snapped);
        QTest::mouseRelease(slider, Qt::LeftButton, Qt::ShiftModifier, {at, y});
        QVERIFY(!dialog(b));
    }

    void byKeys() {
        WindowBench b;
        b.makeSmall(6);
        QTest::keyClick(b.window.get(), Qt::Key_K, Qt::ControlModifier);
        QTest::keyClicks(b.find<QLineEdit>("commandInput"), "sweep over learning rate");
        QTest::keyClick(b.find<QLineEdit>("commandInput"), Qt::Key_Return);
        QTRY_VERIFY(dialog(b) && dialog(b)->isVisible());
        QCOMPARE(key(b, "sweepKey0"), QString("optimizer.lr"));
        const widgets::KnobScale& scale = knob(b, "optimizer.lr")->scale();
        QCOMPARE(text(b, "sweepValues0").toStdString(), sweepRange(scale, scale.low, scale.high));
        QVERIFY(b.find<QPushButton>("sweepStart")->isEnabled());
        closeDialog(b);
    }

    /// The whole slider of every knob: values that the dialog takes.
    void everyKnobHasARange() {
        WindowBench b;
        b.makeSmall(6);
        int knobs = 0;
        for (const widgets::KnobSpec& spec : widgets::knobTable()) {
            const widgets::Knob* number = knob(b, spec.key->name.c_str());
            if (!number || !number->isEnabled()) continue;
            const widgets::KnobScale& scale = number->scale();
            const double low = valueAt(scale, 0), high = valueAt(scale, 1);
            b.window->sweeps()->createOver(spec.key, low, high);
            QVERIFY2(dialog(b), spec.key->name.c_str());
            const bool seeds = spec.key->name == "seed";
            if (seeds)
                QVERIFY(text(b, "sweepSeeds").contains(':'));
            else
                QVERIFY2(b.find<QLabel>("sweepProblem0")->text().isEmpty(),
                         qPrintable(QString("%1=%2: %3")
                                        .arg(QString::fromStdString(spec.key->name), text(b, "sweepValues0"),
                                             b.find<QLabel>("sweepProblem0")->text())));
            QCOMPARE(key(b, "sweepKey0"), QString(seeds ? "stack.scheme" : spec.key->name.c_str()));
            closeDialog(b);
            ++knobs;
        }
        QVERIFY(knobs > 15);
    }
};

NORMSCOPE_WIDGET_TEST(SweepRangeWindowTest)
#include "sweep_range_window_test.moc"
