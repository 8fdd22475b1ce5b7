// SPDX-License-Identifier: GPL-3.0-or-later
// A step that was not sampled is measured afterwards, with the bits that the run itself would have measured.
#include "core/run/checkpoints/replay.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cstring>

using namespace normscope;

namespace {

Recipe recipe_of(const std::string& keys, int every) {
    Recipe recipe = parse_recipe(R"({"format": "normscope-recipe", "version": 1, "batch": 3, "steps": 14,
        "validate": {"every": 5}, )" +
                                     keys +
                                     R"("stack": {"depth": 3, "d_model": 16, "heads": 2, "context": 12,
        "scheme": "post"}})",
                                 "test");
    complete_and_validate(recipe);
    recipe.probes.clear();
    for (const ProbeInfo& probe : probe_registry()) recipe.probes.push_back({probe.id, every});
    return recipe;
}

std::vector<std::string> all_probes() {
    std::vector<std::string> ids;
    for (const ProbeInfo& probe : probe_registry()) ids.emplace_back(probe.id);
    return ids;
}

/// A run with its state before each of its steps.
struct Trained {
    RunData run;
    std::vector<std::shared_ptr<const Checkpoint>> before;
};

Trained train(const Recipe& recipe) {
    ThreadPool pool(1);
    Experiment experiment(recipe, "a", "test");
    Checkpoint start = experiment.checkpoint();
    for (auto& [name, value] : start.scalars)
        if (name == "loss_scale" && recipe.train.precision == Precision::Fp16) value = 0x1p26;
    experiment.restore(start);
    Trained trained{experiment.header(), {}};
    while (!experiment.ended()) {
        trained.before.push_back(std::make_shared<const Checkpoint>(experiment.checkpoint()));
        append(trained.run, experiment.advance(pool));
    }
    return trained;
}

void compare_bits(const ProbeResult& got, const ProbeResult& wanted) {
    QCOMPARE(got.probe, wanted.probe);
    QCOMPARE(got.step, wanted.step);
    QCOMPARE(got.labels, wanted.labels);
    QCOMPARE(got.arrays.size(), wanted.arrays.size());
    for (std::size_t i = 0; i < got.arrays.size(); ++i) {
        const NamedArray &a = got.arrays[i], &b = wanted.arrays[i];
        QCOMPARE(a.name, b.name);
        QCOMPARE(a.shape, b.shape);
        QCOMPARE(a.data.size(), b.data.size());
        QVERIFY2(
            a.data.empty() || std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof(double)) == 0,
            (wanted.probe + "/" + a.name).c_str());
    }
}

}  // namespace

class ReplayTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void givesTheBitsOfTheRun_data() {
        QTest::addColumn<QString>("keys");
        QTest::addColumn<int>("step");
        QTest::addColumn<int>("from");
        QTest::newRow("from the recipe") << "" << 9 << -1;
        QTest::newRow("from a checkpoint") << "" << 9 << 6;
        QTest::newRow("at the checkpoint") << "" << 6 << 6;
        QTest::newRow("step 0") << "" << 0 << -1;
        QTest::newRow("the last step") << "" << 13 << 6;
        // FP16 leaves updates out while its loss scale is too large: that is part of the way.
        QTest::newRow("overflows") << R"("precision": "fp16", )" << 9 << 0;
        QTest::newRow("bf16") << R"("precision": "bf16", )" << 9 << 4;
    }
    void givesTheBitsOfTheRun() {
        QFETCH(QString, keys);
        QFETCH(int, step);
        QFETCH(int, from);
        const Trained sampled = train(recipe_of(keys.toStdString(), 1));
        const auto is_overflow = [](const RunEvent& e) { return e.kind == "overflow"; };
        if (keys.contains("fp16"))
            QVERIFY(std::any_of(sampled.run.events.begin(), sampled.run.events.end(), is_overflow));

        const Trained seldom = train(recipe_of(keys.toStdString(), 1000));
        ReplayPlan plan{seldom.run, from < 0 ? nullptr : seldom.before[std::size_t(from)], step,
                        all_probes()};
        ThreadPool pool(2);
        std::vector<std::int64_t> steps_done;
        const auto results =
            replay(plan, pool, nullptr, [&](std::int64_t done) { steps_done.push_back(done); });
        QCOMPARE(steps_done.size(), std::size_t(step - std::max(0, from)));
        if (!steps_done.empty()) QCOMPARE(steps_done.back(), std::int64_t(step));
        QCOMPARE(results.size(), plan.probes.size());
        for (const ProbeResult& result : results) {
            const ProbeResult* own = sampled.run.sample_of(result.probe, step);
            QVERIFY(own);
            compare_bits(result, *own);
            if (QTest::currentTestFailed()) return;
        }
    }

    /// Several steps in one pass are those of as many replays.
    void severalStepsInOnePass() {
        const Trained sampled = train(recipe_of("", 1)), seldom = train(recipe_of("", 1000));
        ThreadPool pool(2);
        const ReplayPlan plan{seldom.run, seldom.before[2], 5, {"growth", "gradients"}, 9};
        const auto results = replay(plan, pool);
        QCOMPARE(results.size(), std::size_t{10});
        for (std::size_t i = 0; i < results.size(); ++i) {
            QCOMPARE(results[i].step, std::int64_t(5 + i / 2));
            const ProbeResult* own = sampled.run.sample_of(results[i].probe, results[i].step);
            QVERIFY(own);
            compare_bits(results[i], *own);
        }
    }

    void keepsTheStateOfTheRun() {
        const Trained seldom = train(recipe_of("", 1000));
        Replay replay({seldom.run, seldom.before[2], 7, {}});
        ThreadPool pool(1);
        while (!replay.arrived()) replay.advance(pool);
        QCOMPARE(replay.checkpoint(), *seldom.before[7]);
    }

    void rejectsAMovedKnob() {
        const Recipe recipe = recipe_of("", 1000);
        ThreadPool pool(1);
        Experiment experiment(recipe, "a", "test");
        RunData run = experiment.header();
        for (int i = 0; i < 4; ++i) append(run, experiment.advance(pool));
        const auto before = std::make_shared<const Checkpoint>(experiment.checkpoint());
        HotKnobs knobs = experiment.knobs();
        knobs.residual_step = 0.25;
        append(run, experiment.set_knobs(knobs));
        knobs.residual_step = 1.0 / 3;
        append(run, experiment.set_knobs(knobs));
        const auto after = std::make_shared<const Checkpoint>(experiment.checkpoint());
        for (int i = 0; i < 4; ++i) append(run, experiment.advance(pool));

        // Up to the move, and from the checkpoint after it; not across.
        QCOMPARE(replay_obstacle(run.events, nullptr, 3), std::string());
        QCOMPARE(replay_obstacle(run.events, after.get(), 6), std::string());
        const std::string from_start = replay_obstacle(run.events, nullptr, 4);
        QVERIFY2(from_start.find("step 4 (Δt 1 → 0.25)") != std::string::npos, from_start.c_str());
        const std::string stale = replay_obstacle(run.events, before.get(), 6);
        QVERIFY2(stale.find("Δt 0.25 → 0.3333") != std::string::npos, stale.c_str());
        QVERIFY_THROWS_EXCEPTION(InputError, replay({run, before, 6, {"growth"}}, pool));

        const ProbeResult wanted = experiment.measure("gradients", pool);
        const auto results = replay({run, after, 8, {"gradients"}}, pool);
        compare_bits(results.front(), wanted);
    }

    void rejectsWhatItCannotBringBack() {
        const RunData run = train(recipe_of("", 1000)).run;
        RunData imported = run;
        imported.events.push_back({0, "weights", "from model.safetensors"});
        const std::string line = replay_obstacle(imported.events, nullptr, 3);
        QVERIFY2(line.find("from model.safetensors") != std::string::npos, line.c_str());
        Checkpoint late;
        late.step = 5;
        QVERIFY(!replay_obstacle(run.events, &late, 4).empty());
        ThreadPool pool(1);
        QVERIFY_THROWS_EXCEPTION(InputError,
                                 replay({run, nullptr, 15, {"growth"}}, pool));  // it has 14 steps
        QVERIFY_THROWS_EXCEPTION(InputError, replay({run, nullptr, 3, {"weather"}}, pool));

        // A fork with more steps has another schedule than its parent had before it.
        const std::vector<RunEvent> longer{{9, kLengthEvent, "10 → 30"}};
        Checkpoint at_its_begin;
        at_its_begin.step = 10;
        QCOMPARE(replay_obstacle(longer, &at_its_begin, 20), std::string());
        QCOMPARE(replay_obstacle(longer, nullptr, 3),
                 std::string("its length was changed from 10 → 30 steps after step 9"));
    }

    void canBeCancelledBetweenSteps() {
        const RunData run = train(recipe_of("", 1000)).run;
        ThreadPool pool(1);
        std::atomic<bool> cancel{false};
        std::int64_t last = 0;
        const auto stop_at_3 = [&](std::int64_t done) {
            last = done;
            cancel = done == 3;
        };
        QVERIFY_THROWS_EXCEPTION(Cancelled, replay({run, nullptr, 9, {"growth"}}, pool, &cancel, stop_at_3));
        QCOMPARE(last, std::int64_t(3));
    }
};

NORMSCOPE_TEST(ReplayTest)
#include "replay_test.moc"
