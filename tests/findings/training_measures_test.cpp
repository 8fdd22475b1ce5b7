// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/training_measures.h"

#include "core/probe/interface/operations.h"
#include "tests/findings/sample_data.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <limits>

using namespace normscope;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

RunData recorded(std::vector<std::string> names, std::vector<std::vector<double>> columns) {
    RunData run = sample::run("A");
    run.unigram_entropy = 2;
    for (std::size_t i = 0; i < columns.front().size(); ++i)
        run.steps.step.push_back(static_cast<std::int64_t>(i));
    run.steps.names = std::move(names);
    run.steps.columns = std::move(columns);
    return run;
}

bool near(double value, double expected) {
    return std::abs(value - expected) <= 1e-12 * std::abs(expected);
}

}  // namespace

class TrainingMeasuresTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void whatTheClipAndEpsDid() {
        Recipe recipe;
        recipe.train.optimizer.clip = 2;
        const double weights = std::sqrt(probe_shape(recipe.stack, 8, 1).parameters());
        // A norm that overflowed is no measurement.
        const RunData run = recorded({"grad_norm"}, {{1, 2, 4, 20, 40, kInf}});
        recipe.train.optimizer.eps = 1.5 / weights;
        const TrainingMeasures measures = training_measures(recipe, run);
        QCOMPARE(measures.steps, std::int64_t{6});
        QCOMPARE(measures.clipped, 0.6);
        QCOMPARE(measures.clip_factor, 10.0);
        QVERIFY(near(measures.gradient_rms, 2 / weights));
        QCOMPARE(measures.dead, 0.2);  // 1; the others are 2 after clipping
        recipe.train.optimizer.eps = 3 / weights;
        QCOMPARE(training_measures(recipe, run).dead, 1.0);
        recipe.train.optimizer.clip = 0;
        QVERIFY(std::isnan(training_measures(recipe, run).clipped));
        QCOMPARE(training_measures(recipe, run).dead, 0.4);
        recipe.train.optimizer.kind = OptimizerKind::Sgd;
        QVERIFY(std::isnan(training_measures(recipe, run).dead));
    }

    void ratesAndDecay() {
        Recipe recipe;
        recipe.train.optimizer.weight_decay = 0.5;
        const RunData run = recorded({"lr"}, {{0.1, 0.3, 0.2}});
        QCOMPARE(training_measures(recipe, run).peak_rate, 0.3);
        QVERIFY(near(training_measures(recipe, run).decay, 0.3));
        recipe.train.optimizer.kind = OptimizerKind::Adam;
        QVERIFY(std::isnan(training_measures(recipe, run).decay));
    }

    void whatTheLossAndTheGradientDid() {
        std::vector<double> loss(30, 2.5), ratio(30, 100.0);
        loss[0] = 4;
        for (std::size_t i = 10; i < 30; ++i) ratio[i] = 0.01;
        RunData run = recorded({"loss", "grad_ratio"}, {loss, ratio});
        run.events = {{3, "overflow", ""}, {4, "knob", ""}, {9, "overflow", ""}, {11, "overflow", ""}};
        TrainingMeasures measures = training_measures({}, run);
        QCOMPARE(measures.fall, 1.5);
        QCOMPARE(measures.over_unigram, 1.25);
        QVERIFY(!measures.reached_unigram());
        QCOMPARE(measures.skipped, 0.1);
        QVERIFY(near(measures.gradient_ratio, 0.01));
        measures.over_unigram = 1.03;
        QVERIFY(measures.reached_unigram());
        measures.gradient_ratio = 0.011;
        QVERIFY(measures.healthy_gradient());
        measures.gradient_ratio = 0.009;
        QVERIFY(!measures.healthy_gradient());
    }

    void updatesAreThoseOfTheRun() {
        RunData run = sample::run("A");
        sample::add(run, "updates", 0, {sample::vector("update_ratio", {0.1, std::nan(""), 0.3})});
        sample::add(run, "updates", 5, {sample::vector("update_ratio", {0.5, 0.2, 0.1})});
        sample::add(run, "updates", 9, {sample::vector("update_ratio", {9, 9, 9})});
        run.probes["updates"].back().labels["update"] = {"a trial"};
        QCOMPARE(training_measures({}, run).update, 0.4);
    }

    void whatIsMissingIsNotANumber() {
        const RunData run = sample::run("A");
        const TrainingMeasures measures = training_measures({}, run);
        for (const double value :
             {measures.clipped, measures.clip_factor, measures.gradient_rms, measures.dead, measures.skipped,
              measures.update, measures.decay, measures.fall, measures.over_unigram, measures.gradient_ratio})
            QVERIFY(std::isnan(value));
        QCOMPARE(measures.peak_rate, Recipe{}.train.optimizer.lr);
        QVERIFY(!measures.healthy_gradient() && !measures.reached_unigram());
    }
};

NORMSCOPE_TEST(TrainingMeasuresTest)
#include "training_measures_test.moc"
