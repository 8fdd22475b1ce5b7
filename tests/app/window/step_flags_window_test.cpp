// SPDX-License-Identifier: GPL-3.0-or-later
// Knobs moved and runs forked while they train, as the loss shows them.
#include "app/window/appearance_controller.h"
#include "legibility.h"
#include "tests/support/test_main.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/plots/plot_view.h"
#include "window_bench.h"

#include <QMenu>
#include <QToolButton>
#include <cmath>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

namespace {

widgets::KnobSlider* slider(const WindowBench& b, const char* key) {
    auto* knobs = b.find<widgets::KnobPanel>("knobPanel");
    return qobject_cast<widgets::Knob*>(knobs->row(QLatin1String(key)))->slider();
}

/// Presses the thumb, drags it in steps and releases it.
void drag(widgets::KnobSlider* slider, int by) {
    const QPoint from = slider->thumb().toPoint();
    QTest::mousePress(slider, Qt::LeftButton, {}, from);
    for (int i = 1; i <= 4; ++i) {
        const QPoint to = from + QPoint(by * i / 4, 0);
        QMouseEvent move(QEvent::MouseMove, to, slider->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
        QCoreApplication::sendEvent(slider, &move);
    }
    QTest::mouseRelease(slider, Qt::LeftButton, {}, from + QPoint(by, 0));
}

void trainFurther(const WindowBench& b, std::size_t steps) {
    const std::size_t rows = b.run(0).steps.rows();
    b.lab().training().play();
    QTRY_VERIFY_WITH_TIMEOUT(b.run(0).steps.rows() >= rows + steps, 60000);
    b.lab().training().pause();
    QTRY_VERIFY_WITH_TIMEOUT(!b.lab().training().playing() && b.lab().comparison().changesPending() == false,
                             60000);
    QTest::qWait(200);  // steps that were running
}

widgets::PlotView* losses(const WindowBench& b) {
    return b.cell("training")->plot();
}

const std::vector<widgets::FlagShape>& shapes(const WindowBench& b) {
    return losses(b)->figureLayout().plots[0].flags;
}

std::size_t knobEvents(const RunData& run) {
    return static_cast<std::size_t>(std::count_if(run.events.begin(), run.events.end(),
                                                  [](const RunEvent& e) { return e.kind == "knob"; }));
}

QAction* option(widgets::PanelCell* cell, const QString& section, const QString& value) {
    QString now;
    for (QAction* action : cell->findChild<QToolButton*>("panelOptions")->findChild<QMenu*>()->actions()) {
        if (action->isSeparator())
            now = action->text();
        else if (now == section && action->text() == value)
            return action;
    }
    return nullptr;
}

}  // namespace

class StepFlagsWindowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aMovedKnobIsAFlagOfBothRuns() {
        WindowBench b;
        b.makeSmall(100000);
        trainFurther(b, 60);
        QVERIFY(shapes(b).empty());
        const auto at = std::int64_t(b.run(0).steps.rows());
        drag(slider(b, "stack.residual_step"), -60);
        QTRY_VERIFY_WITH_TIMEOUT(knobEvents(b.run(0)) > 0 && knobEvents(b.run(1)) > 0, 20000);
        trainFurther(b, 60);
        QTRY_COMPARE(shapes(b).size(), std::size_t(1));
        // What the person did: one change, however many moves the drag had.
        const double value = slider(b, "stack.residual_step")->value();
        QVERIFY(value < 0.9);
        QCOMPARE(shapes(b)[0].text, QString("Δt 1→%1").arg(QString::number(value, 'g', 4)));
        const widgets::PlotLayout& plot = losses(b)->figureLayout().plots[0];
        QVERIFY(std::abs(shapes(b)[0].poles.front() - plot.x.toPixel(double(at))) < 2);
        QCOMPARE(test::illegible(*b.window), QStringList());

        const QPoint on_text = shapes(b)[0].text_rect.center().toPoint();
        QTest::mouseMove(losses(b)->viewport(), on_text);
        QTRY_VERIFY(losses(b)->hoverText().contains("Δt 1→"));
        QVERIFY2(losses(b)->hoverText().contains(QString("Pre-LN  Δt 1→")) &&
                     losses(b)->hoverText().contains(QString("at step %1").arg(at)),
                 qPrintable(losses(b)->hoverText()));
        b.keepScreenshot("flags-hover");

