// SPDX-License-Identifier: GPL-3.0-or-later
// The band of runs that learned: its false alarms are as frequent as stated, on synthetic and on trained
// runs; a run that leaves it does so at the step and place where it was changed.
#include "core/findings/healthy_band.h"

#include "core/base/error.h"
#include "core/base/nan.h"
#include "core/run/experiment.h"
#include "core/sweep/statistics/interval.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <random>

using namespace normscope;

namespace {

constexpr int kSteps = 12;

/// Three hidden states whose logarithms walk, each run by its own step size; a gradient that is no size.
RunData walking(std::mt19937& generator) {
    std::normal_distribution<double> normal;
    RunData run;
    run.name = "walk";
    std::vector<double> state{1, 2, 3};
    const double own = std::exp(0.3 * normal(generator));
    for (int step = 0; step < kSteps; ++step) {
        StepRecord record;
        record.step = step;
        record.values = {{"loss", 3 - 0.1 * step + 0.05 * normal(generator)},
                         {"grad_norm", std::exp(0.2 * normal(generator))}};
        run.steps.append(record);
        for (double& value : state) value *= std::exp(0.1 * own * normal(generator));
        ProbeResult growth;
        growth.probe = "growth";
        growth.step = step;
        growth.arrays = {{"rms", {3}, state, {"hidden_state"}, "1"},
                         {"rms_error", {3}, {1e9, 1e9, 1e9}, {"hidden_state"}, "1"},
                         {"cosine", {2}, {normal(generator), kNaN}, {"layer"}, "1"},
                         {"cosine_error", {2}, {1, 1}, {"layer"}, "1"},
                         {"largest", {1}, {std::exp(9 * normal(generator))}, {}, "1"}};
        insert_sample(run, growth);
    }
    return run;
}

std::vector<RunData> walks(std::mt19937& generator, std::size_t count) {
    std::vector<RunData> runs;
    for (std::size_t i = 0; i < count; ++i) runs.push_back(walking(generator));
    return runs;
}

double& rms(RunData& run, int step, std::size_t entry) {
    return run.probes.at("growth").at(static_cast<std::size_t>(step)).arrays.at(0).data.at(entry);
}

QString problem_of(const std::vector<RunData>& runs) {
    try {
        HealthyBand(runs, 0.05);
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

RunData trained(std::uint64_t seed, double lr) {
    Recipe recipe =
        load_recipe("pre-ln", {"stack.depth=4", "stack.d_model=16", "stack.heads=2", "stack.context=16",
                               "batch=4", "steps=50", "schedule.lr=constant", "seed=" + std::to_string(seed),
                               "optimizer.lr=" + std::to_string(lr)});
    recipe.probes = {{"growth", 1, "", "", ""}, {"gradients", 1, "", "", ""}, {"attention", 1, "", "", ""}};
    ThreadPool pool(2);
    Experiment experiment(recipe, "a", "seed " + std::to_string(seed));
    RunData run = experiment.header();
    while (!experiment.ended()) append(run, experiment.advance(pool));
    run.outcome = experiment.outcome();
    return run;
}

}  // namespace

class HealthyBandTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// Of 600 groups the share in which one more run of the same kind is outside.
    void falseAlarmsAreAsStated_data() {
        QTest::addColumn<int>("runs");
        QTest::addColumn<double>("rate");
        QTest::addColumn<double>("stated");
        QTest::newRow("one of ten") << 9 << 0.1 << 0.1;
        QTest::newRow("one of 21, the lowest") << 20 << 0.01 << 1.0 / 21;
        QTest::newRow("a fifth") << 19 << 0.2 << 0.2;
    }
    void falseAlarmsAreAsStated() {
        QFETCH(int, runs);
        QFETCH(double, rate);
        QFETCH(double, stated);
        std::mt19937 generator(7);
        constexpr int kGroups = 600;
        int outside = 0;
        for (int i = 0; i < kGroups; ++i) {
            const HealthyBand band(walks(generator, static_cast<std::size_t>(runs)), rate);
            QVERIFY(std::abs(band.false_alarm_rate() - stated) < 1e-12);
            outside += band.outside(walking(generator)).has_value();
        }
        const double share = double(outside) / kGroups, error = std::sqrt(stated * (1 - stated) / kGroups);
        qInfo("stated %.4f, seen %.4f", stated, share);
        QVERIFY2(share < stated + 3 * error, qPrintable(QString::number(share)));
        QVERIFY2(share > 0.4 * stated, qPrintable(QString::number(share)));  // it is no band of everything
    }

    void aChangedNumberIsFoundAtItsStepAndPlace() {
        std::mt19937 generator(3);
        const HealthyBand band(walks(generator, 19), 0.05);
        RunData run = walking(generator);
        QVERIFY(!band.outside(run));
        QCOMPARE(band.compared(run), std::size_t(kSteps));
        rms(run, 8, 1) *= 50;
        rms(run, 10, 2) *= 1e6;
        const auto outside = band.outside(run);
        QVERIFY(outside);
        QCOMPARE(outside->step, std::int64_t{8});
        QCOMPARE(outside->series, std::string("probes/growth/rms"));
        QCOMPARE(outside->place, std::string("layer 1, attention"));
        QCOMPARE(outside->value, rms(run, 8, 1));
        QVERIFY(outside->low < outside->middle && outside->middle < outside->high && outside->high < 10);
        QVERIFY(!band.loss_outside(run));

        rms(run, 5, 0) = std::numeric_limits<double>::infinity();
        QCOMPARE(band.outside(run)->step, std::int64_t{5});
        QCOMPARE(band.outside(run)->place, std::string("embedding"));
        rms(run, 3, 0) = kNaN;  // not defined there
        rms(run, 2, 0) = -100;  // of a number that is positive in all healthy runs
        QCOMPARE(band.outside(run)->step, std::int64_t{2});
        run.steps.columns[0][4] = 9;
        QCOMPARE(band.loss_outside(run)->step, std::int64_t{4});
        QCOMPARE(band.loss_outside(run)->series, std::string("steps/loss"));
    }

    /// What not every run has is not compared; the standard errors never are.
    void numbersThatAreMissing() {
        std::mt19937 generator(5);
        std::vector<RunData> runs = walks(generator, 10);
        const std::size_t numbers = HealthyBand(runs, 0.1).numbers();
        QCOMPARE(numbers, std::size_t(kSteps * (3 + 1 + 1)));  // states, one cosine, the gradient's norm
        runs[4].probes.clear();
        QCOMPARE(HealthyBand(runs, 0.1).numbers(), std::size_t(kSteps));
        runs[7].steps.step.resize(5);
        for (auto& column : runs[7].steps.columns) column.resize(5);
        QCOMPARE(HealthyBand(runs, 0.1).steps(), std::size_t{5});
        runs.resize(7);
        QVERIFY(problem_of(runs).contains("7 are too few for a band, allowed: 8 and more"));
        runs = walks(generator, 8);
        runs[3].steps = {};
        QVERIFY(problem_of(runs).contains("has no step"));
        for (auto& step : (runs[3] = walking(generator)).steps.step) step += 100;
        QVERIFY(problem_of(runs).contains("no step in common"));
    }

    /// 20 runs that learned, 20 more of them, and 20 at a rate of 100 times as much.
    void trainedRuns() {
        std::vector<RunData> healthy;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) healthy.push_back(trained(seed, 3e-3));
        const HealthyBand band(healthy, 0.05);
        int alarms = 0, found = 0;
        std::vector<double> leads;
        for (std::uint64_t seed = 101; seed <= 120; ++seed) {
            const RunData more = trained(seed, 3e-3), fast = trained(seed, 0.3);
            alarms += band.outside(more).has_value();
            const auto outside = band.outside(fast), loss = band.loss_outside(fast);
            found += outside.has_value();
            if (outside && loss) leads.push_back(double(loss->step - outside->step));
        }
        QVERIFY(leads.size() > 1);
        const Interval lead = student_interval(leads);
        qInfo(
            "%zu numbers, rate %.3f: %d of 20 further healthy runs outside, %d of 20 at 100 times the rate; "
            "lead "
            "before the loss %.2f steps, 95 %% interval %.2f to %.2f, of %zu runs",
            band.numbers(), band.false_alarm_rate(), alarms, found, lead.mean, lead.low, lead.high,
            leads.size());
        // More than 4 of 20 at one in 21: 0.3 % by chance.
        QVERIFY2(alarms <= 4, qPrintable(QString::number(alarms)));
        QCOMPARE(found, 20);
    }

