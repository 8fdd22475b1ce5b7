// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/complete_run.h"
#include "core/run/probe_costs.h"
#include "core/run/watchpoints.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/common/banner.h"
#include "widgets/dialogs/probe_costs_dialog.h"
#include "widgets/dialogs/watch_dialog.h"
#include "window_bench.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QTableWidget>

using namespace normscope;
using namespace normscope::app;
using namespace normscope::widgets;
using normscope::test::WindowBench;

namespace {

WatchSpec spec(const char* text) {
    return parse_watch(text, "test");
}

std::vector<RunEvent> of_kind(const RunData& run, const char* kind) {
    std::vector<RunEvent> found;
    for (const RunEvent& event : run.events)
        if (event.kind == kind) found.push_back(event);
    return found;
}

widgets::WatchDialog* openWatch(const WindowBench& b) {
    QTest::keyClick(b.window.get(), Qt::Key_W, Qt::ControlModifier | Qt::ShiftModifier);
    auto* dialog = b.find<widgets::WatchDialog>("watchDialog");
    if (!dialog || !QTest::qWaitForWindowActive(dialog)) return nullptr;
    return dialog;
}

template <class Widget>
Widget* part(QDialog* dialog, const char* name) {
    return dialog->findChild<Widget*>(QLatin1String(name));
}

QPushButton* ok(QDialog* dialog) {
    return dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
}

bool paused(const WindowBench& b) {
    return !b.lab().training().playing() && b.lab().comparison().anyTraining();
}

}  // namespace

class WatchWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    /// The default comparison: the gradient of Post-LN vanishes. Set, paused and resumed by keyboard alone.
    void theDefaultPostLnPausesWhereItsGradientVanishes() {
        WindowBench b;
        QTRY_VERIFY_WITH_TIMEOUT(b.measured(), 60000);
        widgets::WatchDialog* dialog = openWatch(b);
        QVERIFY(dialog);
        QVERIFY(part<QLabel>(dialog, "watchNone")->isVisible());
        QTest::keyClick(part<QPushButton>(dialog, "watchAdd"), Qt::Key_Space);
        QVERIFY(!part<QLabel>(dialog, "watchNone")->isVisible());
        QTRY_COMPARE(dialog->focusWidget(), static_cast<QWidget*>(part<QComboBox>(dialog, "watchQuantity0")));
        QTest::keyClick(dialog->focusWidget(), Qt::Key_Down);
        QTest::keyClick(dialog->focusWidget(), Qt::Key_Tab);
        QTest::keyClick(dialog->focusWidget(), Qt::Key_Down);
        QTest::keyClick(dialog->focusWidget(), Qt::Key_Tab);
        QTest::keyClick(dialog->focusWidget(), Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(dialog->focusWidget(), "0.01");
        b.keepScreenshot("watch-dialog", dialog);
        QTest::keyClick(dialog->focusWidget(), Qt::Key_Return);
        const std::vector<WatchSpec> set{spec("grad_ratio < 0.01")};
        for (const LabRun& run : b.lab().comparison().runs) QCOMPARE(run.recipe.watch, set);
        b.lab().runs().undoStack()->undo();
        for (const LabRun& run : b.lab().comparison().runs) QVERIFY(run.recipe.watch.empty());
        b.lab().runs().undoStack()->redo();

        b.window->activateWindow();  // no window manager does it
        QVERIFY(QTest::qWaitForWindowActive(b.window.get()));
        QTest::keyClick(b.window.get(), Qt::Key_Space);
        QVERIFY(b.lab().training().playing());
        QTRY_VERIFY_WITH_TIMEOUT(paused(b), 120000);
        const RunData &pre = b.run(0), &post = b.run(1);
        const auto triggered = of_kind(post, kWatchEvent);
        QCOMPARE(triggered.size(), std::size_t{1});
        QVERIFY(of_kind(pre, kWatchEvent).empty());
        const std::int64_t step = triggered[0].step;
        QVERIFY(step < 30);
        // Both at that step, which is the first one below the value.
        QTRY_COMPARE(post.steps.step.back(), step);
        QCOMPARE(pre.steps.step.back(), step);
        const std::vector<double>& ratio = *post.steps.find("grad_ratio");
        for (std::size_t i = 0; i + 1 < ratio.size(); ++i) QVERIFY(ratio[i] >= 0.01);
        QVERIFY(ratio.back() < 0.01);
        const QString value = QString::number(ratio.back(), 'g', 4);
        QCOMPARE(QString::fromStdString(triggered[0].text), "grad_ratio " + value + " < 0.01");
        QCOMPARE(b.window->views().banner->message(),
                 QString("Paused. Post-LN, step %1: grad_ratio %2 < 0.01").arg(step).arg(value));
        b.keepScreenshot("watch-paused");
        // A pause takes checkpoints, as the one by hand.
        QTRY_VERIFY(!b.lab().comparison().runs[1].checkpoints.empty() &&
                    b.lab().comparison().runs[1].checkpoints.back().step == step + 1);

        QTest::keyClick(b.window.get(), Qt::Key_Space);
        QVERIFY(b.lab().training().playing());
        QTRY_VERIFY_WITH_TIMEOUT(b.run(1).steps.step.back() > step + 3, 60000);
        QVERIFY(b.window->views().banner->message().isEmpty());
        // It stays below: one event, and another for each time that it was above in between.
        const std::shared_ptr<const RunData> now = b.lab().comparison().runs[1].data;
        const std::vector<double>& all = *now->steps.find("grad_ratio");
        std::size_t falls = 0;
        for (std::size_t i = 0; i < all.size(); ++i) falls += all[i] < 0.01 && (i == 0 || all[i - 1] >= 0.01);
        QCOMPARE(of_kind(*now, kWatchEvent).size(), falls);
        b.lab().training().stop();
        QTRY_VERIFY(!b.lab().comparison().anyTraining());
    }

    void aPausedAndResumedRunHasTheBitsOfOneWithout() {
        WindowBench b;
        b.makeSmall(12);
        b.lab().knobs().setWatch({spec("loss > 0"), spec("hidden_rms > 0")});
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(paused(b), 30000);
        QCOMPARE(b.lab().comparison().lastStep(), qint64{0});
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
        ThreadPool pool(1);
        for (const LabRun& run : b.lab().comparison().runs) {
            QCOMPARE(of_kind(*run.data, kWatchEvent).size(), std::size_t{2});
            Recipe recipe = run.recipe;
            recipe.watch.clear();
            const RunData plain = complete_run(recipe, "plain", pool);
            QCOMPARE(run.data->steps.rows(), std::size_t{12});
            for (const char* column : {"loss", "grad_norm", "grad_ratio"})
                QCOMPARE(*run.data->steps.find(column), *plain.steps.find(column));
        }
    }

    /// Also between two runs of which one has ended, and for a run alone.
    void aChangeDuringTrainingRestartsNothing() {
        WindowBench b;
        b.makeSmall(100000);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().comparison().lastStep() > 5, 30000);
        const std::vector<std::string> ids{b.lab().comparison().runs[0].id, b.lab().comparison().runs[1].id};
        b.lab().knobs().setWatch({spec("loss > 0")});
        QVERIFY(!b.lab().comparison().changesPending());
        QTRY_VERIFY_WITH_TIMEOUT(paused(b), 30000);
        for (int i = 0; i < 2; ++i) {
            QCOMPARE(b.lab().comparison().runs[static_cast<std::size_t>(i)].id,
                     ids[static_cast<std::size_t>(i)]);
            QCOMPARE(of_kind(b.run(i), kWatchesEvent).size(), std::size_t{1});
        }
        // The change can arrive between the steps of one round: then the second run alone meets it.
        QVERIFY(of_kind(b.run(0), kWatchEvent).size() <= 1);
        QCOMPARE(of_kind(b.run(1), kWatchEvent).size(), std::size_t{1});
        QCOMPARE(b.run(0).steps.rows(), b.run(1).steps.rows());
        // Undone while paused: it continues, and does not pause.
        const qint64 at = b.lab().comparison().lastStep();
        b.lab().runs().undoStack()->undo();
        QVERIFY(!b.lab().comparison().changesPending());
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().comparison().lastStep() > at + 20, 30000);
        QVERIFY(b.lab().training().playing());
        b.lab().training().stop();
        QTRY_VERIFY(!b.lab().comparison().anyTraining());
        // Of a run that has ended, for its resumption: no new run is asked for.
        b.lab().knobs().setWatch({spec("loss > 1000")});
        QVERIFY(!b.lab().comparison().changesPending());
    }

    void aSingleStepThatTriggersIsShown() {
        WindowBench b;
        b.makeSmall(50);
        b.lab().knobs().setWatch({spec("loss > 0")});
        b.lab().training().singleStep();
        QTRY_VERIFY_WITH_TIMEOUT(b.window->views().banner->message().contains("loss"), 30000);
        QCOMPARE(b.run(0).steps.rows(), std::size_t{1});
        QTRY_COMPARE(b.run(1).steps.rows(), std::size_t{1});
        b.lab().training().stop();
        QTRY_VERIFY(!b.lab().comparison().anyTraining());
    }

    void theDialogNamesWhatIsWrong() {
        WindowBench b;
        b.makeSmall(10);
        b.lab().knobs().setWatch({spec("loss > 2"), spec("non_finite")});
        widgets::WatchDialog* dialog = openWatch(b);
        QVERIFY(dialog);
        QCOMPARE(dialog->watch(), b.lab().comparison().selectedRun().recipe.watch);
        QVERIFY(part<QLineEdit>(dialog, "watchValue0")->isEnabled());
        QVERIFY(!part<QLineEdit>(dialog, "watchValue1")->isEnabled());  // there is nothing to compare with
        QCOMPARE(part<QLineEdit>(dialog, "watchValue0")->accessibleName(), QString("Value of watchpoint 1"));
        part<QLineEdit>(dialog, "watchValue0")->setText("much");
        QVERIFY(!ok(dialog)->isEnabled());
        QVERIFY(part<QLabel>(dialog, "watchProblem")->text().contains("\"much\" is not a number"));
        QTest::keyClick(part<QPushButton>(dialog, "watchRemove0"), Qt::Key_Space);
        QVERIFY(ok(dialog)->isEnabled());
        QVERIFY(part<QLabel>(dialog, "watchProblem")->text().isEmpty());
        QTest::keyClick(ok(dialog), Qt::Key_Space);
        QCOMPARE(b.lab().comparison().selectedRun().recipe.watch, (std::vector{spec("non_finite")}));
    }

    void entropyWithoutItsProbeIsRejectedInOneLine() {
        WindowBench b;
        Recipe recipe = b.lab().comparison().selectedRun().recipe;
        recipe.probes = {{"growth", 0}};
        b.lab().runs().compare({recipe}, "one run");
        b.lab().knobs().setWatch({spec("entropy < 0.1")});
        QVERIFY(b.lab().comparison().selectedRun().recipe.watch.empty());
        QVERIFY(b.window->views().banner->message().contains("measured by the probe attention"));
    }

    void aPresetOfProbesIsChosenWithItsPredictionAndItsTimesAreShown() {
        WindowBench b;
        b.makeSmall(120);
        const auto open = [&] {
            QTest::keyClick(b.window.get(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
            auto* dialog = b.find<ProbeCostsDialog>("probeCosts");
            return dialog && QTest::qWaitForWindowActive(dialog) ? dialog : nullptr;
        };
        ProbeCostsDialog* dialog = open();
        QVERIFY(dialog);
        auto* economy = part<QRadioButton>(dialog, "probes_economy");
        QVERIFY(part<QRadioButton>(dialog, "probes_standard")->isChecked());
        Recipe recipe = b.lab().comparison().selectedRun().recipe;
        recipe.stack.vocab = b.run(0).recipe.get()->stack.vocab;
        complete_without_data(recipe);
        const ProbesShare share = predicted_share(with_probes_of(ProbesPreset::Economy, recipe));
        QVERIFY2(economy->text().contains(percentText(share.first)) &&
                     economy->text().contains(percentText(share.later)),
                 qPrintable(economy->text()));
        QVERIFY(part<QLabel>(dialog, "probesTotal")->text().contains("not begun"));
        economy->setChecked(true);
        QTest::keyClick(ok(dialog), Qt::Key_Space);
        for (const LabRun& run : b.lab().comparison().runs)
            QCOMPARE(run.recipe.probes, probes_of(ProbesPreset::Economy, recipe));
        b.lab().runs().undoStack()->undo();
        QVERIFY(b.lab().comparison().selectedRun().recipe.probes != probes_of(ProbesPreset::Economy, recipe));
        b.lab().runs().undoStack()->redo();

        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        QTRY_VERIFY(!b.find<ProbeCostsDialog>("probeCosts"));  // the first one is deleted
        dialog = open();
        QVERIFY(dialog);
        QVERIFY(part<QRadioButton>(dialog, "probes_economy")->isChecked());
        const LabRun& run = b.lab().comparison().selectedRun();
        const ProbeTimes times = probe_times(*run.data, run.replayed);
        auto* table = part<QTableWidget>(dialog, "probeTimes");
        QCOMPARE(table->rowCount(), static_cast<int>(times.probes.size()));
        QCOMPARE(times.probes.size(), run.recipe.probes.size());
        double ms = 0;
        for (std::size_t i = 0; i < times.probes.size(); ++i) {
            ms += times.probes[i].ms;
            QCOMPARE(table->item(static_cast<int>(i), 1)->text(), QString::number(times.probes[i].samples));
            QCOMPARE(table->item(static_cast<int>(i), 3)->text(),
                     percentText(times.share(times.probes[i].ms)));
        }
        QVERIFY(std::abs(ms - times.probes_ms) <= 0.01 * times.probes_ms);
        QVERIFY(
            part<QLabel>(dialog, "probesTotal")->text().contains(percentText(times.share(times.probes_ms))));
        b.keepScreenshot("probe-costs", dialog);
        dialog->reject();
        // The line that shows the cost opens it too.
        QTRY_VERIFY(!b.find<ProbeCostsDialog>("probeCosts"));
        QTest::mouseClick(b.find<QLabel>("rates"), Qt::LeftButton);
        QVERIFY(b.find<ProbeCostsDialog>("probeCosts"));
        b.find<ProbeCostsDialog>("probeCosts")->reject();
    }
};

NORMSCOPE_WIDGET_TEST(WatchWindowTest)
#include "watch_window_test.moc"
