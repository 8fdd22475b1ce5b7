// SPDX-License-Identifier: GPL-3.0-or-later
// Knobs of runs that differ: a field a run, each of which changes its own run alone.
#include "app/window/appearance_controller.h"
#include "app/window/studies/sweep_controller.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/knobs/choice_knob.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/knobs/number_field.h"
#include "window_bench.h"

#include <QLabel>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

namespace {

template <class Row>
Row* row(const WindowBench& b, const char* key) {
    return qobject_cast<Row*>(b.find<widgets::KnobPanel>("knobPanel")->row(QLatin1String(key)));
}

void type(QLineEdit* field, const char* text) {
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, text);
    QTest::keyClick(field, Qt::Key_Return);
}

Scheme scheme(const WindowBench& b, std::size_t run) {
    return b.lab().comparison().runs[run].recipe.stack.scheme;
}

double step(const WindowBench& b, std::size_t run) {
    return b.lab().comparison().runs[run].recipe.stack.residual_step;
}

bool headerShows(const WindowBench& b, const QString& text) {
    for (const QLabel* label : b.find<widgets::KnobPanel>("knobPanel")->findChildren<QLabel*>())
        if (label->isVisible() && label->text() == text) return true;
    return false;
}

}  // namespace

class KnobFieldsWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void anEnteredValueIsUndoneByTheWindow() {
        WindowBench b;
        b.makeSmall(4);
        widgets::NumberField* field = row<widgets::Knob>(b, "stack.residual_step")->field();
        type(field, "0.5");
        type(field, "0.25");
        for (const double before : {0.5, 1.0}) {
            QTest::keyClick(field, Qt::Key_Z, Qt::ControlModifier);
            QVERIFY(field->hasFocus());
            QCOMPARE(step(b, 0), before);
        }
        // While something is typed the undo is the field's.
        QTest::keyClicks(field, "7");
        QTest::keyClick(field, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(field->text(), QString("1"));
        QCOMPARE(step(b, 0), 1.0);
    }

    void eachSchemeIsItsRunsOwn() {
        WindowBench b;
        b.makeSmall(4);
        auto* knob = row<widgets::ChoiceKnob>(b, "stack.scheme");
        widgets::ChoiceBox* second = knob->boxes()[1];
        QVERIFY(knob->boxes()[0]->isVisible() && second->isVisible());
        QCOMPARE(second->currentText(), QString("Post-LN"));
        b.keepScreenshot("fields");
        second->setFocus();
        // Past the word of the other run, which stays as it is.
        const Scheme first = scheme(b, 0);
        for (const Scheme next : {Scheme::Pre, Scheme::Peri}) {
            QTest::keyClick(second, Qt::Key_Down);
            QCOMPARE(scheme(b, 1), next);
            QCOMPARE(scheme(b, 0), first);
            QVERIFY(second->hasFocus());
        }
        QCOMPARE(b.lab().comparison().selected, 1);
        QTest::keyClick(b.window.get(), Qt::Key_Z, Qt::ControlModifier);
        QTest::keyClick(b.window.get(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(scheme(b, 1), Scheme::Post);
    }

    /// Although the runs are linked: they differ in this key.
    void eachNumberIsItsRunsOwn() {
        WindowBench b;
        b.makeSmall(4);
        QVERIFY(headerShows(b, "linked, both runs"));
        b.lab().runs().setLinked(false);
        QVERIFY(headerShows(b, "Pre-LN only"));
        b.lab().runs().select(1);
        QVERIFY(headerShows(b, "Post-LN only"));
        b.lab().knobs().commitKey("stack.residual_step", 0.2);
        b.lab().runs().setLinked(true);
        auto* knob = row<widgets::Knob>(b, "stack.residual_step");
        const auto [first, second] = knob->fields();
        QVERIFY(first->isVisible() && second->isVisible());
        QCOMPARE(second->text(), QString("0.2"));
        QCOMPARE(knob->slider()->value(), 0.2);
        type(first, "0.5");
        QCOMPARE(step(b, 0), 0.5);
        QCOMPARE(step(b, 1), 0.2);
        QCOMPARE(b.lab().comparison().selected, 0);
        QCOMPARE(knob->slider()->value(), 0.5);
        b.keepScreenshot("two-numbers");
        b.window->appearance()->setDark(true);
        b.keepScreenshot("two-numbers-dark");
        b.window->appearance()->setDark(false);
        QTest::keyClick(b.window.get(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(step(b, 0), 1.0);
        // Once they agree, there is one field, of both.
        type(second, "1");
        QVERIFY(!second->isVisible());
        type(first, "0.7");
        QCOMPARE(step(b, 0), 0.7);
        QCOMPARE(step(b, 1), 0.7);
    }

    void theSeedsOfGroupsAreStops() {
        WindowBench b;
        b.makeSmall(4);
        b.lab().runs().addSeeds(2);
        QVERIFY(headerShows(b, "linked, 6 runs"));
        auto* seed = row<widgets::Knob>(b, "seed");
        QCOMPARE(seed->field()->text(), QString("42 – 44"));
        QCOMPARE(seed->slider()->stops(), std::vector<double>({42, 43, 44}));
        const auto [first, second] = row<widgets::ChoiceKnob>(b, "stack.scheme")->boxes();
        QVERIFY(first->isVisible() && second->isVisible());
        b.keepScreenshot("seeds");
        // The second group's scheme, of all its seeds.
        second->setFocus();
        QTest::keyClick(second, Qt::Key_Up);
        for (std::size_t i = 0; i < 6; ++i) QCOMPARE(scheme(b, i), i < 3 ? Scheme::Pre : Scheme::None);
    }

    void overTheMapOfASweepTheyAreTheNextOnes() {
        WindowBench b;
        b.makeSmall(4);
        b.window->sweeps()->show(true);
        QVERIFY(headerShows(b, "base of the next sweep"));
        b.window->sweeps()->show(false);
        QVERIFY(headerShows(b, "linked, both runs"));
    }
};

NORMSCOPE_WIDGET_TEST(KnobFieldsWindowTest)
#include "knob_fields_window_test.moc"
