// SPDX-License-Identifier: GPL-3.0-or-later
// Notes on the comparison and its runs: kept in the session and for the next start, never lost by undo.
#include "app/lab/notes.h"
#include "app/window/appearance_controller.h"
#include "app/window/files/files_controller.h"
#include "app/window/runs/notes_controller.h"
#include "app/window/runs/run_table_controller.h"
#include "app/window/state_controller.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/drawers/notes_drawer.h"
#include "window_bench.h"

#include <QPlainTextEdit>
#include <QSignalSpy>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

class NotesWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

    static const std::string& id(const WindowBench& b, std::size_t i) {
        return b.lab().comparison().runs.at(i).id;
    }
    static QString noteOf(const WindowBench& b, std::size_t i) { return b.lab().notes().ofRun(id(b, i)); }
    static QPlainTextEdit* edit(const WindowBench& b, const char* name) {
        return b.find<QPlainTextEdit>(name);
    }
    static void type(QPlainTextEdit* into, const QString& text) {
        into->setFocus();
        QTest::keyClicks(into, text);
    }
    static void write(WindowBench& b) {
        QTest::keyClick(b.window.get(), Qt::Key_I, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(b.window->notes()->drawer()->isVisible());
        QVERIFY(edit(b, "runNote")->hasFocus());
        type(edit(b, "runNote"), "spike at 40");
        type(edit(b, "comparisonNote"), "for figure 3");
    }
    static void save(WindowBench& b, const QString& path) {
        QSignalSpy saved(&b.lab().session(), &LabSession::saved);
        b.window->files()->saveSession(path);
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20000);
    }
    static void open(WindowBench& b, const QString& path) {
        QSignalSpy opened(&b.lab().session(), &LabSession::opened);
        b.window->files()->openSession(path);
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
    }

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void eachRunHasItsOwn() {
        WindowBench b;
        b.makeSmall(6);
        write(b);
        QCOMPARE(noteOf(b, 0), QString("spike at 40"));
        QCOMPARE(noteOf(b, 1), QString());
        QCOMPARE(b.lab().notes().ofComparison(), QString("for figure 3"));
        b.lab().runs().select(1);
        QTRY_COMPARE(edit(b, "runNote")->toPlainText(), QString());
        type(edit(b, "runNote"), "as expected");
        b.lab().runs().select(0);
        QTRY_COMPARE(edit(b, "runNote")->toPlainText(), QString("spike at 40"));
        QCOMPARE(noteOf(b, 1), QString("as expected"));
        QCOMPARE(runTableRows(b.lab())[0].note, QString("spike at 40"));
        // Keys of the window are letters here; Esc closes the notes, and nothing else has happened.
        QVERIFY(!b.lab().training().playing());
        QCOMPARE(b.lab().comparison().runs.size(), std::size_t(2));
        QTest::keyClick(edit(b, "runNote"), Qt::Key_Escape);
        QVERIFY(!b.window->notes()->drawer()->isVisible());
    }

    /// An edit that is undone, a run that is removed and comes back, a new comparison that is undone.
    void undoLeavesThem() {
        WindowBench b;
        b.makeSmall(6);
        b.lab().knobs().commitKey("stack.residual_step", 0.5);
        write(b);
        b.lab().runs().undoStack()->undo();
        QCOMPARE(noteOf(b, 0), QString("spike at 40"));
        b.lab().runs().remove(0);
        QCOMPARE(b.lab().notes().ofRuns().size(), std::size_t(0));
        b.lab().runs().undoStack()->undo();
        QCOMPARE(noteOf(b, 0), QString("spike at 40"));
        b.lab().session().startOver();
        QCOMPARE(b.lab().notes().ofComparison(), QString());
        QCOMPARE(noteOf(b, 0), QString());
        b.lab().runs().undoStack()->undo();
        QCOMPARE(b.lab().notes().ofComparison(), QString("for figure 3"));
        QCOMPARE(noteOf(b, 0), QString("spike at 40"));
    }

    void aSessionHasThem() {
        WindowBench b;
        b.makeSmall(6);
        const QString path = b.folder.filePath("a.h5"), other = b.folder.filePath("b.h5");
        save(b, other);
        QVERIFY(!b.lab().session().unsaved());
        write(b);
        QVERIFY(b.lab().session().unsaved());
        save(b, path);
        QVERIFY(!b.lab().session().unsaved());
        open(b, other);  // with the same ids
        QCOMPARE(b.lab().notes().ofComparison(), QString());
        QCOMPARE(noteOf(b, 0), QString());
        open(b, path);
        QCOMPARE(b.lab().notes().ofComparison(), QString("for figure 3"));
        QCOMPARE(noteOf(b, 0), QString("spike at 40"));
        QVERIFY(!b.lab().session().unsaved());
    }

    /// A note that is written while the file is: the session is not saved yet.
    void whatIsWrittenWhileItIsSavedIsNotSaved() {
        WindowBench b;
        b.makeSmall(6);
        QSignalSpy saved(&b.lab().session(), &LabSession::saved);
        b.window->files()->saveSession(b.folder.filePath("a.h5"));
        b.lab().notes().setOfComparison("late");
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, 20000);
        QVERIFY(b.lab().session().unsaved());
    }

    void theNextStartHasThem() {
        WindowBench b;
        b.window->state()->start(true);
        b.makeSmall(6);
        write(b);
        b.window->close();
        b.window.reset();
        b.open();
        QSignalSpy restored(&b.lab().session(), &LabSession::restored);
        b.window->state()->start(false);
        QTRY_COMPARE_WITH_TIMEOUT(restored.count(), 1, 20000);
        QTRY_COMPARE(b.lab().notes().ofComparison(), QString("for figure 3"));
        QCOMPARE(noteOf(b, 0), QString("spike at 40"));
    }

    /// Light or dark is the reader's choice, not that of who saved the session.
    void aSessionLeavesTheTheme() {
        WindowBench b;
        b.makeSmall(6);
        b.window->appearance()->setDark(false);
        const QString path = b.folder.filePath("a.h5");
        save(b, path);
        b.window->appearance()->setDark(true);
        open(b, path);
        QVERIFY(b.window->appearance()->isDark());
    }
};

NORMSCOPE_WIDGET_TEST(NotesWindowTest)
#include "notes_window_test.moc"
