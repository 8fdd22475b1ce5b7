// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of equal stacks as replicas on one device: their steps are one launch, and the bits of each are those
// of a single run.
#include "core/run/memory_need.h"
#include "lane_runs.h"
#include "tests/support/test_main.h"

using namespace normscope;
using namespace normscope::test;

namespace {

constexpr int kReplicas = 4;
constexpr int kSteps = 6;
constexpr std::size_t kBytes = std::size_t{1} << 20;

/// Equal but for what differs between the runs of a sweep: seeds, rates, Δt, softmax temperature, clipping.
Recipe recipe_of_replica(const std::string& row, int replica) {
    Recipe recipe = device_runs::recipe_of(row);
    recipe.stack.context = 4;
    recipe.train.batch = 3;
    recipe.stack.depth = row == "post" ? 2 : 1;
    recipe.train.validate_every = row == "post" ? 2 : 0;
    recipe.train.steps = kSteps;
    recipe.train.seed = 40 + replica;
    recipe.train.optimizer.lr = 0.001 * (1 + replica);
    recipe.train.optimizer.clip = replica == 2 ? 0.5 : 1.0;
    recipe.stack.residual_step = 1 - 0.2 * replica;
    recipe.stack.temperature = 1 + 0.1 * replica;
    recipe.probes = {{"growth", 2}};
    return recipe;
}

/// stored_tokens: with 0 all attention is in tiles.
std::unique_ptr<EmulatedCudaDevice> card(std::uint64_t seed, bool checked = false,
                                         int stored_tokens = EmulatedCudaDevice::kStoredTokens) {
    return std::make_unique<EmulatedCudaDevice>(grid::Schedule{grid::Schedule::Order::Drawn, seed, checked},
                                                stored_tokens);
}

/// A run alone: what it computes, and how many calls a step of it is.
struct Alone {
    MemorySink sink;
    std::size_t calls;
};
Alone alone(const Recipe& recipe, int stored_tokens = EmulatedCudaDevice::kStoredTokens) {
    LaneRun run(recipe, card(3, false, stored_tokens));
    run.advance(recipe.train.steps);
    return {run.sink, run.card().captured_calls()};
}

using Last = cuda::Replicas::Last;

/// To the end. Returns what the graph with the most replicas was that was launched meanwhile.
Last advance_to_end(LaneRun& run) {
    Last most;
    while (!run.run->ended()) {
        run.advance(1);
        if (const Last last = run.card().last_of_replicas(); last.replicas > most.replicas) most = last;
    }
    return most;
}

}  // namespace

class ReplicasTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void replicasHaveTheBitsOfSingleRuns_data() {
        QTest::addColumn<QString>("recipe");
        QTest::addColumn<bool>("checked");
        QTest::addColumn<bool>("tiled");
        for (const char* row : {"none", "post", "llama", "float64", "fp16", "gate at the branch",
                                "bf16 autocast, windows", "pre"})
            QTest::newRow(row) << QString(row) << false << false;
        QTest::newRow("in tiles") << "peri" << false << true;
        QTest::newRow("in tiles, bf16 autocast, checked") << "bf16 autocast" << true << true;
    }
    void replicasHaveTheBitsOfSingleRuns() {
        QFETCH(QString, recipe);
        QFETCH(bool, checked);
        QFETCH(bool, tiled);
        const std::string row = recipe.toStdString();
        const int count = checked ? 2 : kReplicas, stored = tiled ? 0 : EmulatedCudaDevice::kStoredTokens;
        const auto device = card(11, checked, stored);
        std::vector<MemorySink> found(kReplicas);
        Last last;
        in_lanes(
            device->replicas(count, replica_bytes(recipe_of_replica(row, 0), 1, *device)),
            [&](int i) { return recipe_of_replica(row, i); },
            [&](int i, std::unique_ptr<LaneRun>& run, std::barrier<>&) {
                const Last joined = advance_to_end(*run);
                if (i == 0) last = joined;
                found[static_cast<std::size_t>(i)] = run->sink;
            });
        QCOMPARE(last.replicas, static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
            const Alone expected = alone(recipe_of_replica(row, i), stored);
            QCOMPARE(expected.sink.all.outcome->state, RunState::Finished);
            QCOMPARE(difference(found[static_cast<std::size_t>(i)], expected.sink), QString());
            if (i > 0) QVERIFY(found[static_cast<std::size_t>(i)].losses() != found[0].losses());
            // Stored maps have products that are batches already.
            if (tiled) QCOMPARE(last.calls, expected.calls);
        }
    }

    /// One diverges, one waits, one is destroyed, one has fewer steps: the others have their bits, and so has
    /// the one that waited.
    void aReplicaThatEndsLeavesTheOthersAlone() {
        constexpr int kAll = 6;
        enum { Diverges, Pauses, IsKilled, IsShorter, Healthy };
        const auto recipe_of = [](int i) {
            Recipe recipe = recipe_of_replica("none", i);
            if (i == IsShorter) recipe.train.steps = 3;
            return recipe;
        };
        const auto device = card(12);
        device->set_patience(std::chrono::milliseconds(20));
        std::vector<MemorySink> found(kAll);
        std::vector<Outcome> outcomes(kAll);
        in_lanes(device->replicas(kAll, kBytes), recipe_of,
                 [&](int i, std::unique_ptr<LaneRun>& run, std::barrier<>& step) {
                     run->advance(2);
                     step.arrive_and_wait();
                     if (i == Diverges) {
                         HotKnobs knobs = run->run->experiment().knobs();
                         knobs.lr = 1e30;
                         run->run->set_knobs(knobs);
                     } else if (i == Pauses) {
                         step.arrive_and_wait();  // until all others have ended
                     } else if (i == IsKilled) {
                         return run.reset();  // run and device, while the others compute
                     }
                     run->advance(kSteps);
                     found[static_cast<std::size_t>(i)] = run->sink;
                     outcomes[static_cast<std::size_t>(i)] = run->run->outcome();
                 });
        QCOMPARE(outcomes[Diverges].state, RunState::Diverged);
        for (const int i : {int{Pauses}, int{IsShorter}, int{Healthy}, kAll - 1})
            QCOMPARE(difference(found[static_cast<std::size_t>(i)], alone(recipe_of(i)).sink), QString());
    }

    /// Stacks of two shapes in one group: each is joined with its own kind, also after another run has begun
    /// in the place of one that has ended.
    void equalStacksFindEachOther() {
        const auto recipe_of = [](int i) {
            Recipe recipe = recipe_of_replica("none", i);
            if (i % 2 == 1) recipe.stack.d_model = 12;
            return recipe;
        };
        const auto device = card(13, false, 0);
        std::vector<MemorySink> found(kReplicas), second(kReplicas);
        std::vector<Last> last(kReplicas);
        in_lanes(device->replicas(kReplicas, kBytes), recipe_of,
                 [&](int i, std::unique_ptr<LaneRun>& run, std::barrier<>& step) {
                     const auto at = static_cast<std::size_t>(i);
                     advance_to_end(*run);
                     found[at] = run->sink;
                     run->run.reset();
                     step.arrive_and_wait();
                     run->begin(recipe_of(i < 2 ? i + 2 : i - 2));
                     last[at] = advance_to_end(*run);
                     second[at] = run->sink;
                 });
        for (int i = 0; i < kReplicas; ++i) {
            const Alone expected = alone(recipe_of(i), 0);
            QCOMPARE(difference(found[static_cast<std::size_t>(i)], expected.sink), QString());
            QCOMPARE(difference(second[static_cast<std::size_t>(i < 2 ? i + 2 : i - 2)], expected.sink),
                     QString());
            // Products too: the second run has the memory of the first one.
            QCOMPARE(last[static_cast<std::size_t>(i)].replicas, std::size_t{2});
            QCOMPARE(last[static_cast<std::size_t>(i)].calls, expected.calls);
        }
    }

    /// What does not fit into the part of a replica is elsewhere on the card: the products are single ones.
    void aReplicaOutgrowsItsPart() {
        const auto device = card(14, false, 0);
        std::vector<MemorySink> found(3);
        Last last;
        const auto recipe_of = [](int i) { return recipe_of_replica("none", i); };
        in_lanes(device->replicas(3, 10000), recipe_of,
                 [&](int i, std::unique_ptr<LaneRun>& run, std::barrier<>&) {
                     const Last joined = advance_to_end(*run);
                     if (i == 0) last = joined;
                     found[static_cast<std::size_t>(i)] = run->sink;
                 });
        for (int i = 0; i < 3; ++i) {
            const Alone expected = alone(recipe_of(i), 0);
            QCOMPARE(difference(found[static_cast<std::size_t>(i)], expected.sink), QString());
            QVERIFY(last.replicas == 3 && last.calls > expected.calls);
        }
    }

    /// A launch that fails is the error of every run in it.
    void aLostCardIsLostForAll() {
        const auto device = card(15);
        std::vector<Outcome> outcomes(3);
        const auto recipe_of = [](int i) {
            Recipe recipe = recipe_of_replica("none", i);
            recipe.train.steps = 30;
            recipe.probes.clear();  // so that all but the first step are launches of all
            return recipe;
        };
        in_lanes(device->replicas(3, kBytes), recipe_of,
                 [&](int i, std::unique_ptr<LaneRun>& run, std::barrier<>&) {
                     // Far into the graphs of all, which are launched by the first device.
                     if (i == 0) run->card().fail_at({.allocation = 0, .launch = 300});
                     advance_to_end(*run);
                     outcomes[static_cast<std::size_t>(i)] = run->run->outcome();
                 });
        for (const Outcome& outcome : outcomes) {
            QCOMPARE(outcome.state, RunState::Failed);
            QVERIFY2(outcome.text.find("the device is lost") != std::string::npos, outcome.text.c_str());
        }
    }
};

NORMSCOPE_TEST(ReplicasTest)
#include "replicas_test.moc"
