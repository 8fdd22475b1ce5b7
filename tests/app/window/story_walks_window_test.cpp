// SPDX-License-Identifier: GPL-3.0-or-later
// Each story to its end, by the keyboard, in the window.
#include "app/window/runs/story_controller.h"
#include "core/recipe/presets.h"
#include "program_font.h"
#include "tests/support/test_main.h"
#include "widgets/common/pulse.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/presentation/presentation.h"
#include "widgets/story/story_strip.h"
#include "window_bench.h"

#include <QLabel>
#include <QToolButton>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;
using widgets::KnobSlider;

class StoryWalksWindowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::useProgramFont(); }

    /// Page by page by the keyboard, in presentation mode: what is asked for pulses, and what is expected
    /// holds.
    void aStoryIsWalkedByKeyboard() {
        WindowBench b;
        b.window->stories()->tell(QStringLiteral("turn-it-down"));
        QTest::keyClick(b.window.get(), Qt::Key_F11);
        widgets::StoryStrip* strip = b.window->views().story;
        widgets::PresentationFoot* foot = b.window->views().presentation->foot();
        const auto* pulse = b.find<widgets::Pulse>("storyPulse");
        const auto expectation = [&] { return b.find<QLabel>("storyExpectation")->text(); };
        const auto key = [&](Qt::Key k) {
            QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : b.window.get(), k);
        };
        QVERIFY(strip->isVisible());
        QVERIFY(!pulse->isVisible());
        const int height = strip->height();

        key(Qt::Key_PageDown);  // train, until step 40
        QCOMPARE(strip->at(), 1u);
        QTRY_VERIFY(pulse->isVisible());
        QCOMPARE(pulse->target(), foot->train());
        QTRY_VERIFY(expectation().endsWith("Not yet."));
        key(Qt::Key_Space);
        QVERIFY(b.lab().training().playing());
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab().training().playing(), 120000);
        QVERIFY2(b.lab().comparison().lastStep() >= 39 && b.lab().comparison().lastStep() < 60,
                 qPrintable(QString::number(b.lab().comparison().lastStep())));
        QTRY_VERIFY2(expectation().endsWith("Holds here."), qPrintable(expectation()));
        QVERIFY(!pulse->isVisible());

        key(Qt::Key_PageDown);  // Δt of the second run, then train on
        KnobSlider* slider = foot->slider("stack.residual_step");
        QTRY_COMPARE(pulse->target(), slider);
        QVERIFY(!b.lab().comparison().linked);
        QCOMPARE(b.lab().comparison().selected, 1);
        while (QApplication::focusWidget() != slider) key(Qt::Key_Tab);
        for (int i = 0; i < 100 && slider->value() > 0.205; ++i) key(Qt::Key_Left);
        QCOMPARE(b.lab().comparison().runs[0].recipe.stack.residual_step, 1.0);
        QCOMPARE(b.lab().comparison().runs[1].live.stack.residual_step, slider->value());
        QTRY_COMPARE(pulse->target(), foot->train());
        QTRY_VERIFY(expectation().endsWith("Not yet."));
        key(Qt::Key_Space);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 200000);
        QTRY_VERIFY2(expectation().endsWith("Holds here."), qPrintable(expectation()));
        QVERIFY(b.find<QLabel>("storyExpectation")->toolTip().contains("gradient_ratio"));

        key(Qt::Key_PageUp);  // still true of the data
        QTRY_VERIFY(expectation().endsWith("Holds here."));
        key(Qt::Key_PageDown);
        key(Qt::Key_PageDown);
        QTRY_VERIFY2(expectation().endsWith("Holds here."), qPrintable(expectation()));
        b.keepScreenshot("story end");
        key(Qt::Key_PageDown);
        QCOMPARE(strip->at(), strip->story()->steps.size() - 1);
        QVERIFY(!strip->findChild<QToolButton*>("storyNext")->isEnabled());
        QCOMPARE(strip->height(), height);  // the plot stayed where it was
        key(Qt::Key_Escape);
        QVERIFY(strip->isVisible());
        QVERIFY(!b.window->views().presentation->isOn());
        QCOMPARE(b.lab().comparison().runs.size(), 2u);
    }

    /// The others as well: on every page do what it asks for, and what it expects holds.
    void theOtherStoriesAreWalkedByKeyboard_data() {
        QTest::addColumn<QString>("name");
        for (const Preset& story : stories())
            if (story.name != std::string("turn-it-down")) QTest::newRow(story.name) << QString(story.name);
    }
    void theOtherStoriesAreWalkedByKeyboard() {
        QFETCH(QString, name);
        WindowBench b;
        QTest::keyClick(b.window.get(), Qt::Key_F11);
        b.window->stories()->tell(name);
        const widgets::StoryStrip* strip = b.window->views().story;
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().view().exact(), 20000);
        const auto key = [&](Qt::Key k) {
            QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : b.window.get(), k);
        };
        int trained = 0;
        for (std::size_t page = 0; page < strip->story()->steps.size(); ++page) {
            if (page > 0) key(Qt::Key_PageDown);
            QCOMPARE(strip->at(), page);
            const StoryStep& step = strip->story()->steps[page];
            for (const StoryAction& action : step.actions) {
                if (action.kind == StoryAction::Kind::Train) {
                    key(Qt::Key_Space);
                    QVERIFY(b.lab().training().playing());
                    QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 900000);
                    ++trained;
                    continue;
                }
                KnobSlider* slider =
                    b.window->views().presentation->foot()->slider(QString::fromStdString(action.key));
                while (QApplication::focusWidget() != slider) key(Qt::Key_Tab);
                while (slider->value() > 1.02 * action.to) key(Qt::Key_Left);
            }
            const auto* expectation = b.find<QLabel>("storyExpectation");
            if (step.holds.empty())
                QVERIFY(!expectation->isVisible());
            else
                QTRY_VERIFY2(expectation->text().endsWith("Holds here."), qPrintable(expectation->toolTip()));
            // A page about a step shows that step.
            if (step.step && b.lab().comparison().lastStep() >= *step.step)
                QCOMPARE(b.lab().view().step(), qint64(*step.step));
            b.keepScreenshot(QString("%1 %2").arg(name).arg(page + 1));
        }
        QVERIFY(trained >= 1);
    }
};

NORMSCOPE_WIDGET_TEST(StoryWalksWindowTest)
#include "story_walks_window_test.moc"
