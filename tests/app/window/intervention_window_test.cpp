// SPDX-License-Identifier: GPL-3.0-or-later
// ε is raised while runs train, by one switch.
#include "app/window/commands.h"
#include "core/run/interventions/interventions.h"
#include "tests/support/test_main.h"
#include "tests/widgets/warnings_fail.h"
#include "widgets/common/banner.h"
#include "window_bench.h"

#include <QAction>

using namespace normscope;
using namespace normscope::app;
using normscope::test::WindowBench;

namespace {

QAction* action(const WindowBench& b) {
    return b.window->commands()[Command::RaiseEps];
}

std::vector<RunEvent> of_kind(const RunData& run, const std::string& kind) {
    std::vector<RunEvent> found;
    for (const RunEvent& event : run.events)
        if (event.kind == kind) found.push_back(event);
    return found;
}

/// In BF16 at ε = 0.1 this rule acts on both runs.
const std::vector<InterventionSpec> kActs{{InterventionKind::NormEps, 0.3, 1, 1e-6, 3, 1}};
void makeDominated(WindowBench& b, int steps) {
    b.makeSmall(steps);
    b.lab().knobs().commitKey("stack.norm.eps", 0.1);
    b.lab().knobs().commitKey("precision", std::string("bf16"));
    b.lab().runs().undoStack()->clear();
}

}  // namespace

class InterventionWindowTest : public QObject {
    Q_OBJECT
    std::unique_ptr<test::WarningsFail> warnings_;

  private Q_SLOTS:
    void init() { warnings_ = std::make_unique<test::WarningsFail>(); }
    void cleanup() {
        warnings_->check();
        warnings_.reset();
    }

    void theSwitchIsOfTheSelectedRun() {
        WindowBench b;
        b.makeSmall(20);
        QVERIFY(action(b)->isCheckable() && !action(b)->isChecked());
        action(b)->trigger();
        QVERIFY(action(b)->isChecked());
        for (const LabRun& run : b.lab().comparison().runs)
            QCOMPARE(run.recipe.interventions, std::vector<InterventionSpec>(1));
        b.lab().runs().undoStack()->undo();
        QVERIFY(!action(b)->isChecked());
        b.lab().runs().undoStack()->redo();
        QVERIFY(action(b)->isChecked());
        action(b)->trigger();
        QVERIFY(!action(b)->isChecked());
        QVERIFY(b.lab().comparison().selectedRun().recipe.interventions.empty());
    }

    /// No run restarts for it, the events are in the run, and ε is the recipe's at the end.
    void itActsOnRunsInTraining() {
        WindowBench b;
        makeDominated(b, 100000);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.lab().comparison().lastStep() > 5, 30000);
        const std::string id = b.lab().comparison().runs[0].id;
        b.lab().knobs().setInterventions(kActs);
        QVERIFY(action(b)->isChecked());
        QVERIFY(!b.lab().comparison().changesPending());
        QTRY_VERIFY_WITH_TIMEOUT(!of_kind(b.run(0), kInterventionEvent).empty(), 30000);
        QCOMPARE(b.lab().comparison().runs[0].id, id);
        QVERIFY(of_kind(b.run(0), kInterventionEvent).front().text.starts_with("ε raised: "));
        QVERIFY(of_kind(b.run(0), "knob").front().text.starts_with("interventions none → norm_eps"));
        b.keepScreenshot("intervention");
        action(b)->trigger();  // off again
        QVERIFY(!action(b)->isChecked());
        QTRY_COMPARE_WITH_TIMEOUT(of_kind(b.run(0), kInterventionEvent).back().text,
                                  std::string("ε of every norm is 0.1 again"), 30000);
        b.lab().training().stop();
        QTRY_VERIFY(!b.lab().comparison().anyTraining());
    }

    void aRunHasItFromItsStartAndEndsWithoutIt() {
        WindowBench b;
        makeDominated(b, 12);
        b.lab().knobs().setInterventions(kActs);
        b.lab().training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
        for (int i = 0; i < 2; ++i) {
            const auto events = of_kind(b.run(i), kInterventionEvent);
            QVERIFY(events.size() >= 2);
            QCOMPARE(events.back().text, std::string("ε of every norm is 0.1 again"));
        }
        // Both runs are of one seed: matched.
        QCOMPARE(*b.run(0).steps.find("batch_hash"), *b.run(1).steps.find("batch_hash"));
    }

    void whatAStackCannotHaveIsStated() {
        WindowBench b;
        b.makeSmall(20);
        b.lab().knobs().commitKey("stack.scheme", std::string("none"));
        b.lab().knobs().commitKey("stack.final_norm", std::string("off"));
        action(b)->trigger();
        QVERIFY(!action(b)->isChecked());
        QVERIFY(b.window->views().banner->message().contains("this stack has no norm"));
    }
};

NORMSCOPE_WIDGET_TEST(InterventionWindowTest)
#include "intervention_window_test.moc"
