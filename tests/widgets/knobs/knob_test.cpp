// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/knob.h"

#include "tests/support/test_main.h"
#include "tests/widgets/quiet.h"
#include "widgets/knobs/choice_knob.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/knobs/number_field.h"
#include "widgets/plots/glyph.h"
#include "widgets/plots/palette_theme.h"

#include <QAccessible>
#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QWheelEvent>

using namespace normscope::widgets;

class KnobTest : public QObject {
    Q_OBJECT

    static KnobScale scale() {
        return {.kind = KnobScale::Kind::Log, .low = 0.01, .high = 2, .detents = {0.1, 1}};
    }

    /// A knob on screen at 1, with spies on its signals.
    struct Bench {
        Knob knob{QStringLiteral("Δt"), QStringLiteral("residual step"), scale()};
        QSignalSpy started{&knob, &Knob::dragStarted};
        QSignalSpy changing{&knob, &Knob::valueChanging};
        QSignalSpy committed{&knob, &Knob::valueCommitted};
        QSignalSpy reset{&knob, &Knob::resetRequested};
        Bench() {
            knob.setDefaultValue(1);
            knob.setValue(1);
            knob.resize(260, 28);
            knob.show();
            QVERIFY(QTest::qWaitForWindowActive(&knob));
        }
        KnobSlider* slider() { return knob.slider(); }
        QPoint at(double value) {
            return {static_cast<int>(6 + positionOf(scale(), value) * (slider()->width() - 12)), 9};
        }
        void move(QPoint to, Qt::KeyboardModifiers keys = {}) {
            QMouseEvent event(QEvent::MouseMove, to, slider()->mapToGlobal(to), Qt::NoButton, Qt::LeftButton,
                              keys);
            QCoreApplication::sendEvent(slider(), &event);
        }
        void wheel() {
            QWheelEvent event(QPointF(50, 9), slider()->mapToGlobal(QPointF(50, 9)), {}, {0, 120},
                              Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
            QCoreApplication::sendEvent(slider(), &event);
        }
    };

  private Q_SLOTS:
    void init() { failOnWarnings(); }

    void oneCommitForADrag() {
        Bench b;
        QTest::mousePress(b.slider(), Qt::LeftButton, {}, b.slider()->thumb().toPoint());
        QCOMPARE(b.started.count(), 1);
        QVERIFY(b.knob.isDragging());
        for (double value : {0.8, 0.6, 0.4, 0.3}) b.move(b.at(value));
        QCOMPARE(b.changing.count(), 4);
        QCOMPARE(b.committed.count(), 0);
        QTest::mouseRelease(b.slider(), Qt::LeftButton, {}, b.at(0.3));
        QCOMPARE(b.committed.count(), 1);
        QCOMPARE(b.committed[0][0].toDouble(), 1.0);
        QCOMPARE(b.committed[0][1].toDouble(), b.knob.value());
        QVERIFY(std::abs(b.knob.value() - 0.3) < 0.02);
        QCOMPARE(b.knob.field()->text().toDouble(), b.knob.value());
        QVERIFY(!b.knob.isDragging());
    }

    void takingTheThumbMovesNothing() {
        Bench b;
        b.knob.setValue(0.37);
        QTest::mousePress(b.slider(), Qt::LeftButton, {}, b.slider()->thumb().toPoint() + QPoint(3, 0));
        QTest::mouseRelease(b.slider(), Qt::LeftButton, {}, b.slider()->thumb().toPoint() + QPoint(3, 0));
        QCOMPARE(b.changing.count(), 0);
        QCOMPARE(b.knob.value(), 0.37);
        QCOMPARE(b.committed.count(), 1);  // the drag ended: axes are released
    }

    void detentsCatchTheThumbAndShiftPassesThem() {
        Bench b;
        QTest::mousePress(b.slider(), Qt::LeftButton, {}, b.slider()->thumb().toPoint());
        b.move(b.at(0.1) + QPoint(3, 0));
        QCOMPARE(b.knob.value(), 0.1);
        b.move(b.at(0.1) + QPoint(3, 0), Qt::ShiftModifier);
        QVERIFY(b.knob.value() > 0.1);
        QTest::mouseRelease(b.slider(), Qt::LeftButton, {}, b.at(0.1));
    }

