// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/remedies.h"

#include "core/findings/headline.h"
#include "tests/findings/sample_data.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <set>

using namespace normscope;

namespace {

RunData failed(RunState state = RunState::Stalled) {
    RunData r = sample::run("A");
    r.outcome = {state, 199, "", -1};
    return r;
}

Recipe post() {
    Recipe recipe;
    recipe.stack.scheme = Scheme::Post;
    return recipe;
}

/// A stalled run of the recipe, 200 steps with the same gradient norm, loss and ratio of gradients.
RunData stalled(const Recipe& recipe, double norm, double loss, double ratio = 2) {
    RunData run = failed();
    run.recipe = recipe;
    run.unigram_entropy = 2.87;
    run.steps.names = {"loss", "grad_norm", "grad_ratio", "lr"};
    run.steps.columns.assign(4, {});
    for (int i = 0; i < 200; ++i) {
        run.steps.step.push_back(i);
        int column = 0;
        for (const double value : {loss, norm, ratio, recipe.train.optimizer.lr})
            run.steps.columns[static_cast<std::size_t>(column++)].push_back(value);
    }
    return run;
}

const Remedy* find(const std::vector<Remedy>& all, const std::string& id) {
    for (const Remedy& remedy : all)
        if (remedy.id == id) return &remedy;
    return nullptr;
}

/// That remedy, or one whose values no comparison passes.
Remedy get(const std::vector<Remedy>& all, const std::string& id) {
    if (const Remedy* remedy = find(all, id)) return *remedy;
    Remedy missing;
    missing.recipe.train.optimizer = {OptimizerKind::Sgd, -1, {-1, -1}, -1, -1, -1};
    missing.recipe.train.schedule.warmup = -1;
    missing.recipe.train.precision = Precision::Fp64;
    missing.recipe.stack.residual_step = -1;
    missing.recipe.stack.init.rule = InitRule::PathLength;
    return missing;
}

}  // namespace

class RemediesTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void eachChangesTheRecipeInItsOwnWay() {
        const Recipe recipe = post();
        const auto all = remedies(recipe, failed());
        std::set<std::string> ids, names, recipes;
        for (const Remedy& remedy : all) {
            QVERIFY2(!same_recipe(remedy.recipe, recipe), remedy.id.c_str());
            QVERIFY(ids.insert(remedy.id).second);
            QVERIFY(names.insert(remedy.name).second);
            QVERIFY(recipes.insert(recipe_json(remedy.recipe, -1)).second);
            QVERIFY(!remedy.sentence.empty() && remedy.sentence.back() != '.');
        }
        for (const char* id : {"residual_step_0.2", "init_gpt2", "init_deepnorm", "deepnorm", "pre", "peri",
                               "lr_over_10", "lr_over_3", "warmup_50", "clip_0.1", "beta2_0.999"})
            QVERIFY2(find(all, id), id);
        QCOMPARE(get(all, "residual_step_0.2").recipe.stack.residual_step, 0.2);
        QCOMPARE(get(all, "lr_over_3").recipe.train.optimizer.lr, recipe.train.optimizer.lr / 3);
        QCOMPARE(get(all, "deepnorm").recipe.stack.init.rule, InitRule::DeepNorm);
        QCOMPARE(get(all, "warmup_50").recipe.train.schedule.warmup, 50);
        QCOMPARE(get(all, "residual_step_0.2").sentence, std::string("Residual step 1 → 0.2"));
    }

    void whatTheRunHasAlreadyIsNoRemedy() {
        Recipe recipe = post();
        recipe.stack.scheme = Scheme::Sandwich;  // the block of Peri-LN
        recipe.stack.residual_step = 0.2;
        recipe.stack.init.rule = InitRule::Gpt2;
        recipe.train.schedule.warmup = 60;
        const auto all = remedies(recipe, failed());
        for (const char* id : {"residual_step_0.2", "init_gpt2", "peri", "warmup_50"})
            QVERIFY2(!find(all, id), id);
        recipe.train.steps = 40;
        recipe.train.schedule.warmup = 0;
        QVERIFY(!find(remedies(recipe, failed()), "warmup_50"));  // the run would end within it
    }

    void aDeepStackHasAStepByItsDepth() {
        Recipe recipe = post();
        recipe.stack.depth = 24;
        const auto all = remedies(recipe, failed());
        QVERIFY(find(all, "residual_step_0.14"));  // 1/√48
        QVERIFY(find(all, "residual_step_0.2"));
    }

    void float32IsTriedWhereANumberLeftTheRange() {
        Recipe recipe = post();
        recipe.train.precision = Precision::Fp16;
        RunData run = failed();
        QVERIFY(!find(remedies(recipe, run), "fp32"));
        run.events.push_back({3, "overflow", "gradient overflows FP16"});
        QVERIFY(find(remedies(recipe, run), "fp32"));
        run.events.clear();
        run.outcome = {RunState::Diverged, 7, "step 7 · L2 ffn.w2 · inf", 1};
        const auto all = remedies(recipe, run);
        QCOMPARE(get(all, "fp32").recipe.train.precision, Precision::Fp32);
        recipe.train.precision = Precision::Fp32;
        QVERIFY(!find(remedies(recipe, run), "fp32"));
    }

    void aRunAtALowRateIsOfferedHigherOnes() {
        Recipe recipe;
        recipe.train.optimizer.lr = 1e-6;
        auto all = remedies(recipe, stalled(recipe, 1, 3.68));
        for (const char* id : {"lr_over_10", "lr_over_3", "warmup_50", "clip_0.1", "clip_off", "eps_1e-10"})
            QVERIFY2(!find(all, id), id);
        QCOMPARE(get(all, "lr_times_3").recipe.train.optimizer.lr, 3e-6);
        QCOMPARE(get(all, "lr_times_10").recipe.train.optimizer.lr, 1e-5);
        QCOMPARE(get(all, "lr_0.003").recipe.train.optimizer.lr, 3e-3);
        QCOMPARE(get(all, "lr_0.003").sentence, std::string("Learning rate 10⁻⁶ → 0.003"));
        QCOMPARE(get(all, "lr_0.003").reason,
                 std::string("the highest rate of a step was 10⁻⁶, the loss ended 28 % above the unigram "
                             "entropy"));
        // Up to the laboratory's rate.
        recipe.train.optimizer.lr = 1e-3;
        all = remedies(recipe, stalled(recipe, 1, 3.68));
        QVERIFY(find(all, "lr_times_3") && !find(all, "lr_times_10") && !find(all, "lr_0.003"));
        recipe.train.optimizer.lr = 1.1e-3;
        QVERIFY(find(remedies(recipe, stalled(recipe, 1, 3.68)), "lr_over_3"));
        // A run that reached the unigram entropy has moved far enough; one that diverged too far.
        recipe.train.optimizer.lr = 1e-5;
        QVERIFY(!find(remedies(recipe, stalled(recipe, 1, 2.88)), "lr_times_3"));
        RunData diverged = stalled(recipe, 1, 3.68);
        diverged.outcome.state = RunState::Diverged;
        QVERIFY(!find(remedies(recipe, diverged), "lr_times_3"));
        QVERIFY(find(remedies(recipe, diverged), "lr_over_10"));
        // The rates of the laboratory are not those of sgd.
        recipe.train.optimizer.kind = OptimizerKind::Sgd;
        recipe.train.optimizer.lr = 0.1;
        all = remedies(recipe, stalled(recipe, 0.5, 3.68));
        QVERIFY(find(all, "lr_times_10") && !find(all, "lr_0.003") && !find(all, "beta2_0.999"));
    }

    void aRateFarAboveTheLaboratorysIsOfferedThatOne() {
        Recipe recipe;
        recipe.train.optimizer.lr = 0.3;
        const auto all = remedies(recipe, stalled(recipe, 1, 2.87));
        QCOMPARE(get(all, "lr_0.003").recipe.train.optimizer.lr, 3e-3);
        QVERIFY(find(all, "lr_over_3"));
        recipe.train.optimizer.lr = 0.09;
        QVERIFY(!find(remedies(recipe, stalled(recipe, 1, 2.87)), "lr_0.003"));
    }

    void smallUpdatesAreOfferedHigherRates() {
        Recipe recipe;
        recipe.train.optimizer.lr = 1e-4;
        RunData run = stalled(recipe, 1, 2.87);
        sample::add(run, "updates", 3, {sample::vector("update_ratio", {1e-5, std::nan(""), 1.1e-3})});
        QVERIFY(!find(remedies(recipe, run), "lr_times_3"));
        QVERIFY(get(remedies(recipe, run), "lr_over_3").reason.find("was 0.0011 of its norm") !=
                std::string::npos);
        run.probes.clear();
        sample::add(run, "updates", 3, {sample::vector("update_ratio", {1e-5, 9e-4})});
        QVERIFY(find(remedies(recipe, run), "lr_times_3") && !find(remedies(recipe, run), "lr_over_3"));
    }

    void aTightClipIsOfferedNoneAndASmallerEps() {
        Recipe recipe;
        recipe.train.optimizer.clip = 1e-8;
        RunData run = stalled(recipe, 1, 3.25);
        const auto all = remedies(recipe, run);
        QCOMPARE(get(all, "clip_off").recipe.train.optimizer.clip, 0.0);
        QCOMPARE(get(all, "clip_off").reason,
                 std::string("100 % of the steps were clipped, by a median factor of 10⁸"));
        QCOMPARE(get(all, "clip_1").recipe.train.optimizer.clip, 1.0);
        // ‖g‖/√n is 10⁻⁸ over some hundreds.
        QCOMPARE(get(all, "eps_1e-13").recipe.train.optimizer.eps, 1e-13);
        QVERIFY2(get(all, "eps_1e-13").reason.rfind("at 100 % of the steps the gradient", 0) == 0,
                 get(all, "eps_1e-13").reason.c_str());
        for (const Remedy& remedy : all)
            QVERIFY(remedy.recipe.train.optimizer.clip == 0 || remedy.recipe.train.optimizer.clip >= 1e-8);
        for (const char* id : {"lr_over_10", "lr_over_3", "warmup_50", "lr_times_3"})
            QVERIFY2(!find(all, id), id);
        // One of ten steps, or a factor below 10, is no tight clip; but ε may still be large.
        run.steps.columns[1][0] = 1e-9;
        QCOMPARE(get(remedies(recipe, run), "clip_off").reason,
                 std::string("99.5 % of the steps were clipped, by a median factor of 10⁸"));
        for (std::size_t i = 0; i < 21; ++i) run.steps.columns[1][i] = 1e-9;
        QVERIFY(!find(remedies(recipe, run), "clip_off"));
        QVERIFY(find(remedies(recipe, run), "eps_1e-13"));
        recipe.train.optimizer.clip = 0.1;
        QVERIFY(!find(remedies(recipe, stalled(recipe, 0.99, 3.25)), "clip_off"));
        RunData diverged = stalled(recipe, 100, 3.25);
        diverged.outcome.state = RunState::Diverged;
        QVERIFY(!find(remedies(recipe, diverged), "clip_off"));
        const auto loose = remedies(recipe, stalled(recipe, 1, 3.25));
        QVERIFY(find(loose, "clip_off") && !find(loose, "eps_1e-13"));
        QCOMPARE(get(loose, "clip_1").recipe.train.optimizer.clip, 1.0);
        recipe.train.optimizer.kind = OptimizerKind::Sgd;
        recipe.train.optimizer.clip = 1e-8;
        QVERIFY(!find(remedies(recipe, stalled(recipe, 1, 3.25)), "eps_1e-13"));
    }

    void aLargeEpsIsOfferedTheUsualOne() {
        Recipe recipe;
        recipe.train.optimizer.eps = 1;
        RunData run = stalled(recipe, 1, 3.25);
        QCOMPARE(get(remedies(recipe, run), "eps_1e-08").recipe.train.optimizer.eps, 1e-8);
        // At fewer than half of the steps.
        for (std::size_t i = 0; i < 101; ++i) run.steps.columns[1][i] = 1e6;
        recipe.train.optimizer.clip = 0;
        QVERIFY(!find(remedies(recipe, run), "eps_1e-08"));
    }

    void aLongWarmUpIsOfferedAShorterOne() {
        Recipe recipe;
        recipe.train.schedule.warmup = 2000;
        const auto all = remedies(recipe, stalled(recipe, 1, 2.87));
        QCOMPARE(get(all, "warmup_20").recipe.train.schedule.warmup, 20);
        QCOMPARE(get(all, "warmup_20").sentence, std::string("Warm-up of 20 steps instead of 2000"));
        QCOMPARE(get(all, "warmup_20").reason, std::string("the warm-up took 200 of the 200 steps"));
        QVERIFY(!find(all, "lr_over_10"));
        // Without a gradient the steps may be too large all the same.
        QVERIFY(find(remedies(recipe, stalled(recipe, 1, 2.87, 1e-6)), "lr_over_10"));
        recipe.train.schedule.warmup = 100;
        QVERIFY(!find(remedies(recipe, stalled(recipe, 1, 2.87)), "warmup_20"));
    }

    void muchDecayIsOfferedLess() {
        Recipe recipe;
        recipe.train.optimizer.weight_decay = 1;  // · 0.003 · 200 = 0.6
        const auto all = remedies(recipe, stalled(recipe, 1, 2.87));
        QCOMPARE(get(all, "decay_0.1").recipe.train.optimizer.weight_decay, 0.1);
        QCOMPARE(get(all, "decay_0.1").reason,
                 std::string("weight decay · learning rate, summed over the steps, was 0.6"));
        recipe.train.optimizer.kind = OptimizerKind::Adam;
        QVERIFY(!find(remedies(recipe, stalled(recipe, 1, 2.87)), "decay_0.1"));
        recipe = Recipe{};
        recipe.train.optimizer.weight_decay = 0.8;
        QVERIFY(!find(remedies(recipe, stalled(recipe, 1, 2.87)), "decay_0.08"));
    }

    void skippedUpdatesAreCounted() {
        Recipe recipe;
        recipe.train.precision = Precision::Fp16;
        RunData run = stalled(recipe, 1, 2.87);
        for (int i = 0; i < 24; ++i) run.events.push_back({i, "overflow", ""});
        QCOMPARE(get(remedies(recipe, run), "fp32").reason, std::string("12 % of the updates were skipped"));
    }

    void theOtherBetaIsAnExperiment() {
        Recipe recipe;
        recipe.train.optimizer.betas[1] = 0.999;
        const auto all = remedies(recipe, failed());
        QCOMPARE(get(all, "beta2_0.95").recipe.train.optimizer.betas[1], 0.95);
        QCOMPARE(get(all, "beta2_0.95").sentence, std::string("Adam's β₂ 0.999 → 0.95, an experiment"));
        QVERIFY(get(all, "beta2_0.95").reason.empty());
    }

    void theListIsByKind() {
        const auto all = remedies(post(), failed());
        QCOMPARE(all.front().kind, RemedyKind::Training);
        QCOMPARE(get(all, "init_gpt2").kind, RemedyKind::Weights);
        QCOMPARE(get(all, "deepnorm").kind, RemedyKind::Stack);
        for (std::size_t i = 1; i < all.size(); ++i) QVERIFY(all[i - 1].kind <= all[i].kind);
        QCOMPARE(std::string(remedy_kind_word(RemedyKind::Stack)), std::string("stack"));
    }

    void overridesBelongToTheirScheme() {
        Recipe recipe = post();
        LayerOverride layer;
        layer.attn.post = false;
        recipe.stack.layers = {layer};
        const auto all = remedies(recipe, failed());
        QVERIFY(get(all, "pre").recipe.stack.layers.empty());
        QCOMPARE(get(all, "lr_over_3").recipe.stack.layers.size(), std::size_t{1});
    }

    void importedWeightsAndUnreadRecipesAreObstacles() {
        RunData run = failed();
        QVERIFY(remedies_obstacle(run).empty());
        run.events.push_back({0, "weights", "from model.safetensors"});
        QCOMPARE(remedies_obstacle(run), std::string("it began with weights from model.safetensors"));
        run.recipe = RunRecipe{};
        QVERIFY(remedies_obstacle(run).find("cannot be read") != std::string::npos);
    }

    void theHeadlineRestsOnWhatWasRecorded() {
        RunData run = failed();
        run.unigram_entropy = 2.87;
        run.steps.names = {"loss", "grad_ratio"};
        run.steps.columns.resize(2);
        for (int i = 0; i < 200; ++i) {
            run.steps.step.push_back(i);
            run.steps.columns[0].push_back(2.86);
            run.steps.columns[1].push_back(i == 0 ? 3.6 : 6e-7);
        }
        Headline line = headline(run);
        QCOMPARE(line.title, std::string("Stalled at the unigram entropy"));
        QCOMPARE(line.measured, std::string("Loss 2.86 nat over the last 20 steps; unigram entropy 2.87"));
        QVERIFY(line.began.empty());
        QCOMPARE(
            line.gradient,
            std::string("Gradient, layer 1 over 12 (training batch): 3.6 at step 0, 6×10⁻⁷ at step 199"));
        QVERIFY(headline(run, 198).title.empty());  // it has not ended, and nothing has left its range
        sample::add(run, "gradients", 0, {sample::vector("hidden", {1, 1, 1, 1, 1})});
        sample::add(run, "gradients", 3, {sample::vector("hidden", {1, 1, 1e-3, 1, 1})});
        QCOMPARE(
            headline(run).began,
            std::string(
                "First outside the range of runs that learn: gradient, first over last layer, at step 3; ") +
                false_alarms_text());
        QCOMPARE(headline(run).brief,
                 std::string("First out of its range: gradient, first over last layer, at step 3"));
        // Scrubbed to before its end: what has happened by then.
        QVERIFY(headline(run, 2).title.empty());
        line = headline(run, 3);
        QCOMPARE(line.title, std::string("Outside the range of runs that learn"));
        QVERIFY(line.measured.empty());
        QCOMPARE(line.began, std::string("First gradient, first over last layer (1 → 0.001), at step 3"));
        QCOMPARE(line.gradient,
                 std::string("Gradient, layer 1 over 12 (training batch): 3.6 at step 0, 6×10⁻⁷ at step 3"));
        for (double& loss : run.steps.columns[0]) loss = 3.1;
        QCOMPARE(headline(run).title, std::string("Stalled above the unigram entropy"));
        run.outcome = {RunState::Diverged, 12, "step 12 · L7 ffn.w2 · inf", 6};
        QCOMPARE(headline(run).title, std::string("Diverged at step 12"));
        QCOMPARE(headline(run).measured, std::string("L7 ffn.w2 · inf"));
        run.outcome.state = RunState::Finished;
        QVERIFY(headline(run).title.empty());
    }
};

NORMSCOPE_TEST(RemediesTest)
#include "remedies_test.moc"
