// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/probe_costs.h"

#include "core/probe/interface/cadence.h"
#include "core/probe/registry.h"
#include "core/run/complete.h"
#include "core/run/complete_run.h"
#include "core/run/experiment.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <numeric>

using namespace normscope;

namespace {

Recipe small(const std::vector<std::string>& more = {}) {
    std::vector<std::string> settings{"stack.depth=2",   "stack.d_model=16", "stack.heads=2",
                                      "stack.context=8", "batch=2",          "steps=12"};
    settings.insert(settings.end(), more.begin(), more.end());
    return load_recipe("pre-ln", settings);
}

RunData trained(const Recipe& recipe) {
    ThreadPool pool(1);
    return complete_run(recipe, "run", pool);
}

double sum(const ProbeTimes& times) {
    double ms = 0;
    for (const ProbeTime& time : times.probes) ms += time.ms;
    return ms;
}

}  // namespace

class ProbeCostsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// The times of the probes are those of the rows: in all, and at every step.
    void theTimesOfTheProbesAddUpToThoseOfTheSteps() {
        const RunData run = trained(small());
        const ProbeTimes times = probe_times(run);
        QCOMPARE(times.probes.size(), default_probes().size());
        QVERIFY(times.probes_ms > 0 && times.steps_ms > 0);
        QVERIFY2(std::abs(sum(times) - times.probes_ms) <= 1e-9 * times.probes_ms,
                 qPrintable(QString("%1 and %2").arg(sum(times)).arg(times.probes_ms)));
        const std::vector<double>& column = *run.steps.find("probe_ms");
        for (std::size_t row = 0; row < column.size(); ++row) {
            double ms = 0;
            for (const auto& [probe, samples] : run.probes)
                for (const ProbeResult& sample : samples)
                    if (sample.step == run.steps.step[row]) ms += sample.cost_ms;
            QVERIFY2(std::abs(ms - column[row]) <= 1e-9 * (1 + ms), qPrintable(QString::number(row)));
        }
    }

    /// What is shown while a run trains: of the dense first steps, then of those after them alone, for which
    /// there is a budget.
    void theShareIsOfTheStepsWithABudget() {
        Recipe recipe = small({"steps=60", R"(probes=[{"id":"growth","every":1}])"});
        complete_and_validate(recipe);
        Experiment experiment(recipe, "a", "A");
        ThreadPool pool(1);
        StepTable steps;
        const auto share = [&](std::size_t from) {
            const std::vector<double>&probes = *steps.find("probe_ms"), &trained = *steps.find("step_ms");
            return std::accumulate(probes.begin() + std::ptrdiff_t(from), probes.end(), 0.0) /
                   std::accumulate(trained.begin() + std::ptrdiff_t(from), trained.end(), 0.0);
        };
        while (!experiment.ended()) {
            for (const StepRecord& record : experiment.advance(pool).steps) steps.append(record);
            const double shown = experiment.probe_overhead();
            QVERIFY(shown > 0);
            const double expected =
                share(steps.rows() > std::size_t(kDenseSteps) ? std::size_t(kDenseSteps) : 0);
            QVERIFY2(std::abs(shown / expected - 1) < 1e-9, qPrintable(QString::number(steps.rows())));
        }
        QCOMPARE(steps.rows(), std::size_t{60});
    }

    /// Of made-up times, to the number: sums, samples, the longest, the order, the share.
    void madeUpTimesAreSummed() {
        RunData run;
        run.recipe = small({R"(probes=[{"id":"growth","every":1},{"id":"theta","every":1}])"});
        run.steps.names = {"step_ms", "probe_ms"};
        run.steps.columns.resize(2);
        for (int step = 0; step < 3; ++step) {
            const double growth = 1 << step, theta = step == 1 ? 100 : 0;
            run.steps.append({step, {{"step_ms", 50}, {"probe_ms", growth + theta}}});
            run.probes["growth"].emplace_back();
            run.probes["growth"].back().step = step;
            run.probes["growth"].back().cost_ms = growth;
            if (step != 1) continue;
            run.probes["theta"].emplace_back();
            run.probes["theta"].back().step = step;
            run.probes["theta"].back().cost_ms = theta;
        }
        // Not of the training: measured afterwards, asked for by a panel, kept by the flight recorder.
        for (const char* probe : {"theta", "spectra", "flight"}) {
            run.probes[probe].emplace_back();
            run.probes[probe].back().step = 2;
            run.probes[probe].back().cost_ms = 1e6;
        }
        const ProbeTimes times = probe_times(run, {{"theta", 2}});
        QCOMPARE(times.steps_ms, 150.0);
        QCOMPARE(times.probes_ms, 107.0);
        QCOMPARE(times.probes.size(), std::size_t{2});
        QCOMPARE(times.probes[0].probe, std::string("theta"));
        QCOMPARE(times.probes[0].ms, 100.0);
        QCOMPARE(times.probes[1].samples, std::int64_t{3});
        QCOMPARE(times.probes[1].ms, 7.0);
        QCOMPARE(times.probes[1].largest, 4.0);
        QCOMPARE(times.share(times.probes_ms), 107.0 / 150.0);
        QCOMPARE(ProbeTimes().share(1), 0.0);
    }
};

NORMSCOPE_TEST(ProbeCostsTest)
#include "probe_costs_test.moc"
