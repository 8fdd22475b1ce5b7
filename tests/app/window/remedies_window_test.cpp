// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/number_text.h"
#include "core/recipe/hot_knobs.h"
#include "core/run/complete_run.h"
#include "remedies_bench.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/findings/remedy_button.h"
#include "widgets/findings/remedy_table.h"

#include <QLabel>
#include <QToolButton>
#include <algorithm>

using namespace normscope;
using namespace normscope::app;
using normscope::test::box;
using normscope::test::buttonsFollowed;
using normscope::test::drafted;
using normscope::test::WindowBench;

namespace {

/// Both runs small and with gradients clipped to almost nothing.
void fail(WindowBench& b, int steps = 40, const char* watch = nullptr) {
    b.lab().knobs().commitKey("optimizer.lr", 0.01);
    b.lab().knobs().commitKey("optimizer.clip", 1e-9);
    b.makeSmall(steps);
    if (watch) b.lab().knobs().setWatch({parse_watch(watch, "watch")});
    b.lab().training().play();
    QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
    QCOMPARE(b.run(0).outcome.state, RunState::Stalled);
}

}  // namespace

class RemediesWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void aFailedRunHasItsHeadlineAndUnrankedDrafts() {
        WindowBench b;
        auto* band = b.find<widgets::FindingsBand>("findingsBand");
        QVERIFY(box(b)->isHidden());
        const QRect plots = b.window->views().grid->geometry();
        fail(b);
        drafted(b);
        const RemedyTrials& trials = *b.lab().remedies().trials();
        QCOMPARE(trials.run, b.lab().comparison().runs[0].id);
        buttonsFollowed(b);
        QVERIFY(band->texts()[0].contains("\nStalled "));
        QCOMPARE(band->height(), widgets::FindingsBand::kHeight);
        QCOMPARE(b.window->views().grid->geometry(), plots);  // the frame does not move

