// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/validate.h"

#include "core/session/session.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <limits>

using namespace normscope;

class TestValidate : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

    std::vector<std::string> problems(const std::function<void(RunData&)>& change) {
        RunData run = sample::run("a", 40);
        run.outcome = {RunState::Finished, 39, "", -1};
        change(run);
        const std::string path = folder_.filePath("v.h5").toStdString();
        save_session(path, std::vector{run}, "");
        return validate_session(path);
    }
    using Lines = std::vector<std::string>;

  private Q_SLOTS:
    void aSoundFileHasNoProblems() {
        QCOMPARE(problems([](RunData&) {}), Lines{});
    }

    void eachBrokenRuleIsOneLine() {
        const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
        QCOMPARE(problems([&](RunData& run) { run.steps.columns[0][12] = nan; }),
                 Lines{"run a: steps/loss: is not finite at step 12"});
        QCOMPARE(problems([&](RunData& run) { run.steps.columns[2][12] = inf; }),
                 Lines{"run a: steps/grad_norm: is not finite at step 12"});
        QCOMPARE(problems([&](RunData& run) { run.steps.step[5] = 4; }),
                 Lines{"run a: steps/step: does not rise"});
        QCOMPARE(problems([&](RunData& run) { run.steps.names[3] = "rate"; }),
                 Lines{"run a: steps/lr: missing"});
        QCOMPARE(problems([&](RunData& run) { run.recipe = RunRecipe::read("{"); }),
                 Lines{"run a: recipe: its text: not valid JSON at byte 2"});
        QCOMPARE(problems([&](RunData& run) { run.probes["growth"][2].arrays[2].data[1] = nan; }),
                 Lines{"run a: probes/growth/rms: is not finite at step 20"});
        QCOMPARE(problems([&](RunData& run) { run.probes["growth"][2].arrays[4].data[1] = inf; }),
                 Lines{"run a: probes/growth/bound_ma: is not finite at step 20"});
        QCOMPARE(problems([&](RunData& run) {
                     for (auto& sample : run.probes["growth"])
                         sample.arrays.push_back({"bound_product_ma", {3}, {1, 2, nan}, {"depth"}, "1"});
                 }),
                 Lines{"run a: probes/growth/bound_product_ma: axis hidden_state has 3 entries, the recipe's "
                       "stack has 7"});
        QCOMPARE(problems([&](RunData& run) { run.probes["theta"][3].step = 20; }),
                 Lines{"run a: probes/theta/step: does not rise"});
        QCOMPARE(problems([&](RunData& run) {
                     Recipe deeper;
                     deeper.stack.depth = 4;
                     deeper.stack.heads = 300;
                     run.recipe = deeper;
                 }).size(),
                 std::size_t{9});  // six arrays of growth, three of theta
        QCOMPARE(problems([&](RunData& run) { std::swap(run.events[0].step, run.events[1].step); }),
                 Lines{"run a: events: steps do not rise"});
        QCOMPARE(problems([&](RunData& run) {
                     for (auto& sample : run.probes["theta"]) sample.arrays.erase(sample.arrays.begin());
                 }),
                 Lines{"run a: probes/theta/max: missing"});
        QCOMPARE(problems([&](RunData& run) {
                     for (auto& sample : run.probes["null_space"]) sample.labels["sites"].pop_back();
                 }),
                 Lines{"run a: probes/null_space: names 1 sites, measures 2"});
        QCOMPARE(problems([&](RunData& run) {
                     for (auto& sample : run.probes["theta"]) sample.arrays[3].shape = {1};
                 }),
                 Lines{"run a: probes/theta/width: has 2 axes with the samples', needs 1"});
    }

    void aDivergedRunMayEndInInfinity() {
        QCOMPARE(problems([](RunData& run) {
                     run.outcome = {RunState::Diverged, 39, "step 39", 2};
                     run.steps.columns[0][39] = std::nan("");
                     run.steps.columns[2][39] = std::numeric_limits<double>::infinity();
                     run.probes["growth"][3].arrays[0].data[6] = std::numeric_limits<double>::infinity();
                 }),
                 Lines{});
    }
};

NORMSCOPE_TEST(TestValidate)
#include "validate_test.moc"