    void entriesAreNamedByTheirAxes() {
        ProbeResult sample;
        sample.labels["sites"] = {"emb_norm", "blocks.0.attn.norm_in"};
        const auto place = [&](std::vector<std::size_t> shape, std::vector<std::string> axes,
                               std::size_t at) {
            return place_of_entry(sample, {"a", std::move(shape), {}, std::move(axes), "1"}, at);
        };
        QCOMPARE(place({3, 2, 4}, {"layer", "sublayer", "head"}, 0),
                 std::string("layer 1, attention, head 1"));
        QCOMPARE(place({3, 2, 4}, {"layer", "sublayer", "head"}, 2 * 8 + 4 + 3),
                 std::string("layer 3, feed-forward map, head 4"));
        QCOMPARE(place({5}, {"hidden_state"}, 4), std::string("layer 2, feed-forward map"));
        QCOMPARE(place({2}, {"sublayer"}, 1), std::string("layer 1, feed-forward map"));
        QCOMPARE(place({6}, {"sublayer"}, 4), std::string("layer 3, attention"));
        QCOMPARE(place({2}, {"site"}, 1), std::string("blocks.0.attn.norm_in"));
        QCOMPARE(place({3}, {"site"}, 1), std::string("site 2"));
        QCOMPARE(place({2, 3}, {"layer", "min, 5 %, max"}, 4), std::string("layer 2, 5 %"));
        QCOMPARE(place({}, {}, 0), std::string());
    }
};

NORMSCOPE_TEST(HealthyBandTest)
#include "healthy_band_test.moc"