    void anEchoDoesNotPullTheThumbOutOfTheHand() {
        Bench b;
        QTest::mousePress(b.slider(), Qt::LeftButton, {}, b.slider()->thumb().toPoint());
        b.move(b.at(0.3));
        const double held = b.knob.value();
        b.knob.setValue(0.9);
        QCOMPARE(b.knob.value(), held);
        QTest::mouseRelease(b.slider(), Qt::LeftButton, {}, b.at(0.3));
        b.knob.setValue(0.9);
        QCOMPARE(b.knob.value(), 0.9);
    }

    void escTakesTheDragBack() {
        Bench b;
        QTest::mousePress(b.slider(), Qt::LeftButton, {}, b.slider()->thumb().toPoint());
        b.move(b.at(0.3));
        QTest::keyClick(b.slider(), Qt::Key_Escape);
        QCOMPARE(b.knob.value(), 1.0);
        QCOMPARE(b.committed.count(), 1);
        QCOMPARE(b.committed[0][1].toDouble(), 1.0);
        QTest::mouseRelease(b.slider(), Qt::LeftButton, {}, b.at(0.3));
        QCOMPARE(b.committed.count(), 1);
    }

    void settersAreSilent() {
        Bench b;
        b.knob.setValue(0.5);
        b.knob.setDefaultValue(0.5);
        b.knob.setScale({.kind = KnobScale::Kind::Linear, .low = 0, .high = 4});
        QCOMPARE(b.changing.count() + b.committed.count() + b.started.count(), 0);
    }

    void dotAndReset() {
        Bench b;
        QVERIFY(!b.knob.isChanged());
        b.knob.setValue(0.5);
        QVERIFY(b.knob.isChanged());
        auto* reset = b.knob.findChild<GlyphButton*>();
        QVERIFY(reset->isVisible());
        QTest::mouseClick(reset, Qt::LeftButton);
        QCOMPARE(b.reset.count(), 1);
        QCOMPARE(b.knob.value(), 0.5);  // only requested
        b.knob.setValue(1);
        QVERIFY(!b.knob.isChanged());
        QVERIFY(!reset->isVisible());
    }

    void keys() {
        Bench b;
        b.slider()->setFocus();
        QTest::keyClick(b.slider(), Qt::Key_PageDown);
        QCOMPARE(b.knob.value(), 0.1);
        QTest::keyClick(b.slider(), Qt::Key_Home);  // the window's: the first and the newest step
        QTest::keyClick(b.slider(), Qt::Key_End);
        QCOMPARE(b.knob.value(), 0.1);
        QCOMPARE(b.committed.count(), 1);
        QTest::keyClick(b.slider(), Qt::Key_Left);
        QVERIFY(b.knob.value() < 0.1);
        QTest::keyClick(b.slider(), Qt::Key_Right);
        QCOMPARE(b.knob.value(), 0.1);
        QCOMPARE(b.changing.count(), 0);
    }

    void theWheelNeedsFocus() {
        Bench b;
        b.knob.field()->setFocus();
        b.wheel();
        QCOMPARE(b.committed.count(), 0);
        b.slider()->setFocus();
        b.wheel();
        QCOMPARE(b.committed.count(), 1);
        QVERIFY(b.knob.value() > 1);
    }

    void typingBeyondTheSlider() {
        Bench b;
        b.knob.field()->setFocus();
        b.knob.field()->selectAll();
        QTest::keyClicks(b.knob.field(), "3,5");
        QTest::keyClick(b.knob.field(), Qt::Key_Return);
        QCOMPARE(b.knob.value(), 3.5);
        QCOMPARE(b.committed.count(), 1);
        QVERIFY(b.knob.field()->toolTip().contains("slider"));  // warned, not forbidden
        QCOMPARE(b.slider()->thumb().x(), b.slider()->width() - 6.0);
    }

    void rejectedTextIsNotCommitted() {
        Bench b;
        for (const char* text : {"-1", "abc", "nan", "1e999", ""}) {
            b.knob.field()->setFocus();
            b.knob.field()->selectAll();
            QTest::keyClick(b.knob.field(), Qt::Key_Delete);
            QTest::keyClicks(b.knob.field(), QString::fromUtf8(text));
            QVERIFY(b.knob.field()->toolTip().contains(QStringLiteral("Allowed: ≥ 0")));
            QTest::keyClick(b.knob.field(), Qt::Key_Return);
            QCOMPARE(b.knob.field()->text(), QStringLiteral("1"));
            QVERIFY(b.knob.field()->toolTip().isEmpty());
        }
        QCOMPARE(b.committed.count(), 0);
        QCOMPARE(b.knob.value(), 1.0);
    }

