// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/draft.h"

#include "core/run/complete_run.h"
#include "small_run.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <limits>

using namespace normscope;
using normscope::test::small_recipe;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Outcome running() {
    return {RunState::Running, -1, "", -1};
}

FirstSteps steps(std::vector<double> loss, std::vector<double> gradient) {
    return {std::move(loss), std::move(gradient), 0};
}

std::vector<double> all(std::size_t n, double value) {
    return std::vector<double>(n, value);
}

}  // namespace

class DraftTest : public QObject {
    Q_OBJECT
    ThreadPool pool_{1};

  private Q_SLOTS:
    void itIsTheBeginningOfItsRunBitForBit() {
        for (const int warmup : {0, 5}) {
            Recipe recipe = small_recipe(40);
            recipe.train.schedule.warmup = warmup;
            const DraftResult result = draft(recipe, pool_);
            const RunData whole = complete_run(recipe, "A", pool_);
            const FirstSteps first = first_steps(whole, 16 + warmup);
            QCOMPARE(result.first.loss.size(), std::size_t(16 + warmup));
            QCOMPARE(result.first.loss, first.loss);
            QCOMPARE(result.first.gradient, first.gradient);
            QCOMPARE(draft(recipe, pool_).first.loss, first.loss);
        }
    }

    void itOutlastsTheWarmUpAndNotTheRun() {
        Recipe recipe = small_recipe(200);
        QCOMPARE(draft_steps(recipe), std::int64_t{16});
        recipe.train.schedule.warmup = 50;
        QCOMPARE(draft_steps(recipe), std::int64_t{66});
        recipe.train.steps = 60;
        QCOMPARE(draft_steps(recipe), std::int64_t{60});
        recipe.train.steps = 7;
        recipe.train.schedule.warmup = 0;
        QCOMPARE(draft(recipe, pool_).first.loss.size(), std::size_t{7});
    }

    void aCancelledDraftEnds() {
        const std::atomic<bool> cancel{true};
        QVERIFY_THROWS_EXCEPTION(Cancelled, draft(small_recipe(40), pool_, nullptr, cpu_device(), &cancel));
    }

    void whatCannotBeBuiltIsNotEnoughWithTheReason() {
        Recipe recipe = small_recipe(40);
        recipe.stack.heads = 3;
        const DraftResult result = draft(recipe, pool_);
        QVERIFY(!result.enough);
        QVERIFY2(QString::fromStdString(result.why_not).contains("heads"), result.why_not.c_str());
        QVERIFY(result.first.loss.empty());
    }

    void aRunThatDivergesInItsDraftIsNotEnough() {
        Recipe recipe = small_recipe(40);
        recipe.stack.scheme = Scheme::None;
        recipe.stack.final_norm = FinalNorm::Off;
        recipe.train.optimizer.lr = 1e6;
        recipe.train.optimizer.clip = 0;
        const DraftResult result = draft(recipe, pool_);
        QVERIFY(!result.enough);
        QVERIFY2(!result.why_not.empty(), result.why_not.c_str());
    }

    void theJudgementIsByGradientAndLoss() {
        const auto judge = [](std::vector<double> loss, std::vector<double> gradient) {
            return evaluate_draft(steps(std::move(loss), std::move(gradient)), running());
        };
        QVERIFY(judge(all(16, 3.0), all(16, 0.0101)).enough);
        QVERIFY(judge(all(16, 3.0), all(16, 99)).enough);
        QCOMPARE(judge(all(16, 3.0), all(16, 0.0099)).why_not, std::string("gradient 0.0099"));
        QVERIFY(!judge(all(16, 3.0), all(16, 101)).enough);
        QVERIFY(!judge(all(16, 3.0), all(16, kNan)).enough);
        std::vector<double> rising = all(16, 3.0);
        for (std::size_t i = 12; i < 16; ++i) rising[i] = 4.01;
        QCOMPARE(judge(rising, all(16, 1)).why_not, std::string("loss 4"));
        rising[15] = kNan;
        QVERIFY(!judge(rising, all(16, 1)).enough);
        // The gradient is that of the end, one outlier among the last four decides nothing.
        std::vector<double> gradient = all(16, 1e-6);
        for (std::size_t i = 12; i < 16; ++i) gradient[i] = i == 13 ? 1e-9 : 0.5;
        QVERIFY(judge(all(16, 3.0), gradient).enough);
        FirstSteps overflowing = steps(all(16, 3.0), all(16, 1));
        overflowing.overflows = 8;
        QVERIFY(evaluate_draft(overflowing, running()).enough);
        overflowing.overflows = 9;
        QCOMPARE(evaluate_draft(overflowing, running()).why_not, std::string("9 of 16 steps overflow"));
        QCOMPARE(evaluate_draft(steps(all(6, 3.0), all(6, 1)), {RunState::Diverged, 5, "", 0}).why_not,
                 std::string("diverged at step 5"));
        QVERIFY(!evaluate_draft({}, running()).enough);
    }

    void aLongDraftIsRankedByTheSameSteps() {
        std::vector<double> loss = all(66, 1.0);
        for (std::size_t i = 0; i < 16; ++i) loss[i] = 2.5;
        const DraftResult longer = evaluate_draft(steps(loss, all(66, 1)), running());
        QCOMPARE(longer.loss, 2.5);
        const DraftResult better = evaluate_draft(steps(all(16, 2.4), all(16, 1)), running());
        const DraftResult best_but_flat = evaluate_draft(steps(all(16, 2.0), all(16, 1e-5)), running());
        QCOMPARE(ranked({longer, best_but_flat, better, longer}), (std::vector<std::size_t>{2, 0, 3}));
    }

    void theFinalValuesAreOfTheLastTwentySteps() {
        RunData run;
        run.steps.names = {"loss", "grad_ratio"};
        run.steps.columns.resize(2);
        QVERIFY(std::isnan(final_values(run).loss));
        for (int i = 0; i < 30; ++i) {
            run.steps.step.push_back(i);
            run.steps.columns[0].push_back(i < 10 ? 100 : i % 2 ? 1 : 3);
            run.steps.columns[1].push_back(i == 29 ? kNan : 0.25);
        }
        const FinalValues values = final_values(run);
        QCOMPARE(values.loss, 2.0);
        QVERIFY(std::abs(values.loss_error - std::sqrt(20.0 / 19 / 20)) < 1e-12);
        QCOMPARE(values.gradient, 0.25);
    }
};

NORMSCOPE_TEST(DraftTest)
#include "draft_test.moc"
