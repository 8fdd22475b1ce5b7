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

const Remedy* find(const std::vector<Remedy>& all, const std::string& id) {
    for (const Remedy& remedy : all)
        if (remedy.id == id) return &remedy;
    return nullptr;
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
                               "lr_over_10", "lr_over_3", "warmup_50", "clip_0.1"})
            QVERIFY2(find(all, id), id);
        QCOMPARE(find(all, "residual_step_0.2")->recipe.stack.residual_step, 0.2);
        QCOMPARE(find(all, "lr_over_3")->recipe.train.optimizer.lr, recipe.train.optimizer.lr / 3);
        QCOMPARE(find(all, "deepnorm")->recipe.stack.init.rule, InitRule::DeepNorm);
        QCOMPARE(find(all, "warmup_50")->recipe.train.schedule.warmup, 50);
        QCOMPARE(find(all, "residual_step_0.2")->sentence, std::string("Residual step 1 → 0.2"));
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
        QCOMPARE(find(all, "fp32")->recipe.train.precision, Precision::Fp32);
        recipe.train.precision = Precision::Fp32;
        QVERIFY(!find(remedies(recipe, run), "fp32"));
    }

    void overridesBelongToTheirScheme() {
        Recipe recipe = post();
        LayerOverride layer;
        layer.attn.post = false;
        recipe.stack.layers = {layer};
        const auto all = remedies(recipe, failed());
        QVERIFY(find(all, "pre")->recipe.stack.layers.empty());
        QCOMPARE(find(all, "lr_over_3")->recipe.stack.layers.size(), std::size_t{1});
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
        QCOMPARE(line.gradient,
                 std::string("Gradient, layer 1 ÷ 12 (training batch): 3.6 at step 0, 6×10⁻⁷ at step 199"));
        QVERIFY(headline(run, 198).title.empty());  // it has not ended, and nothing has left its range
        sample::add(run, "gradients", 0, {sample::vector("hidden", {1, 1, 1, 1, 1})});
        sample::add(run, "gradients", 3, {sample::vector("hidden", {1, 1, 1e-3, 1, 1})});
        QCOMPARE(
            headline(run).began,
            std::string(
                "First outside the range of runs that learn: gradient, first ÷ last layer, at step 3; ") +
                false_alarms_text());
        QCOMPARE(headline(run).brief,
                 std::string("First out of its range: gradient, first ÷ last layer, at step 3"));
        // Scrubbed to before its end: what has happened by then.
        QVERIFY(headline(run, 2).title.empty());
        line = headline(run, 3);
        QCOMPARE(line.title, std::string("Outside the range of runs that learn"));
        QVERIFY(line.measured.empty());
        QCOMPARE(line.began, std::string("First gradient, first ÷ last layer (1 → 0.001), at step 3"));
        QCOMPARE(line.gradient,
                 std::string("Gradient, layer 1 ÷ 12 (training batch): 3.6 at step 0, 6×10⁻⁷ at step 3"));
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