    void unfinishedTextSurvivesAFrame() {
        Bench b;
        b.knob.field()->setFocus();
        b.knob.field()->selectAll();
        QTest::keyClicks(b.knob.field(), "0.");
        b.knob.setValue(1);
        QCOMPARE(b.knob.field()->text(), QStringLiteral("0."));
        QTest::keyClick(b.knob.field(), Qt::Key_Escape);
        QCOMPARE(b.knob.field()->text(), QStringLiteral("1"));
    }

    void leavingTheFieldDoesNotRoundTheValue() {
        Bench b;
        b.knob.setValue(0.123456789);
        b.knob.field()->setFocus();
        QTest::keyClick(b.knob.field(), Qt::Key_Return);
        b.slider()->setFocus();
        QCOMPARE(b.knob.value(), 0.123456789);
        QCOMPARE(b.committed.count(), 0);
    }

    /// Small rings, moved apart so that each is seen; the thumb comes with the focus.
    void sweptStopsAreSeparateRings() {
        KnobSlider slider;
        slider.setScale({.kind = KnobScale::Kind::Integer, .low = 0, .high = 100});
        slider.resize(92, slider.sizeHint().height());
        slider.setValue(42);
        slider.setStops({42, 43, 44}, true);
        const QColor inside = themeOf(slider.palette()).background;
        const auto rings = [&] {
            const QImage image = slider.grab().toImage();
            int count = 0;
            bool before = false;
            for (int x = 0; x < image.width(); ++x) {
                const bool now = image.pixelColor(x, image.height() / 2) == inside;
                count += now && !before;
                before = now;
            }
            return count;
        };
        slider.setAutoFillBackground(true);
        QPalette grey;
        grey.setColor(QPalette::Window, QColor(0xf0, 0xf1, 0xf3));
        slider.setPalette(grey);
        QCOMPARE(rings(), 3);
        const QImage without = slider.grab().toImage();
        slider.setStops({42, 43, 44}, false);
        QVERIFY(slider.grab().toImage() != without);  // the thumb lies on them
    }

    void screenReadersGetTheValue() {
        Bench b;
        auto* access = QAccessible::queryAccessibleInterface(b.slider());
        QVERIFY(access);
        QVERIFY(access->role() == QAccessible::Slider);
        QCOMPARE(access->text(QAccessible::Name), QStringLiteral("residual step"));
        QCOMPARE(access->text(QAccessible::Value), QStringLiteral("1"));
        QVERIFY(access->valueInterface());
        access->valueInterface()->setCurrentValue(0.5);
        QCOMPARE(b.committed.count(), 1);
        access->valueInterface()->setCurrentValue(-1);
        QCOMPARE(b.knob.value(), 0.5);
    }

    void choices() {
        ChoiceKnob knob("Scheme", "scheme", {"pre", "post", "peri"}, {"Pre-LN", "Post-LN", "Peri-LN"});
        QSignalSpy committed(&knob, &ChoiceKnob::valueCommitted);
        knob.setDefaultValue("pre");
        knob.setValue("peri");
        QVERIFY(knob.isChanged());
        QCOMPARE(committed.count(), 0);
        QCOMPARE(knob.box()->currentText(), QStringLiteral("Peri-LN"));
        knob.show();
        knob.box()->setFocus();
        QTest::keyClick(knob.box(), Qt::Key_Up);
        QCOMPARE(committed.count(), 1);
        QCOMPARE(committed[0][0].toString(), QStringLiteral("peri"));
        QCOMPARE(committed[0][1].toString(), QStringLiteral("post"));
        knob.setAvailable({"pre", "post"}, QStringLiteral("not here"));
        QCOMPARE(knob.box()->itemData(2, Qt::ToolTipRole).toString(), QStringLiteral("not here"));
        QTest::keyClick(knob.box(), Qt::Key_Down);  // greyed out
        QCOMPARE(knob.value(), QStringLiteral("post"));
        QCOMPARE(committed.count(), 1);
    }
};

NORMSCOPE_WIDGET_TEST(KnobTest)
#include "knob_test.moc"
