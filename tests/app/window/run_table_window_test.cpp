// SPDX-License-Identifier: GPL-3.0-or-later
// The table of all runs: its lines are those of the runs, in any order; a row selects its run.
#include "app/window/runs/run_table_controller.h"
#include "core/base/nan.h"
#include "program_font.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/runs/run_table.h"
#include "window_bench.h"

#include <QHeaderView>
#include <QTableWidget>
#include <cmath>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;
using widgets::RunTableRow;

namespace {

QStringList column(const QTableWidget& table, int at) {
    QStringList texts;
    for (int row = 0; row < table.rowCount(); ++row) texts << table.item(row, at)->text();
    return texts;
}

}  // namespace

class RunTableWindowTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { test::useProgramFont(); }

    void theRowsAreThoseOfTheRuns() {
        WindowBench b;
        b.makeSmall(30);
        b.lab().training().togglePlay();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.lab().comparison().lastStep() == 29, 60000);
        b.lab().runs().add(b.lab().comparison().runs[0].recipe);
        QTRY_COMPARE(b.lab().comparison().runs.size(), std::size_t{3});
        QTest::keyClick(b.window.get(), Qt::Key_T, Qt::ControlModifier | Qt::ShiftModifier);
        auto* drawer = b.find<widgets::RunTable>("runTable");
        QVERIFY(drawer->isVisible());
        const std::vector<RunTableRow> rows = runTableRows(b.lab());
        QCOMPARE(rows.size(), std::size_t{3});
        for (std::size_t i = 0; i < 2; ++i) {
            const std::vector<double>& losses = *b.run(int(i)).steps.find("loss");
            double sum = 0;
            for (std::size_t k = 10; k < 30; ++k) sum += losses[k];
            QVERIFY(std::abs(rows[i].loss - sum / 20) < 1e-12);
            QCOMPARE(rows[i].steps, std::int64_t{30});
            QVERIFY(rows[i].best <= rows[i].loss && std::isfinite(rows[i].held_out));
            QCOMPARE(rows[i].state, b.run(int(i)).outcome.state);
        }
        QVERIFY(rows[0].differs.contains("scheme pre") && rows[1].differs.contains("scheme post"));
        QCOMPARE(rows[2].steps, std::int64_t{0});
        QVERIFY(std::isnan(rows[2].loss));

        auto* table = drawer->table();
        QCOMPARE(table->rowCount(), 3);
        b.keepScreenshot("run table");
        // By the loss, up and down: the one without comes last.
        for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
            table->sortItems(4, order);
            QVERIFY(column(*table, 4).last().isEmpty());
            const double first = column(*table, 4)[0].toDouble(), second = column(*table, 4)[1].toDouble();
            QCOMPARE(first < second, order == Qt::AscendingOrder);
        }
        // The order is kept as data arrive, and the row that the arrow keys have reached; a row selects its
        // run.
        const QString selected = QString::fromStdString(b.lab().comparison().selectedRun().id);
        drawer->setRows(rows, selected);
        table->setFocus();
        table->setCurrentCell(0, 0);
        QTest::keyClick(table, Qt::Key_Down);
        drawer->setRows(rows, selected);
        QCOMPARE(table->currentRow(), 1);
        drawer->setRows(rows, rows[2].id);
        QCOMPARE(table->item(table->currentRow(), 0)->text(), rows[2].name);
        QVERIFY(column(*table, 4).last().isEmpty());
        const QString name = QString::fromStdString(b.run(0).name);
        const int row = int(column(*table, 0).indexOf(name));
        table->setCurrentCell(row, 0);
        QTest::keyClick(table, Qt::Key_Return);
        QCOMPARE(b.lab().comparison().selected, 0);
        QTest::keyClick(table, Qt::Key_Escape);
        QVERIFY(!drawer->isVisible());
    }

    void theCsvHasNumbersInFullAndQuotes() {
        RunTableRow row;
        row.name = "A, \"B\"";
        row.differs = "scheme pre · Δt 0.2";
        row.state = RunState::Stalled;
        row.steps = 12;
        row.loss = 2.0 / 3;
        row.gradient = 1e-300;
        row.first_event = "step 3: spike";
        row.note = "a\nnote";
        const QByteArray csv = widgets::runTableCsv({row});
        QCOMPARE(csv, QByteArray("run,differs_in,outcome,steps,final_loss,held_out_loss,best_loss,"
                                 "gradient_first_over_last,first_event,note\r\n"
                                 "\"A, \"\"B\"\"\",scheme pre · Δt 0.2,stalled,12,0.66666666666666663,,,"
                                 "1e-300,step 3: spike,a note\r\n"));
    }
};

NORMSCOPE_WIDGET_TEST(RunTableWindowTest)
#include "run_table_window_test.moc"
