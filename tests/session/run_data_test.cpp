// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/run_data.h"

#include "core/session/recording/recovery.h"
#include "core/session/step_overview.h"
#include "tests/session/sample_run.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <limits>

using namespace normscope;

class TestRunData : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void tableTakesItsColumnsFromTheFirstRow() {
        StepTable table;
        table.append({0, {{"loss", 3}, {"lr", 0.1}}});
        table.append({1, {{"loss", 2}, {"lr", 0.2}}});
        QCOMPARE(table.rows(), std::size_t{2});
        QCOMPARE(*table.find("loss"), (std::vector<double>{3, 2}));
        QVERIFY(!table.find("grad_norm"));
        const auto error = sample::input_error([&] { table.append({2, {{"lr", 1}, {"loss", 2}}}); });
        QVERIFY2(error.starts_with("step 2"), error.c_str());
        QCOMPARE(table.rows(), std::size_t{2});
    }

    void newestSampleAtOrBefore() {
        const RunData run = sample::run("a", 25);  // samples at 0, 10, 20
        QVERIFY(!run.sample_at("growth", -1));
        QCOMPARE(run.sample_at("growth", 0)->step, 0);
        QCOMPARE(run.sample_at("growth", 9)->step, 0);
        QCOMPARE(run.sample_at("growth", 10)->step, 10);
        QCOMPARE(run.sample_at("growth", 1000)->step, 20);
        QVERIFY(!run.sample_at("jacobian", 1000));
    }

    void sampleOfAStep() {
        const RunData run = sample::run("a", 25);
        QCOMPARE(run.sample_of("growth", 10)->step, 10);
        QVERIFY(!run.sample_of("growth", 9));
        QVERIFY(!run.sample_of("growth", 11));
        QVERIFY(!run.sample_of("jacobian", 10));
    }

    void samplesMeasuredAfterwardsAreInOrder() {
        RunData run = sample::run("a", 25);
        const auto with_cost = [&](std::int64_t step, double cost) {
            ProbeResult sample = run.probes.at("growth").front();
            sample.step = step;
            sample.cost_ms = cost;
            return sample;
        };
        for (const std::int64_t step : {15, 24, 3}) QVERIFY(insert_sample(run, with_cost(step, 7)));
        QVERIFY(!insert_sample(run, with_cost(10, 7)));  // the run's own sample is kept
        std::vector<std::int64_t> steps;
        for (const ProbeResult& sample : run.probes.at("growth")) steps.push_back(sample.step);
        QCOMPARE(steps, (std::vector<std::int64_t>{0, 3, 10, 15, 20, 24}));
        QVERIFY(run.sample_of("growth", 10)->cost_ms != 7);
        QCOMPARE(run.sample_of("growth", 15)->cost_ms, 7);
    }

    void cutAfterAStep() {
        RunData run = sample::run("a", 25);
        cut_after(run, 10);
        RunData wanted = sample::run("a", 11);
        wanted.outcome = run.outcome;
        QCOMPARE(sample::difference(run, wanted), "");
    }

    void overviewKeepsEverySpike() {
        StepTable table;
        for (int s = 0; s < 10'000; ++s)
            table.append({s, {{"loss", std::sin(s)}, {"val_loss", std::nan("")}}});
        table.columns[0][6'400] = 1e9;
        table.columns[0][6'401] = -std::numeric_limits<double>::infinity();
        table.columns[1][9'999] = 7;
        const StepOverview level = overview_of(table);
        QCOMPARE(level.factor, 64);
        QCOMPARE(level.blocks(), std::size_t{157});
        QCOMPARE(level.step[100], 6'400);
        QCOMPARE(level.high[0][100], 1e9);
        QCOMPARE(level.low[0][100], -std::numeric_limits<double>::infinity());
        QVERIFY(std::isnan(level.low[1][0]));
        QCOMPARE(level.low[1][156], 7.0);
        const StepOverview top = coarser(level);
        QCOMPARE(top.factor, 64 * 64);
        QCOMPARE(top.blocks(), std::size_t{3});
        QCOMPARE(top.step[1], 4'096);
        QCOMPARE(top.high[0][1], 1e9);
        for (std::size_t i = 0; i < level.blocks(); ++i)
            for (std::size_t row = i * 64; row < std::min<std::size_t>((i + 1) * 64, 10'000); ++row) {
                QVERIFY(table.columns[0][row] >= level.low[0][i]);
                QVERIFY(table.columns[0][row] <= level.high[0][i]);
            }
    }
};

NORMSCOPE_TEST(TestRunData)
#include "run_data_test.moc"
