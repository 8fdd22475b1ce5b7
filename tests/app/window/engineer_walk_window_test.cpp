// SPDX-License-Identifier: GPL-3.0-or-later
// An engineer whose run has failed, without a mouse: why, the plot that shows it, a remedy, and what came of
// it.
#include "remedies_bench.h"
#include "tests/support/test_main.h"
#include "widgets/dialogs/command_search.h"
#include "widgets/findings/why_box.h"

#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

namespace {

QWidget* focused(const WindowBench& b) {
    return QApplication::focusWidget() ? QApplication::focusWidget() : b.window.get();
}
void key(const WindowBench& b, Qt::Key k, Qt::KeyboardModifiers with = {}) {
    QTest::keyClick(focused(b), k, with);
}
/// Tab until a button of this object name has the focus.
void tabTo(const WindowBench& b, const char* name) {
    for (int i = 0; i < 20 && focused(b)->objectName() != QLatin1String(name); ++i) key(b, Qt::Key_Tab);
    QCOMPARE(focused(b)->objectName(), QLatin1String(name));
}
/// Ctrl+K, these words, Enter; the entry that ran.
QString find(const WindowBench& b, const QString& words) {
    key(b, Qt::Key_K, Qt::ControlModifier);
    auto* search = b.find<widgets::CommandSearch>("commandSearch");
    QTest::keyClicks(search->findChild<QLineEdit*>("commandInput"), words);
    const QString first = search->findChild<QListWidget*>("commandList")->item(0)->text();
    QTest::keyClick(search->findChild<QLineEdit*>("commandInput"), Qt::Key_Return);
    return first;
}

}  // namespace

class EngineerWalkWindowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void fromTheFailureToItsRemedy() {
        WindowBench b;
        b.lab().knobs().commitKey("optimizer.lr", 0.01);
        b.lab().knobs().commitKey("optimizer.clip",
                                  1e-9);  // the run that was given: gradients of almost nothing
        b.makeSmall(40);
        key(b, Qt::Key_W);
        auto* why = b.window->findChild<widgets::WhyBox*>();
        QVERIFY(!why->isVisible());  // nothing has failed yet, and a line states it

        key(b, Qt::Key_Space);
        QVERIFY(b.lab().training().playing());
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QCOMPARE(b.run(0).outcome.state, RunState::Stalled);
        test::drafted(b);

        // Why, and the plot of the first statement.
        key(b, Qt::Key_W);
        QTRY_VERIFY(why->isVisible());
        QVERIFY2(why->text().contains("the loss stayed at"), qPrintable(why->text()));
        tabTo(b, "whyPlot");
        key(b, Qt::Key_Space);
        QVERIFY(!why->isVisible());
        QVERIFY(b.cell("training"));
        QVERIFY(!b.lab().training().playing());  // Space pressed the button, and nothing else
        key(b, Qt::Key_W);
        QTRY_VERIFY(why->isVisible());
        key(b, Qt::Key_Escape);
        QVERIFY(!why->isVisible());

        // A remedy by its name.
        const RemedyTrials& trials = *b.lab().remedies().trials();
        QVERIFY(!trials.shown().empty());
        const QString name = QString::fromStdString(trials.remedies[trials.shown().front()].name);
        const std::size_t before = b.lab().comparison().runs.size();
        const QString entry = find(b, "remedy: " + name);
        QVERIFY2(entry.startsWith("Remedy: " + name), qPrintable(entry));
        QTRY_COMPARE(b.lab().comparison().runs.size(), before + 1);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QCOMPARE(b.lab().comparison().runs.back().data->steps.rows(), std::size_t{40});

        // On the main button, which trains all of them further; and back.
        key(b, Qt::Key_Space);
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().comparison().anyTraining(), 20000);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QCOMPARE(b.lab().comparison().runs.back().data->steps.rows(), std::size_t{80});
        key(b, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(b.lab().comparison().runs.back().data->steps.rows(), std::size_t{80});
    }
};

NORMSCOPE_WIDGET_TEST(EngineerWalkWindowTest)
#include "engineer_walk_window_test.moc"
