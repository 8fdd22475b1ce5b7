// SPDX-License-Identifier: GPL-3.0-or-later
// What limits a step: the drawer has what count_step() finds of the selected run, follows the run and the
// card, and drops what arrives late.
#include "app/lab/studies/step_counter.h"
#include "app/window/runs/step_cost_controller.h"
#include "program_font.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/runs/step_cost_drawer.h"
#include "window_bench.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableWidget>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

class StepCostWindowTest : public QObject {
    Q_OBJECT

    static void toggle(WindowBench& b) {
        QTest::keyClick(b.window.get(), Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
    }
    static QStringList column(const QTableWidget& table, int at) {
        QStringList texts;
        for (int row = 0; row < table.rowCount(); ++row) texts << table.item(row, at)->text();
        return texts;
    }

  private Q_SLOTS:
    void initTestCase() { test::useProgramFont(); }

    void theDrawerHasTheCountOfTheRun() {
        test::WarningsFail warnings;
        WindowBench b;
        b.makeSmall(30);
        toggle(b);
        auto* drawer = b.find<widgets::StepCostDrawer>("stepCostDrawer");
        auto* table = b.find<QTableWidget>("stepCostTable");
        auto* totals = b.find<QLabel>("stepCostTotals");
        auto* time = b.find<QLabel>("stepCostTime");
        QVERIFY(drawer->isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(table->rowCount() > 10, 20000);
        const auto expect = [&](const char* card) {
            const LabRun& run = b.lab().comparison().selectedRun();
            const StepCount count = count_step(run.recipe, card_named(card));
            QStringList names, calls;
            for (const CountedOperation& o : count.operations) {
                names << QString::fromStdString(o.name);
                calls << QString::number(o.calls);
            }
            QTRY_COMPARE_WITH_TIMEOUT(column(*table, 0), names, 20000);
            QCOMPARE(column(*table, 1), calls);
            QCOMPARE(totals->text(), QString::fromStdString(run.data->name + ": " + totals_text(count)));
            QString expected = QString::fromStdString(time_text(count, run.recipe.train, run.recipe.stack));
            QCOMPARE(time->text(), expected.replace(QStringLiteral(" %"), QStringLiteral("\u00a0%")));
        };
        expect("h100");
        b.keepScreenshot("step-cost");

        auto* cards = b.find<QComboBox>("stepCostCard");
        cards->setCurrentIndex(3);
        Q_EMIT cards->activated(3);
        QTRY_VERIFY_WITH_TIMEOUT(table->rowCount() > 10, 20000);
        expect("rtx4090");
        QTest::mouseClick(b.find<QPushButton>("stepCostCopy"), Qt::LeftButton);
        const QString copied = QGuiApplication::clipboard()->text();
        QVERIFY2(
            copied.startsWith("NVIDIA GeForce RTX 4090\n" + totals->text()) && copied.contains("\ngemm\t"),
            qPrintable(copied));

        // The other run of the comparison has another scheme.
        const QString before = totals->text();
        b.lab().runs().select(1 - b.lab().comparison().selected);
        QTRY_VERIFY_WITH_TIMEOUT(totals->text() != before && table->rowCount() > 10, 20000);
        expect("rtx4090");
        // Closed before the reply: nothing is filled in later.
        cards->setCurrentIndex(0);
        Q_EMIT cards->activated(0);
        toggle(b);
        QVERIFY(!drawer->isVisible());
        QTest::qWait(500);
        QCOMPARE(table->rowCount(), 0);
        toggle(b);
        QTRY_VERIFY_WITH_TIMEOUT(table->rowCount() > 10, 20000);
        expect("h100");
        warnings.check();
    }

    /// The latest request alone is answered; a stack that cannot be drawn is one line; after cancel() nothing
    /// comes.
    void requestsAndReplies() {
        Recipe recipe = read_recipe("pre-ln", {"stack.depth=2"}), huge = recipe;
        complete(recipe.stack, 27);
        huge.stack.d_model = 1 << 17;
        huge.stack.depth = 90;
        complete(huge.stack, 27);
        StepCounter counter;
        QSignalSpy counted(&counter, &StepCounter::counted), failed(&counter, &StepCounter::failed);
        quint64 last = 0;
        for (int i = 0; i < 20; ++i) last = counter.request(recipe, "h100");
        QTRY_COMPARE_WITH_TIMEOUT(counted.size(), 1, 20000);
        QCOMPARE(counted[0][0].toULongLong(), last);
        const quint64 too_large = counter.request(huge, "h100");
        QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 1, 20000);
        QCOMPARE(failed[0][0].toULongLong(), too_large);
        QVERIFY2(failed[0][1].toString().contains("GiB to be drawn"), qPrintable(failed[0][1].toString()));
        counter.request(recipe, "h100");
        counter.cancel();
        QTest::qWait(500);
        QCOMPARE(counted.size(), 1);
        QCOMPARE(failed.size(), 1);
        counter.request(recipe, "no card");
        QTRY_COMPARE_WITH_TIMEOUT(failed.size(), 2, 20000);
        {
            StepCounter ended_at_once;
            ended_at_once.request(recipe, "h100");
        }
    }
};

NORMSCOPE_WIDGET_TEST(StepCostWindowTest)
#include "step_cost_window_test.moc"