        // The drafts are those of the core, and the buttons show them in the order of the list.
        ThreadPool pool(1);
        const auto shown = trials.shown();
        QTRY_COMPARE(box(b)->buttons().size(), shown.size());
        QVERIFY(std::is_sorted(shown.begin(), shown.end()));
        for (std::size_t i = 0; i < shown.size(); ++i) {
            const widgets::RemedyButton& button = *box(b)->buttons()[i];
            const Remedy& remedy = trials.remedies[shown[i]];
            QTRY_COMPARE(button.text(), QString::fromStdString(remedy.name));
            const DraftResult result = draft(remedy.recipe, trials.control, pool);
            QCOMPARE(button.draft().loss, result.first.loss);
            QCOMPARE(trials.drafts[shown[i]]->gain, result.gain);
            QVERIFY(button.resultText().endsWith(
                QString(" · gain %1").arg(QString::fromStdString(number_text(result.gain)))));
            QVERIFY(button.toolTip().contains("no ranking"));
            QCOMPARE(button.toolTip().contains("Measured: "), !remedy.reason.empty());
            QCOMPARE(button.toolTip().contains(QString::fromStdString(remedy.reason)), true);
        }
        // The control is the failed run itself.
        QCOMPARE(trials.control.first.loss, first_steps(b.run(0), 16).loss);
        b.keepScreenshot("drafts", band);
        auto* title = box(b)->findChild<QLabel*>("remediesTitle");
        QVERIFY2(title->text().startsWith("What to try, not ranked: "), qPrintable(title->text()));
        QVERIFY(title->toolTip().contains("no ranking"));
        QVERIFY(title->fontMetrics().horizontalAdvance(title->text()) <= title->width());
        for (const std::size_t i : trials.not_enough())
            QTRY_VERIFY2(box(b)->notEnough().contains(QString::fromStdString(trials.remedies[i].name)),
                         qPrintable(box(b)->notEnough() + " lacks " + trials.remedies[i].name.c_str()));
    }

    void aClickTrainsTheRemedyAsAFurtherRunAndIsUndone() {
        WindowBench b;
        fail(b);
        drafted(b);
        buttonsFollowed(b);
        const std::size_t first = b.lab().remedies().trials()->shown().front();
        const Remedy remedy = b.lab().remedies().trials()->remedies[first];
        const std::vector<double> drafted_loss = b.lab().remedies().trials()->drafts[first]->first.loss;
        const auto before = b.lab().comparison().runs.size();
        QTest::mouseClick(box(b)->buttons().front(), Qt::LeftButton);
        QCOMPARE(b.lab().comparison().runs.size(), before + 1);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        const LabRun run = b.lab().comparison().runs.back();
        QVERIFY(same_recipe(run.recipe, remedy.recipe));
        // Named after the remedy, with a number only where another run has that name.
        const bool other = remedy.recipe.stack.scheme != b.lab().comparison().runs[0].live.stack.scheme;
        QCOMPARE(QString::fromStdString(run.data->name),
                 QString::fromStdString(other ? remedy.name : b.run(0).name + " · " + remedy.name));
        // The run begins as its draft did.
        QCOMPARE(first_steps(*run.data, draft_steps(remedy.recipe)).loss, drafted_loss);
        // The remedies of the failed run stay.
        QVERIFY(b.lab().remedies().trials());
        b.lab().runs().undoStack()->undo();
        QCOMPARE(b.lab().comparison().runs.size(), before);
        b.lab().runs().undoStack()->redo();
        // Done again, it is the trained run and not another one to train.
        QCOMPARE(b.lab().comparison().runs.size(), before + 1);
        const LabRun& again = b.lab().comparison().runs.back();
        QCOMPARE(again.id, run.id);
        QCOMPARE(*again.data->steps.find("loss"), *run.data->steps.find("loss"));
        QCOMPARE(again.data->name, run.data->name);
        QCOMPARE(again.data->outcome.state, run.data->outcome.state);
    }

    /// At a step in the past, a remedy that can act during training branches off there; its button states it.
    void atAShownStepARemedyBranchesOff() {
        WindowBench b;
        fail(b);
        drafted(b);
        buttonsFollowed(b);
        const RemedyTrials& trials = *b.lab().remedies().trials();
        const auto hot = [&](std::size_t i) {
            return same_but_hot(trials.recipe, trials.remedies[i].recipe);
        };
        const auto shown = trials.shown();
        const auto found = std::find_if(shown.begin(), shown.end(), hot);
        QVERIFY(found != shown.end());
        for (const std::size_t i : shown) QVERIFY(!b.lab().remedies().branchStep(i));  // at its end
        b.lab().view().setStep(10);
        for (const std::size_t i : shown)
            QCOMPARE(b.lab().remedies().branchStep(i),
                     hot(i) ? std::optional<std::int64_t>(10) : std::nullopt);
        widgets::RemedyButton* button = box(b)->buttons()[static_cast<std::size_t>(found - shown.begin())];
        QTRY_VERIFY2(button->resultText().startsWith("from step 10 · gain "),
                     qPrintable(button->resultText()));
        QVERIFY(button->accessibleDescription().contains("its run at the shown step 10"));
        const Remedy remedy = trials.remedies[*found];
        const auto before = b.lab().comparison().runs.size();
        QTest::mouseClick(button, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(b.lab().comparison().runs.size(), before + 1, 30000);
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        const LabRun& run = b.lab().comparison().runs.back();
        QVERIFY(same_recipe(run.recipe, remedy.recipe));
        QVERIFY(run.data->name.find(remedy.name + ", fork at 10") != std::string::npos);
        const std::vector<double>&parent = *b.run(0).steps.find("loss"),
              &loss = *run.data->steps.find("loss");
        QCOMPARE(loss.size(), parent.size());
        for (std::size_t i = 0; i < 10; ++i) QCOMPARE(loss[i], parent[i]);
        QVERIFY(loss.back() != parent.back());
        QVERIFY(same_recipe(b.lab().comparison().runs[0].recipe, trials.recipe));
        b.lab().runs().undoStack()->undo();
        QCOMPARE(b.lab().comparison().runs.size(), before);
    }

    void tryAllEndsInATable() {
        WindowBench b;
        fail(b);
        drafted(b);
        buttonsFollowed(b);
        auto* action = b.find<QToolButton>("remedyAction");
        QTRY_VERIFY(action->isVisible() && action->text().startsWith("Try"));
        const auto shown = b.lab().remedies().trials()->shown();
        QVERIFY(shown.size() >= 2);
        const auto before = b.lab().comparison().runs.size();
        QTest::mouseClick(action, Qt::LeftButton);
        QCOMPARE(b.lab().comparison().runs.size(), before + shown.size());
        QTRY_VERIFY(box(b)->showsTable());
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
        const auto& rows = box(b)->table().rows();
        QTRY_COMPARE(rows.size(), shown.size() + 1);  // the failed run first
        QTRY_VERIFY(!rows.back().loss.isEmpty());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const LabRun& run = b.lab().comparison().runs[i == 0 ? 0 : before + i - 1];
            QTRY_COMPARE(rows[i].name, QString::fromStdString(run.data->name));
            QTRY_COMPARE(rows[i].state, run.data->outcome.state);  // the band follows within 200 ms
            const FinalValues values = final_values(*run.data);
            QVERIFY(rows[i].loss.startsWith(QString::number(values.loss, 'g', 3)));
            QVERIFY(rows[i].loss.contains(QChar(0xb1)));
        }
        QVERIFY(box(b)->table().toolTip().contains("median of the training batches of the last 20 steps"));
        // Every row is on screen.
        QVERIFY(box(b)->table().height() >= static_cast<int>(rows.size()) * widgets::RemedyTable::kLine);
        b.keepScreenshot("table", b.find<widgets::FindingsBand>("findingsBand"));
        // The drafts are one press away, and the table as well.
        auto* back = b.find<QToolButton>("remedyTableSwitch");
        QTest::mouseClick(back, Qt::LeftButton);
        QVERIFY(!box(b)->showsTable());
        QTest::mouseClick(back, Qt::LeftButton);
        QVERIFY(box(b)->showsTable());
        b.lab().runs().undoStack()->undo();  // one entry for all
        QCOMPARE(b.lab().comparison().runs.size(), before);
        QTRY_COMPARE(box(b)->table().rows()[1].outcome, QString("removed"));
    }

    /// A pause in the middle of one would leave the table without its values.
    void trialsAreNotWatched() {
        WindowBench b;
        fail(b, 40, "grad_norm > 1e30");
        QCOMPARE(b.lab().comparison().runs[0].live.watch.size(), std::size_t(1));
        drafted(b);
        const auto shown = b.lab().remedies().trials()->shown();
        const auto before = b.lab().comparison().runs.size();
        b.lab().remedies().tryOut(shown);
        QVERIFY(b.lab().comparison().runs.size() > before);
        for (std::size_t i = before; i < b.lab().comparison().runs.size(); ++i)
            QVERIFY(b.lab().comparison().runs[i].recipe.watch.empty());
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 60000);
    }

    void closingAtAnyMomentIsSafe() {
        for (const int wait : {0, 30, 120}) {
            WindowBench b;
            fail(b);
            QTest::qWait(wait);
            if (wait == 120) {
                drafted(b);
                b.lab().remedies().tryOut(b.lab().remedies().trials()->shown());
                QTest::qWait(50);
            }
            b.window.reset();
        }
    }

    void theOtherRunsRemediesAreDraftedWhenItIsSelected() {
        WindowBench b;
        fail(b);
        b.lab().runs().select(1);
        QTRY_COMPARE(b.lab().remedies().trials()->run, b.lab().comparison().runs[1].id);
        drafted(b);
        b.lab().runs().select(0);
        drafted(b);  // what selecting the other one had interrupted
        QCOMPARE(b.lab().remedies().trials()->run, b.lab().comparison().runs[0].id);
    }

    void thePlotOfADraftIsItsValues() {
        const QRectF plot(6, 5, 50, 28);
        const QPolygonF line = widgets::RemedyButton::polyline({10, 1, 1e-4, 0, qQNaN(), 1e9}, 6, plot);
        QCOMPARE(line.size(), 5);  // NaN is missing
        QCOMPARE(line[0], plot.topLeft());
        QCOMPARE(line[1].y(), plot.bottom() - plot.height() * 4 / 5);
        QCOMPARE(line[2].y(), plot.bottom());
        QCOMPARE(line[3].y(), plot.bottom());
        QCOMPARE(line[4], plot.topRight());
    }
};

NORMSCOPE_WIDGET_TEST(RemediesWindowTest)
#include "remedies_window_test.moc"
