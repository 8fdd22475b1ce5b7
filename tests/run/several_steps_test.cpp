// SPDX-License-Identifier: GPL-3.0-or-later
// Several steps of one call, on a device that runs alone: the recording is that of a run step by step, and no
// probe, held-out loss or checkpoint is missed.
#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/run/run.h"
#include "device_runs.h"
#include "small_run.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::test;
using namespace std::chrono_literals;

class SeveralStepsTest : public QObject {
    Q_OBJECT
    using Rows = std::vector<std::pair<std::int64_t, std::vector<double>>>;

    /// The steps' numbers without their times.
    static Rows rows(const RunDelta& all) {
        Rows rows;
        for (const StepRecord& record : all.steps) {
            rows.push_back({record.step, {}});
            for (const auto& [name, value] : record.values)
                if (name != "tokens_per_s" && name != "step_ms" && name != "probe_ms")
                    rows.back().second.push_back(std::isnan(value) ? -1 : value);
        }
        return rows;
    }
    static QStringList events(const RunDelta& all) {
        QStringList lines;
        for (const RunEvent& e : all.events)
            lines << QString("%1 %2 %3").arg(e.step).arg(e.kind.c_str(), e.text.c_str());
        return lines;
    }

  private Q_SLOTS:
    void theRecordingIsThatOfSingleSteps_data() {
        QTest::addColumn<double>("lr");
        QTest::addColumn<int>("precision");
        QTest::newRow("to the end") << 3e-3 << int(Precision::Fp32);
        QTest::newRow("overflows") << 3e-3 << int(Precision::Fp16);
        QTest::newRow("diverges") << 1e30 << int(Precision::Fp32);
    }
    void theRecordingIsThatOfSingleSteps() {
        QFETCH(double, lr);
        QFETCH(int, precision);
        Recipe recipe = small_recipe(20, 7);
        recipe.train.validate_every = 6;
        recipe.train.schedule.warmup = 5;
        recipe.train.optimizer.lr = lr;
        recipe.train.precision = static_cast<Precision>(precision);
        recipe.probes = {{"growth", 5}, {"updates", 8}, {"attention", 20}};
        MemorySink single, several;
        ThreadPool pool(1);
        for (MemorySink* sink : {&single, &several}) {
            Run run(std::make_unique<Experiment>(recipe, "a", "A", nullptr, emulated_cuda_device()), {},
                    *sink, 1h);
            run.begin();
            while (!run.ended()) run.advance(pool, sink == &several ? 100 : 1);
        }
        QVERIFY(rows(several.all) == rows(single.all));
        QCOMPARE(events(several.all), events(single.all));
        QCOMPARE(several.all.outcome->state, single.all.outcome->state);
        QCOMPARE(several.all.outcome->text, single.all.outcome->text);
        QCOMPARE(several.checkpoints, single.checkpoints);
        QCOMPARE(several.rows_at, single.rows_at);
        QVERIFY(several.last->params == single.last->params);
        QCOMPARE(device_runs::difference(several.all.probes, single.all.probes), "");
        QCOMPARE(single.all.outcome->state, lr > 1 ? RunState::Diverged : single.all.outcome->state);
    }

    /// About 8 ms a call, so that a frame is never late: one long step, a few short ones.
    void aCallIsShort() {
        QCOMPARE(steps_of_a_call(1.0), 1);
        QCOMPARE(steps_of_a_call(0.008), 1);
        QCOMPARE(steps_of_a_call(0.001), 8);
        QCOMPARE(steps_of_a_call(1e-5), 16);
        Experiment on_cpu(small_recipe(3), "a", "A");
        ThreadPool pool(1);
        on_cpu.advance(pool);
        QCOMPARE(on_cpu.steps_a_call(), 1);
    }
};

NORMSCOPE_TEST(SeveralStepsTest)
#include "several_steps_test.moc"
