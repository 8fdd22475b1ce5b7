// SPDX-License-Identifier: GPL-3.0-or-later
// What the mouse changes and the screen shows, against the engine run by itself: to a pixel.
#include "core/run/complete.h"
#include "core/run/experiment.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/plots/plot_view.h"
#include "widgets/stack/norm_chip.h"
#include "widgets/stack/stack_view.h"
#include "window_bench.h"

#include <cmath>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

class DrawnValuesTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

    /// The polyline of a run in a panel of its own scale: value v of hidden state i lies at x = i/2, y = log
    /// v.
    static void compare(const WindowBench& b, const char* panel, const char* probe, const char* array,
                        int run) {
        ThreadPool pool(1);
        Experiment alone(b.lab().comparison().runs[std::size_t(run)].recipe, "x", "x");
        const std::vector<double> wanted = alone.measure(probe, pool).find(array)->data;
        const widgets::PlotView& view = *b.cell(panel)->plot();
        const widgets::PlotLayout& plot = view.figureLayout().plots.at(0);
        const auto& curves = view.shownFigure().plots.at(0).curves;
        QPolygonF drawn;
        for (const widgets::CurveShape& shape : plot.curves) {
            const widgets::Curve& curve = curves[shape.curve];
            if (curve.kind != widgets::LineKind::Measured || curve.role.run != run) continue;
            QVERIFY2(shape.pieces.size() == 1, panel);
            drawn = shape.pieces[0];
        }
        QCOMPARE(std::size_t(drawn.size()), wanted.size());
        // From the axes' ends and the plot's frame alone, not through the code that drew it.
        const auto along = [](double value, double low, double high) { return (value - low) / (high - low); };
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const double x =
                plot.area.left() + plot.area.width() * along(double(i) / 2, plot.x.low, plot.x.high);
            const double y =
                plot.area.bottom() - plot.area.height() * along(std::log10(wanted[i]), std::log10(plot.y.low),
                                                                std::log10(plot.y.high));
            const QPointF at = drawn[qsizetype(i)];
            QVERIFY2(
                std::abs(at.x() - x) <= 1 && std::abs(at.y() - y) <= 1,
                qPrintable(QStringLiteral("%1, run %2, place %3: drawn at %4, %5; the value is at %6, %7")
                               .arg(panel)
                               .arg(run)
                               .arg(i)
                               .arg(at.x())
                               .arg(at.y())
                               .arg(x)
                               .arg(y)));
        }
    }
    static void compareAll(WindowBench& b) {
        QTRY_VERIFY_WITH_TIMEOUT(b.measured() && b.lab().view().exact(), 30000);
        test::settle();
        for (const int run : {0, 1}) {
            compare(b, "growth", "growth", "rms", run);
            compare(b, "gradients", "gradients", "hidden", run);
        }
    }

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void afterADragOfTheStep() {
        WindowBench b;
        compareAll(b);
        auto* slider =
            qobject_cast<widgets::Knob*>(b.find<widgets::KnobPanel>("knobPanel")->row("stack.residual_step"))
                ->slider();
        const QPoint from = slider->thumb().toPoint();
        QTest::mousePress(slider, Qt::LeftButton, {}, from);
        for (int by = 4; by <= 40; by += 4) {
            const QPoint to = from - QPoint(by, 0);
            QMouseEvent move(QEvent::MouseMove, to, slider->mapToGlobal(to), Qt::NoButton, Qt::LeftButton,
                             Qt::ShiftModifier);
            QCoreApplication::sendEvent(slider, &move);
            QTest::qWait(16);
        }
        compareAll(b);  // while the button is down: on frozen axes
        QTest::mouseRelease(slider, Qt::LeftButton, Qt::ShiftModifier, from - QPoint(40, 0));
        QVERIFY(b.lab().comparison().runs[0].recipe.stack.residual_step < 0.7);
        QCOMPARE(b.lab().runs().undoStack()->count(), 1);
        compareAll(b);
    }

    void afterAClickOnANorm() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        auto* chip = b.window->views().stack->chip(1, Sublayer::FeedForward, widgets::NormPlace::Post);
        QVERIFY(chip);
        QTest::mousePress(chip, Qt::LeftButton);
        QTest::mouseMove(chip, chip->rect().center() + QPoint(1, 0));
        QTest::mouseRelease(chip, Qt::LeftButton);
        QCOMPARE(b.lab().runs().undoStack()->count(), 1);
        QVERIFY(!b.lab().comparison().runs[0].recipe.stack.layers.empty());
        compareAll(b);
    }
};

NORMSCOPE_WIDGET_TEST(DrawnValuesTest)
#include "drawn_values_test.moc"
