// SPDX-License-Identifier: GPL-3.0-or-later
// The frame never moves: a selection, a knob or a message shifts no knob and no plot.
#include "app/window/files/figure_controller.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/common/banner.h"
#include "widgets/figures/knobs/knob_table.h"
#include "widgets/knobs/choice_knob.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/stack/stack_view.h"
#include "window_bench.h"

#include <QComboBox>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

namespace {

using Places = std::map<std::string, QRect>;

/// Where every visible knob, plot and bar lies in the window.
Places placesOf(const WindowBench& b) {
    Places frame;
    const auto add = [&](const QString& name, const QWidget* widget) {
        if (widget && widget->isVisible())
            frame[name.toStdString()] = QRect(widget->mapTo(b.window.get(), QPoint(0, 0)), widget->size());
    };
    const auto* knobs = b.find<widgets::KnobPanel>("knobPanel");
    for (const widgets::KnobSpec& spec : widgets::knobTable())
        add(QString::fromStdString(spec.key->name), knobs->row(QString::fromStdString(spec.key->name)));
    for (const widgets::PanelCell* cell : b.window->views().grid->cells())
        add(QStringLiteral("plot ") + cell->objectName(), cell->plot());
    for (const char* name : {"runStrip", "stackView", "transportBar", "findingsBand", "panelGrid"})
        add(QLatin1String(name), b.find<QWidget>(name));
    return frame;
}

/// The first difference, in words; empty if there is none.
QString moved(const Places& before, const Places& after) {
    for (const auto& [name, rect] : before) {
        const auto now = after.find(name);
        if (now == after.end()) return QString::fromStdString(name) + " is gone";
        const QRect& r = now->second;
        if (r != rect)
            return QString("%1: %2,%3 %4×%5 → %6,%7 %8×%9")
                .arg(QString::fromStdString(name))
                .arg(rect.x())
                .arg(rect.y())
                .arg(rect.width())
                .arg(rect.height())
                .arg(r.x())
                .arg(r.y())
                .arg(r.width())
                .arg(r.height());
    }
    for (const auto& [name, rect] : after)
        if (!before.count(name)) return QString::fromStdString(name) + " is new";
    return {};
}

}  // namespace

class StableWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void aSelectionMovesNoKnobAndNoPlot_data() {
        QTest::addColumn<QSize>("size");
        QTest::newRow("1440x900") << QSize(1440, 900);
        QTest::newRow("1920x1080") << QSize(1920, 1080);
    }
    void aSelectionMovesNoKnobAndNoPlot() {
        QFETCH(QSize, size);
        WindowBench b;
        b.window->resize(size);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        test::settle();
        const Places start = placesOf(b);
        QVERIFY(start.size() > 12);
        const auto unmoved = [&](const char* what) {
            test::settle();
            const QString difference = moved(start, placesOf(b));
            if (!difference.isEmpty()) qWarning("%s: %s", what, qPrintable(difference));
            return difference.isEmpty();
        };
        b.lab().runs().select(1);
        QVERIFY(unmoved("the second run"));
        b.lab().runs().select(0);
        for (const int layer : {0, 5, 11, -1}) {
            b.lab().view().selectLayer(layer);
            QVERIFY(unmoved("a layer"));
        }
        auto* scheme =
            qobject_cast<widgets::ChoiceKnob*>(b.find<widgets::KnobPanel>("knobPanel")->row("stack.scheme"));
        for (int i = 0; i < scheme->box()->count(); ++i) {
            b.lab().knobs().commitKey("stack.scheme", scheme->box()->itemData(i).toString().toStdString());
            QTRY_VERIFY_WITH_TIMEOUT(b.lab().view().exact(), 20000);
            QVERIFY(unmoved(qPrintable(scheme->box()->itemText(i))));
        }
    }

    void aDepthDragMovesNothingUnderTheCursor() {
        WindowBench b;
        b.makeSmall(4);
        b.lab().knobs().commitKey("stack.depth", 12);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        test::settle();
        const Places start = placesOf(b);
        auto* depth =
            qobject_cast<widgets::Knob*>(b.find<widgets::KnobPanel>("knobPanel")->row("stack.depth"));
        widgets::KnobSlider* slider = depth->slider();
        const QPoint from = slider->thumb().toPoint();
        QTest::mousePress(slider, Qt::LeftButton, {}, from);
        std::set<int> depths;
        for (int x = from.x() - 20; x <= from.x() + 40; x += 4) {
            QMouseEvent move(QEvent::MouseMove, QPoint(x, from.y()), slider->mapToGlobal(QPoint(x, from.y())),
                             Qt::NoButton, Qt::LeftButton, Qt::ShiftModifier);
            QCoreApplication::sendEvent(slider, &move);
            QTest::qWait(20);
            depths.insert(b.lab().comparison().runs[0].recipe.stack.depth);
            const QString difference = moved(start, placesOf(b));
            QVERIFY2(difference.isEmpty(), qPrintable(difference));
        }
        QTest::mouseRelease(slider, Qt::LeftButton, Qt::ShiftModifier, from + QPoint(40, 0));
        QVERIFY(depths.size() > 5);
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().view().exact(), 30000);
        const QString difference = moved(start, placesOf(b));
        QVERIFY2(difference.isEmpty(), qPrintable(difference));
    }

    /// A message lies over the panels and leaves them where they are.
    void aMessageShiftsNoPlot() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        test::settle();
        const Places start = placesOf(b);
        b.window->views().banner->showMessage(QStringLiteral("Saved /home/a/session.h5"));
        QVERIFY(b.window->views().banner->isVisible());
        test::settle();
        QVERIFY2(moved(start, placesOf(b)).isEmpty(), qPrintable(moved(start, placesOf(b))));
        QVERIFY(b.window->views().banner->height() > 16);
        QVERIFY(b.window->rect().contains(QRect(b.window->views().banner->mapTo(b.window.get(), QPoint(0, 0)),
                                                b.window->views().banner->size())));
        b.keepScreenshot("toast");
        b.window->figures()->explainCurrent();
        test::settle();
        QVERIFY2(moved(start, placesOf(b)).isEmpty(), qPrintable(moved(start, placesOf(b))));
        b.keepScreenshot("help");
    }

    /// A warning about the stack, and the list of what differs from the preset.
    void warningsAndDifferencesShiftNoKnob() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        test::settle();
        const Places start = placesOf(b);
        b.lab().knobs().commitKey("stack.scheme", "lns");
        b.lab().knobs().commitKey("stack.init.rule", "gpt2");
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().view().exact(), 20000);
        test::settle();
        QVERIFY2(moved(start, placesOf(b)).isEmpty(), qPrintable(moved(start, placesOf(b))));
    }
};

NORMSCOPE_WIDGET_TEST(StableWindowTest)
#include "stable_window_test.moc"
