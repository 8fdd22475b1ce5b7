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

/// Losses of 16 steps: the first, then the others.
std::vector<double> from(double first, double others) {
    std::vector<double> loss = all(16, others);
    loss.front() = first;
    return loss;
}

using Kind = DraftControl::Kind;

DraftControl control(Kind kind, std::vector<double> loss, double ln_vocab = kNan) {
    const std::size_t n = loss.size();
    return {steps(std::move(loss), all(n, 1)), ln_vocab, kind, kNan};
}

DraftResult sound(std::vector<double> loss, const DraftControl& over) {
    const std::size_t n = loss.size();
    return evaluate_draft(steps(std::move(loss), all(n, 1)), running(), over);
}

bool near(double value, double expected) {
    return std::abs(value - expected) < 1e-12;
}

/// A recorded run of `rows` steps with these losses at its first 16, then at its last steps, and this ratio
/// of gradients at the end.
RunData recorded(RunState state, double early, double late, double ratio, int rows = 200) {
    RunData run;
    Recipe recipe;
    recipe.train.steps = 200;
    run.recipe = recipe;
    run.ln_vocab = 3.3;
    run.unigram_entropy = 2.87;
    run.outcome = {state, rows - 1, "", -1};
    run.steps.names = {"loss", "grad_ratio"};
    run.steps.columns.resize(2);
    for (int i = 0; i < rows; ++i) {
        run.steps.step.push_back(i);
        run.steps.columns[0].push_back(i < 16 ? early : late);
        run.steps.columns[1].push_back(i < 16 ? 1 : ratio);
    }
    return run;
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
            const DraftResult result = draft(recipe, {}, pool_);
            const RunData whole = complete_run(recipe, "A", pool_);
            const FirstSteps first = first_steps(whole, 16 + warmup);
            QCOMPARE(result.first.loss.size(), std::size_t(16 + warmup));
            QCOMPARE(result.first.loss, first.loss);
            QCOMPARE(result.first.gradient, first.gradient);
            QCOMPARE(draft(recipe, {}, pool_).first.loss, first.loss);
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
        QCOMPARE(draft(recipe, {}, pool_).first.loss.size(), std::size_t{7});
    }

    void aCancelledDraftEnds() {
        const std::atomic<bool> cancel{true};
        QVERIFY_THROWS_EXCEPTION(Cancelled,
                                 draft(small_recipe(40), {}, pool_, nullptr, cpu_device(), &cancel));
    }

    void whatCannotBeBuiltIsNotEnoughWithTheReason() {
        Recipe recipe = small_recipe(40);
        recipe.stack.heads = 3;
        const DraftResult result = draft(recipe, {}, pool_);
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
        const DraftResult result = draft(recipe, {}, pool_);
        QVERIFY(!result.enough);
        QVERIFY2(!result.why_not.empty(), result.why_not.c_str());
    }

    /// Of a text whose frequencies give no more than a uniform guess, as that of copying.
    void whereTheLossCannotFallTheGradientDecides() {
        DraftControl copying = control(Kind::Failing, all(16, 2.83), 2.833);
        QVERIFY(copying.loss_can_fall());  // unknown
        copying.unigram_entropy = 2.4;
        QVERIFY(copying.loss_can_fall());
        QVERIFY(!sound(all(16, 2.83), copying).enough);  // it gained nothing
        copying.unigram_entropy = 2.81;
        QVERIFY(!copying.loss_can_fall());
        const DraftResult level = sound(all(16, 2.83), copying);
        QVERIFY(level.enough && level.by_gradient);
        QVERIFY(!sound(all(16, 2.9), copying).enough);  // clearly above the run itself
        QVERIFY(!evaluate_draft(steps(all(16, 2.83), all(16, 0.001)), running(), copying).enough);
    }

    void theJudgementIsByGradientAndLoss() {
        const DraftControl none;  // without losses and entropy: what a draft fell is what it gained
        const auto judge = [&](std::vector<double> loss, std::vector<double> gradient) {
            return evaluate_draft(steps(std::move(loss), std::move(gradient)), running(), none);
        };
        const std::vector<double> falling = from(3.3, 3.0);
        QVERIFY(judge(falling, all(16, 0.0101)).enough);
        QVERIFY(judge(falling, all(16, 99)).enough);
        QCOMPARE(judge(falling, all(16, 0.0099)).why_not, std::string("gradient 0.0099"));
        QVERIFY(!judge(falling, all(16, 101)).enough);
        QVERIFY(!judge(falling, all(16, kNan)).enough);
        std::vector<double> rising = all(16, 3.0);
        for (std::size_t i = 12; i < 16; ++i) rising[i] = 4.01;
        QCOMPARE(judge(rising, all(16, 1)).why_not, std::string("loss 4"));
        rising[15] = kNan;
        QVERIFY(!judge(rising, all(16, 1)).enough);
        // The gradient is that of the end, one outlier among the last four decides nothing.
        std::vector<double> gradient = all(16, 1e-6);
        for (std::size_t i = 12; i < 16; ++i) gradient[i] = i == 13 ? 1e-9 : 0.5;
        QVERIFY(judge(falling, gradient).enough);
        FirstSteps overflowing = steps(falling, all(16, 1));
        overflowing.overflows = 8;
        QVERIFY(evaluate_draft(overflowing, running(), none).enough);
        overflowing.overflows = 9;
        QCOMPARE(evaluate_draft(overflowing, running(), none).why_not, std::string("9 of 16 steps overflow"));
        QCOMPARE(evaluate_draft(steps(all(6, 3.0), all(6, 1)), {RunState::Diverged, 5, "", 0}, none).why_not,
                 std::string("diverged at step 5"));
        QVERIFY(!evaluate_draft({}, running(), none).enough);
    }

    void aGainIsOverTheControlInTheSameSteps() {
        const DraftControl failing = control(Kind::Failing, from(3.6, 2.9));
        const DraftResult lower = sound(from(3.3, 2.8), failing);
        QVERIFY(near(lower.gain, 0.1));
        QVERIFY(lower.enough);
        const DraftResult alike = sound(from(3.3, 2.88), failing);
        QVERIFY(near(alike.gain, 0.02));
        QCOMPARE(alike.why_not, std::string("gain 0.02"));
        // The unchanged recipe gains nothing.
        QCOMPARE(sound(failing.first.loss, failing).gain, 0.0);
        QVERIFY(!sound(failing.first.loss, failing).enough);
        // A longer draft is compared with later steps of the control.
        std::vector<double> long_control = all(66, 2.0), long_draft = all(66, 1.5);
        long_control[0] = long_draft[0] = 3.3;
        for (std::size_t i = 1; i < 62; ++i) long_control[i] = 1.0;
        QVERIFY(near(sound(long_draft, control(Kind::Failing, long_control)).gain, 0.5));
        // A control of more steps is cut to the draft's.
        QVERIFY(near(sound(from(3.3, 0.9), control(Kind::Failing, long_control)).gain, 0.1));
        // Where the control ended before, or is not finite, the draft gains what it fell itself.
        QVERIFY(near(sound(from(3.3, 2.8), control(Kind::Failing, all(9, 1.0))).gain, 0.5));
        QVERIFY(near(sound(from(3.3, 2.8), control(Kind::Failing, from(3.3, kNan))).gain, 0.5));
    }

    /// A start that is lower than the control's is no gain; nor is the loss of a bad start.
    void whereADraftStartsIsNoGain() {
        for (const Kind kind : {Kind::Failing, Kind::Slow, Kind::Later}) {
            const DraftResult flat = sound(all(16, 3.3), control(kind, all(16, 3.8), 3.3));
            QVERIFY(near(flat.gain, 0));
            QVERIFY(!flat.enough);
            const DraftResult still_bad = sound(from(6.0, 3.28), control(kind, all(16, 9.0), 3.3));
            QVERIFY(near(still_bad.gain, 0.02));
            QVERIFY(!still_bad.enough);
            // Nor is the unchanged recipe less than the run, where both are above a uniform guess.
            for (const double end : {8.0, 9.5}) {
                const DraftControl above = control(kind, from(9.0, end), 3.3);
                QCOMPARE(sound(above.first.loss, above).gain, 0.0);
                QVERIFY(!sound(above.first.loss, above).enough);
            }
        }
    }

    void overASlowControlItFallsFaster() {
        const std::vector<double> slow = from(3.8, 3.64);
        const DraftResult other_start = sound(from(3.3, 3.2), control(Kind::Slow, slow, 3.3));
        QVERIFY(near(other_start.gain, -0.06));
        QVERIFY(!other_start.enough);
        QVERIFY(near(sound(from(3.3, 3.2), control(Kind::Failing, slow, 3.3)).gain, 0.1));
        QVERIFY(sound(from(3.8, 2.9), control(Kind::Slow, slow, 3.3)).enough);
        // A control whose loss rises lends nothing to a draft that falls.
        QVERIFY(near(sound(from(3.3, 3.2), control(Kind::Slow, from(3.3, 9.0), 3.3)).gain, 0.1));
    }

    void beforeTheControlFailsNoGainIsRequired() {
        const std::vector<double> learning = from(3.8, 2.8);
        QVERIFY(!sound(from(3.3, 2.84), control(Kind::Failing, learning)).enough);
        const DraftResult as_well = sound(from(3.3, 2.84), control(Kind::Later, learning));
        QVERIFY(as_well.enough);
        QVERIFY(near(as_well.gain, -0.04));
        QCOMPARE(sound(from(3.3, 2.9), control(Kind::Later, learning)).why_not, std::string("gain -0.1"));
        QVERIFY(!sound(from(2.9, 2.86), control(Kind::Later, from(2.9, 2.9))).enough);  // it fell by 0.04
    }

    void aGainWithinTheScatterIsNotEnough() {
        std::vector<double> scattered = from(3.3, 3.0);
        const DraftControl failing = control(Kind::Failing, from(3.3, 3.2));
        QVERIFY(sound(scattered, failing).enough);
        for (std::size_t i = 12; i < 16; ++i) scattered[i] = i % 2 ? 3.2 : 2.8;
        const DraftResult result = sound(scattered, failing);
        QVERIFY(near(result.gain, 0.2));
        QVERIFY(near(result.error, std::sqrt(0.16 / 3 / 4)));
        QVERIFY(!result.enough);
        // The batches are the control's: what both have in common is no scatter.
        std::vector<double> common = from(3.3, 3.2);
        for (std::size_t i = 12; i < 16; ++i) common[i] = i % 2 ? 3.4 : 3.0;
        QVERIFY(sound(scattered, control(Kind::Failing, common)).error < 1e-12);
        QVERIFY(sound(scattered, control(Kind::Failing, common)).enough);
    }

    void theControlIsTheFailedRunItself() {
        const RunData slow = recorded(RunState::Stalled, 3.7, 3.6, 2);
        const DraftControl control = control_of(slow, 66);
        QCOMPARE(control.first.loss.size(), std::size_t{66});
        QCOMPARE(control.first.loss[3], 3.7);
        QCOMPARE(control.ln_vocab, 3.3);
        QCOMPARE(control.kind, Kind::Slow);
        const auto kind = [](const RunData& run) { return control_of(run, 16).kind; };
        QCOMPARE(kind(recorded(RunState::Stalled, 3.7, 2.9, 2)), Kind::Later);     // at the unigram entropy
        QCOMPARE(kind(recorded(RunState::Stalled, 3.7, 3.6, 1e-4)), Kind::Later);  // without a gradient
        QCOMPARE(kind(recorded(RunState::Collapsed, 3.0, 2.8, 2)), Kind::Later);
        QCOMPARE(kind(recorded(RunState::Diverged, 3.0, 9.0, 2, 80)), Kind::Later);
        QCOMPARE(kind(recorded(RunState::Diverged, 3.0, 9.0, 2, 16)), Kind::Failing);
        RunData vanished = recorded(RunState::Stalled, 3.7, 2.87, 1e-4);
        for (std::size_t i = 10; i < 16; ++i) vanished.steps.columns[1][i] = 1e-3;
        QCOMPARE(kind(vanished), Kind::Failing);
        // Its draft is the whole run, which did not fail after it.
        RunData warming = recorded(RunState::Stalled, 3.7, 2.87, 2);
        Recipe recipe = *warming.recipe.get();
        recipe.train.schedule.warmup = 200;
        warming.recipe = recipe;
        QCOMPARE(kind(warming), Kind::Slow);
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
