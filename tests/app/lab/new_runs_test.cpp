// SPDX-License-Identifier: GPL-3.0-or-later
// What the main button does with changed knobs of trained runs: new runs next to them, or in their place.
#include "lab_bench.h"
#include "tests/support/test_main.h"

using namespace normscope;
using namespace normscope::app;
using Bench = normscope::test::LabBench;
using Act = TrainingControl::Act;

namespace {

void trainBoth(Bench& b) {
    b.lab->training().play();
    QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
}

std::vector<std::string> idsOf(const Bench& b) {
    std::vector<std::string> ids;
    for (const LabRun& run : b.lab->comparison().runs) ids.push_back(run.id);
    return ids;
}

}  // namespace

class NewRunsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// The trained runs keep their data, places and knobs.
    void theMainButtonAddsNewRuns() {
        Bench b(10);
        trainBoth(b);
        const std::vector<std::string> before = idsOf(b);
        const std::vector<double> loss = *b.run(0).steps.find("loss");
        b.lab->knobs().commitKey("stack.depth", 3);
        QCOMPARE(b.lab->training().nextAct(), Act::StartNew);
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
        const auto& runs = b.lab->comparison().runs;
        QCOMPARE(runs.size(), std::size_t(4));
        for (std::size_t i = 0; i < 2; ++i) {
            QCOMPARE(runs[i].id, before[i]);
            QVERIFY(same_recipe(runs[i].recipe, runs[i].live));
            QVERIFY(runs[i].recipe.stack.depth != 3);
            QVERIFY(runs[i].recipe.stack.scheme == runs[i + 2].recipe.stack.scheme);
            QCOMPARE(runs[i + 2].live.stack.depth, 3);
            QCOMPARE(b.run(static_cast<int>(i) + 2).steps.rows(), std::size_t(10));
            QVERIFY(runs[i].data->name != runs[i + 2].data->name);
        }
        QCOMPARE(*b.run(0).steps.find("loss"), loss);
        QVERIFY(!b.lab->comparison().changesPending());

        b.lab->runs().undoStack()->undo();
        QCOMPARE(idsOf(b), before);
        QVERIFY(b.lab->comparison().changesPending());
        b.lab->runs().undoStack()->redo();
        QCOMPARE(idsOf(b).size(), std::size_t(4));
        QCOMPARE(b.run(2).steps.rows(), std::size_t(10));
        QCOMPARE(b.problems, QStringList());
    }

    /// In their place, under the names that were given to them: what a story's button does.
    void orReplacesThem() {
        Bench b(10);
        b.lab->runs().rename(0, "mine");
        trainBoth(b);
        const std::vector<std::string> before = idsOf(b);
        b.lab->training().setReplacesRuns(true);
        b.lab->knobs().commitKey("stack.depth", 3);
        QCOMPARE(b.lab->training().nextAct(), Act::StartAgain);
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
        QCOMPARE(idsOf(b).size(), std::size_t(2));
        for (std::size_t i = 0; i < 2; ++i) QVERIFY(idsOf(b)[i] != before[i]);
        QCOMPARE(b.run(0).name, std::string("mine"));
        b.lab->training().setReplacesRuns(false);
        b.lab->knobs().commitKey("stack.depth", 2);
        QCOMPARE(b.lab->training().nextAct(), Act::StartNew);
        b.lab->runs().undoStack()->undo();
        b.lab->runs().undoStack()->undo();
        QCOMPARE(idsOf(b), before);
    }
};

NORMSCOPE_TEST(NewRunsTest)
#include "new_runs_test.moc"
