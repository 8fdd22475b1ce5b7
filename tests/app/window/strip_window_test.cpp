// SPDX-License-Identifier: GPL-3.0-or-later
// The top strip and the transport in the window: what is compared, the menu, where both bars are divided.
#include "app/window/commands.h"
#include "app/window/files/files_controller.h"
#include "app/window/runs/runs_controller.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/plots/glyph.h"
#include "widgets/runs/bar_button.h"
#include "widgets/runs/comparison_title.h"
#include "widgets/runs/run_strip.h"
#include "widgets/runs/transport_bar.h"
#include "window_bench.h"

#include <QAction>
#include <QInputDialog>
#include <QLabel>
#include <QMenu>
#include <QSignalSpy>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

class StripWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

    static QString text(const WindowBench& b, const char* label) { return b.find<QLabel>(label)->text(); }

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void theComparisonAndItsFileAreNamed() {
        WindowBench b;
        b.makeSmall(4);
        QCOMPARE(comparisonNames(b.lab()), (QStringList{"Pre-LN | Post-LN", "2 runs"}));
        QVERIFY(comparisonNames(b.lab()).contains(text(b, "comparisonName")));
        b.lab().runs().addSeeds(2);
        QCOMPARE(comparisonNames(b.lab()),
                 (QStringList{"Pre-LN ×3 | Post-LN ×3", "2 groups of 3 runs", "6 runs"}));
        QCOMPARE(text(b, "savedState"), QStringLiteral("not saved"));
        QSignalSpy saved(&b.lab().session(), &LabSession::saved);
        b.window->files()->saveSession(b.folder.filePath("mine.h5"));
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20000);
        QCOMPARE(text(b, "savedState"), QStringLiteral("saved"));
        QCOMPARE(text(b, "comparisonName"), QStringLiteral("mine.h5"));
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        QCOMPARE(text(b, "savedState"), QStringLiteral("not saved"));
    }

    void undoAndRedoAreButtons() {
        WindowBench b;
        b.makeSmall(4);
        auto* undo = b.find<widgets::GlyphButton>("undoButton");
        QVERIFY(!undo->isEnabled());
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        QVERIFY(undo->isEnabled());
        QVERIFY2(undo->toolTip().contains("0.5") && undo->toolTip().endsWith("(Ctrl+Z)"),
                 qPrintable(undo->toolTip()));
        QTest::mouseClick(undo, Qt::LeftButton);
        QCOMPARE(b.lab().comparison().selectedRun().recipe.stack.residual_step, 1.0);
        QTest::mouseClick(b.find<widgets::GlyphButton>("redoButton"), Qt::LeftButton);
        QCOMPARE(b.lab().comparison().selectedRun().recipe.stack.residual_step, 0.5);
    }

    /// Everything but what the menus of sweeps and of a story's strip have.
    void theMenuHasTheWindowsActions() {
        WindowBench b;
        QSet<const QAction*> listed;
        const auto parts = b.find<QMenu>("windowMenu")->actions();
        QVERIFY(parts.size() > 4);
        for (QAction* part : parts) {
            listed << part;
            if (!part->menu()) continue;
            Q_EMIT part->menu()->aboutToShow();
            for (const QAction* action : part->menu()->actions()) listed << action;
        }
        const Commands& commands = b.window->commands();
        QSet<const QAction*> elsewhere;
        for (int i = 0; i < static_cast<int>(Command::kCount); ++i) {
            const auto command = static_cast<Command>(i);
            const CommandGroup group = commands.group(command);
            if (group == CommandGroup::SweepMenu || group == CommandGroup::NoMenu)
                elsewhere << commands[command];
            else
                QVERIFY2(listed.contains(commands[command]), qPrintable(commands[command]->text()));
        }
        // The recent files, which are no commands, too.
        for (const QAction* action : b.window->actions())
            QVERIFY2(listed.contains(action) != elsewhere.contains(action), qPrintable(action->text()));
    }

    void bothBarsAreDividedLikeTheWindow() {
        WindowBench b;
        for (const auto& [width, left] : {std::pair{1440, 280}, std::pair{1920, 320}}) {
            b.window->resize(width, width == 1440 ? 900 : 1080);
            const auto* strip = b.find<widgets::RunStrip>("runStrip");
            QTRY_COMPARE(strip->title()->width(), left);
            QTRY_COMPARE(b.find<widgets::TransportBar>("transportBar")->scrubber()->x(), left);
            QTRY_COMPARE(strip->chips()[0]->mapTo(b.window.get(), QPoint(0, 0)).x(), left + 12);
            QCOMPARE(strip->height(), 44);
        }
    }

    void aButtonForksTheSelectedRun() {
        WindowBench b;
        b.makeSmall(8);
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 20000);
        auto* fork = b.find<widgets::BarButton>("forkHere");
        QVERIFY(!fork->isEnabled());
        QVERIFY2(fork->toolTip().contains("is not trained yet"), qPrintable(fork->toolTip()));
        QCOMPARE(b.find<widgets::BarButton>("playButton")->text(), QStringLiteral("Train"));
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QTRY_VERIFY(fork->isEnabled());
        // The run has ended at its last step: it asks for how many more.
        QTest::mouseClick(fork, Qt::LeftButton);
        auto* question = b.window->findChild<QInputDialog*>();
        QVERIFY(question && question->isVisible());
        QCOMPARE(question->intValue(), 8);
        QVERIFY2(question->labelText().contains("after 8 steps"), qPrintable(question->labelText()));
        b.keepScreenshot("fork-at-the-end");
        question->setIntValue(3);
        question->accept();
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), 3u, 20000);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 20000);
        QCOMPARE(b.run(2).steps.rows(), 11u);
        // At another step there is nothing to ask, and none of it is a second fork.
        b.lab().view().setStep(4);
        QTest::mouseClick(fork, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), 4u, 20000);
        QVERIFY(b.run(3).name.find("fork at 4") != std::string::npos);
    }
};

NORMSCOPE_WIDGET_TEST(StripWindowTest)
#include "strip_window_test.moc"