        // Others follow at once, at other knobs: merged or counted, never overlapping.
        QTest::keyClick(slider(b, "stack.temperature"), Qt::Key_PageUp);
        QTest::keyClick(slider(b, "optimizer.lr"), Qt::Key_PageDown);
        trainFurther(b, 4);
        QTest::keyClick(slider(b, "stack.residual_step"), Qt::Key_PageUp);
        trainFurther(b, 60);
        QTRY_VERIFY_WITH_TIMEOUT(knobEvents(b.run(0)) >= 4, 20000);
        QCOMPARE(test::illegible(*b.window), QStringList());
        b.keepScreenshot("flags-light");
        b.window->appearance()->setDark(true);
        test::settle();
        QCOMPARE(test::illegible(*b.window), QStringList());
        b.keepScreenshot("flags-dark");
        b.window->appearance()->setDark(false);

        // The switch of the panel.
        QVERIFY(!shapes(b).empty());
        QAction* off = option(b.cell("training"), "Knob changes", "off");
        QVERIFY(off);
        off->trigger();
        QVERIFY(shapes(b).empty());
        option(b.cell("training"), "Knob changes", "on")->trigger();
        QVERIFY(!shapes(b).empty());
        b.lab().training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
    }

    void aForkBeginsAtItsParentsCurve() {
        WindowBench b;
        b.makeSmall(100000);
        trainFurther(b, 60);
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab().comparison().runs[1].checkpoints.empty(), 20000);
        b.lab().runs().setLinked(false);
        b.lab().runs().select(1);
        b.lab().view().setStep(LabView::kNewest);
        QTest::keyClick(slider(b, "stack.residual_step"), Qt::Key_PageDown);
        QTest::keyClick(b.window.get(), Qt::Key_K);
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), std::size_t(3), 20000);
        const auto forkOf = [&]() -> const RunEvent* {
            for (const RunEvent& event : b.run(2).events)
                if (event.kind == "fork") return &event;
            return nullptr;
        };
        QTRY_VERIFY_WITH_TIMEOUT(forkOf() && b.run(2).steps.rows() > std::size_t(forkOf()->step) + 20, 60000);
        b.lab().training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        const RunEvent fork = *forkOf();
        QCOMPARE(fork.text, "of Post-LN at step " + std::to_string(fork.step + 1));

        const auto curveOf = [&](int run) -> const widgets::Curve* {
            for (const widgets::Curve& curve : losses(b)->shownFigure().plots[0].curves)
                if (curve.role.run == run && curve.line) return &curve;
            return nullptr;
        };
        QTRY_VERIFY(curveOf(2) && curveOf(2)->branch);
        const widgets::Curve &parent = *curveOf(1), &own = *curveOf(2);
        QCOMPARE(parent.x.front(), 0.0);
        QCOMPARE(own.x.front(), double(fork.step));
        QCOMPARE(own.y.front(), parent.y[std::size_t(fork.step)]);
        const widgets::PlotLayout& plot = losses(b)->figureLayout().plots[0];
        const QPointF ring(plot.x.toPixel(own.x.front()), plot.y.toPixel(own.y.front()));
        QTest::mouseMove(losses(b)->viewport(), ring.toPoint());
        QTRY_VERIFY2(
            losses(b)->hoverText().contains("fork of Post-LN at step " + QString::number(fork.step + 1)),
            qPrintable(losses(b)->hoverText()));
        QCOMPARE(test::illegible(*b.window), QStringList());
        b.keepScreenshot("fork-light");
        b.window->appearance()->setDark(true);
        b.keepScreenshot("fork-dark");
        b.window->appearance()->setDark(false);

        // Without its parent it has the parent's steps; and the recording keeps where it began.
        b.lab().runs().remove(1);
        QTRY_VERIFY(curveOf(1) && curveOf(1)->x.front() == 0);
        QCOMPARE(curveOf(1)->branch->x, double(fork.step));
    }
};

NORMSCOPE_WIDGET_TEST(StepFlagsWindowTest)
#include "step_flags_window_test.moc"
