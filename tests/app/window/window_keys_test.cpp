// SPDX-License-Identifier: GPL-3.0-or-later
// Keys of the window, whatever has the focus.
#include "app/window/files/files_controller.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/common/banner.h"
#include "widgets/knobs/choice_knob.h"
#include "widgets/knobs/knob.h"
#include "widgets/knobs/knob_panel.h"
#include "widgets/knobs/knob_slider.h"
#include "widgets/knobs/notice_strip.h"
#include "widgets/runs/run_strip.h"
#include "widgets/stack/stack_view.h"
#include "window_bench.h"

#include <QAction>
#include <QComboBox>
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QTextEdit>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

namespace {

/// The help on screen, as plain text; empty if none is shown.
QString shownHelp(const WindowBench& b) {
    const auto* drawer = b.find<QWidget>("helpDrawer");
    if (!drawer || !drawer->isVisible()) return {};
    const auto* text = drawer->findChild<QTextEdit*>();
    return text ? text->toPlainText() : QString();
}

}  // namespace

class WindowKeysTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    /// "?" before any click, and Esc wherever the focus is.
    void theHelpOpensWithoutAClickAndEscapeClosesIt() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        auto* knobs = b.find<widgets::KnobPanel>("knobPanel");
        auto* slider = qobject_cast<widgets::Knob*>(knobs->row("stack.residual_step"))->slider();
        const std::vector<QWidget*> focused{b.window.get(), slider, b.window->views().stack,
                                            b.cell("growth")->plot()};
        for (QWidget* widget : focused) {
            widget->setFocus(Qt::TabFocusReason);
            // The panel with the focus, else the one below the pointer, wherever that is now.
            const widgets::PanelCell* asked = b.window->views().grid->currentCell();
            QTest::keyClick(widget, Qt::Key_Question);
            QVERIFY2(shownHelp(b).contains(asked->panel() == "growth" ? "RMS" : "cross-entropy"),
                     qPrintable(shownHelp(b)));
            QWidget* now = QApplication::focusWidget() ? QApplication::focusWidget() : b.window.get();
            QTest::keyClick(now, Qt::Key_Escape);
            QVERIFY(shownHelp(b).isEmpty());
        }
        // Of the panel that was asked, with the focus in the drawer too.
        Q_EMIT b.cell("training")->helpRequested();
        QVERIFY2(shownHelp(b).contains("cross-entropy"), qPrintable(shownHelp(b)));
        QWidget* text = b.find<QWidget>("helpDrawer")->findChild<QTextEdit*>();
        text->setFocus();
        QTest::keyClick(text, Qt::Key_Escape);
        QVERIFY(shownHelp(b).isEmpty());
    }

    /// Home and End are the first and the newest step; they change no knob that has the focus.
    /// No button has the focus when the window opens: it would take Space for itself.
    void spaceTrainsBeforeAnyClick() {
        WindowBench b;
        b.makeSmall(4);
        QWidget* focused = QApplication::focusWidget();
        QVERIFY(focused && b.window->isAncestorOf(focused));
        QTest::keyClick(focused, Qt::Key_Space);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.run(0).steps.rows() == 4, 20000);
    }

    /// What lies over the panels gives the focus back, not to a chip, which keeps Space for itself.
    void whatIsClosedGivesTheFocusBack() {
        WindowBench b;
        b.makeSmall(4);
        QWidget* focused = QApplication::focusWidget();
        for (const auto& [key, drawer] :
             {std::pair{Qt::Key_T, "runTable"}, std::pair{Qt::Key_K, "claimsDrawer"},
              std::pair{Qt::Key_O, "runsDrawer"}}) {
            QTest::keyClick(focused, key, Qt::ControlModifier | Qt::ShiftModifier);
            auto* shown = b.find<QWidget>(drawer);
            QVERIFY2(shown && shown->isVisible(), drawer);
            QVERIFY2(shown->isAncestorOf(QApplication::focusWidget()), drawer);
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
            QVERIFY2(!shown->isVisible(), drawer);
            QCOMPARE(QApplication::focusWidget(), focused);
        }
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Space);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.run(0).steps.rows() == 4, 20000);
    }

    void homeAndEndShowStepsAndChangeNoKnob() {
        WindowBench b;
        b.makeSmall(4);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        auto* knobs = b.find<widgets::KnobPanel>("knobPanel");
        auto* slider = qobject_cast<widgets::Knob*>(knobs->row("stack.residual_step"))->slider();
        QComboBox* box = qobject_cast<widgets::ChoiceKnob*>(knobs->row("stack.scheme"))->box();
        const Recipe before = b.lab().comparison().runs[0].recipe;
        for (QWidget* widget : {static_cast<QWidget*>(slider), static_cast<QWidget*>(box)}) {
            widget->setFocus(Qt::TabFocusReason);
            QTest::keyClick(widget, Qt::Key_Home);
            QCOMPARE(b.lab().view().step(), qint64(0));
            QTest::keyClick(widget, Qt::Key_End);
            QCOMPARE(b.lab().view().step(), LabView::kNewest);
        }
        QCOMPARE(recipe_json(b.lab().comparison().runs[0].recipe), recipe_json(before));
        QCOMPARE(b.lab().runs().undoStack()->count(), 0);
    }

    void aPausedRunIsShownAsPaused() {
        WindowBench b;
        b.makeSmall(100000);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        QTest::keyClick(b.window.get(), Qt::Key_Space);
        const auto state = [&](std::size_t i) {
            return b.find<widgets::RunStrip>("runStrip")->chips().at(i)->run().state;
        };
        QTRY_COMPARE_WITH_TIMEOUT(state(0), RunState::Running, 20000);
        QTRY_VERIFY_WITH_TIMEOUT(b.run(1).steps.rows() > 2, 20000);
        QTest::keyClick(b.window.get(), Qt::Key_Space);
        QCOMPARE(state(0), RunState::Paused);
        QCOMPARE(state(1), RunState::Paused);
        QTest::keyClick(b.window.get(), Qt::Key_Space);
        QCOMPARE(state(1), RunState::Running);
        b.lab().training().stop();
        QTRY_VERIFY_WITH_TIMEOUT(!b.lab().comparison().anyTraining(), 20000);
    }

    /// Every command of the window has a key or is found by Ctrl+K, and its name is a sentence of its own.
    void everyActionIsReachableByKeyboard() {
        WindowBench b;
        QSet<QString> names, keys;
        for (const QAction* action : b.window->actions()) {
            QVERIFY2(!action->text().isEmpty(), qPrintable(action->shortcut().toString()));
            QVERIFY2(!names.contains(action->text()), qPrintable(action->text()));
            names << action->text();
            for (const QKeySequence& key : action->shortcuts()) {
                QVERIFY2(!keys.contains(key.toString()), qPrintable(action->text() + key.toString()));
                keys << key.toString();
            }
        }
        // Tab walks the window: every control that takes a click takes the focus, or its action has a key.
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        QSet<const QWidget*> walked;
        QWidget* start = b.window->views().stack;
        start->setFocus(Qt::TabFocusReason);
        for (int i = 0; i < 500; ++i) {
            QWidget* now = QApplication::focusWidget();
            if (!now || (walked.contains(now) && now == start)) break;
            walked << now;
            QTest::keyClick(now, Qt::Key_Tab);
        }
        for (const QAbstractButton* button : b.window->findChildren<QAbstractButton*>()) {
            if (!button->isVisible() || !button->isEnabled() ||
                button->inherits("normscope::widgets::NormChip"))
                continue;
            if (button->width() < 2 || button->visibleRegion().isEmpty()) continue;
            QVERIFY2(walked.contains(button),
                     qPrintable(QString::fromLatin1(button->metaObject()->className()) + ' ' +
                                button->objectName() + ' ' + button->text() + ' ' + button->toolTip()));
            QVERIFY2(!button->accessibleName().isEmpty() || !button->text().isEmpty(),
                     qPrintable(button->objectName()));
        }
        // A panel's buttons are shown while the mouse is over it, or while Tab is in its header.
        for (const widgets::PanelCell* cell : b.window->views().grid->visibleCells())
            for (const char* name : {"panelMenu", "panelExport", "panelHelp", "panelExpand"}) {
                const auto* button = cell->findChild<QAbstractButton*>(QLatin1String(name));
                QVERIFY2(walked.contains(button), (cell->panel() + ": no Tab to " + name).c_str());
            }
    }

    /// Ctrl+K finds knobs, panels and presets too.
    void everythingIsFoundByTyping() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        const auto choose = [&](const char* words) {
            QTest::keyClick(b.window.get(), Qt::Key_K, Qt::ControlModifier);
            auto* search = b.find<QWidget>("commandSearch");
            QTest::keyClicks(search->findChild<QLineEdit*>("commandInput"), words);
            QTest::keyClick(search->findChild<QLineEdit*>("commandInput"), Qt::Key_Return);
            QTRY_VERIFY(!b.find<QWidget>("commandSearch"));
            b.window->activateWindow();
            QVERIFY(QTest::qWaitForWindowActive(b.window.get()));
        };
        choose("knob weight decay");
        auto* knobs = b.find<widgets::KnobPanel>("knobPanel");
        QWidget* row = knobs->row("optimizer.weight_decay");
        QVERIFY(!row->visibleRegion().isEmpty() && row->isAncestorOf(QApplication::focusWidget()));
        choose("knob steps");  // not the one whose name is longer
        QVERIFY(knobs->row("steps")->isAncestorOf(QApplication::focusWidget()));
        b.cell("growth")->plot()->setFocus();
        choose("panel tokens");
        QVERIFY(b.cell("tokens") && !b.cell("growth"));
        choose("preset deepnorm");
        QCOMPARE(b.lab().comparison().runs[0].recipe.stack.scheme, Scheme::DeepNorm);
    }

    /// "Text file" asks for the file; until then nothing fails, and training names what it waits for.
    void aTextFileIsAskedFor() {
        WindowBench b;
        b.makeSmall(4);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        auto* knobs = b.find<widgets::KnobPanel>("knobPanel");
        QComboBox* box = qobject_cast<widgets::ChoiceKnob*>(knobs->row("data.source"))->box();
        box->setCurrentIndex(box->findData("text"));
        Q_EMIT box->activated(box->currentIndex());
        auto* dialog = b.find<QFileDialog>("fileDialog");
        QVERIFY(dialog && dialog->isVisible());
        QTest::qWait(200);  // in which no run may be rejected and nothing reported
        const auto& chips = b.find<widgets::RunStrip>("runStrip")->chips();
        for (const auto* chip : chips) QCOMPARE(chip->run().state, RunState::Prepared);
        QVERIFY(b.window->views().banner->message().isEmpty());
        QVERIFY(knobs->notices()->warnings().value(0).startsWith("Choose a text file"));
        b.lab().training().togglePlay();
        QVERIFY2(b.window->views().banner->message().startsWith("Choose a text file"),
                 qPrintable(b.window->views().banner->message()));
        const QString path = b.folder.filePath("text.txt");
        QFile text(path);
        QVERIFY(text.open(QIODevice::WriteOnly));
        for (int i = 0; i < 200; ++i) text.write("the quick brown fox jumps over the lazy dog. ");
        text.close();
        Q_EMIT dialog->fileSelected(path);
        dialog->close();
        QTRY_VERIFY_WITH_TIMEOUT(
            b.lab().view().exact() && b.lab().comparison().runs[1].recipe.stack.vocab == 256, 20000);
        QVERIFY(knobs->notices()->warnings().isEmpty());
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QCOMPARE(b.run(1).outcome.state, RunState::Finished);
    }

    /// Two names of one placement: a notice states that the runs are the same.
    void runsThatAreTheSameAreNamed() {
        WindowBench b;
        b.makeSmall(4);
        b.lab().knobs().commitKey("stack.scheme", "peri");
        b.lab().runs().select(1);
        b.lab().knobs().commitKey("stack.scheme", "sandwich");
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        auto* knobs = b.find<widgets::KnobPanel>("knobPanel");
        QVERIFY2(
            knobs->notices()->warnings().value(0).contains("Sandwich-LN and Peri-LN place the same norms"),
            qPrintable(knobs->notices()->warnings().join('|')));
        b.lab().runs().setLinked(false);
        b.lab().knobs().commitKey("stack.depth", 4);
        QVERIFY(!knobs->notices()->warnings().join('|').contains("the same norms"));
    }

    void aSessionHasAFileName() {
        WindowBench b;
        QCOMPARE(sessionFileName(b.lab()), QString("Pre-LN - Post-LN.h5"));
        for (int i = 0; i < 3; ++i) b.lab().runs().add(b.lab().comparison().selectedRun().recipe);
        QVERIFY2(sessionFileName(b.lab()).endsWith(" - 2 more.h5"), qPrintable(sessionFileName(b.lab())));
        for (const QChar c : sessionFileName(b.lab())) QVERIFY(!QString("/\\:*?\"<>|").contains(c));
    }
};

NORMSCOPE_WIDGET_TEST(WindowKeysTest)
#include "window_keys_test.moc"
