// SPDX-License-Identifier: GPL-3.0-or-later
// Runs in lanes of one device at the same time, each driven by a thread of its own: the bits of single runs,
// whatever happens to the other lanes.
#include "core/backend/shared/out_of_memory.h"
#include "lane_runs.h"
#include "tests/support/test_main.h"

#include <array>

using namespace normscope;
using namespace normscope::test;

namespace {

constexpr int kLanes = 8;
constexpr int kSteps = 4;
constexpr int kFull = 3;  ///< the lane that runs out of memory

/// Recipes that have little in common: schemes, blocks, precisions, optimizers; a seed each.
Recipe recipe_of_lane(int lane) {
    constexpr std::array rows = {"none",    "post",          "peri", "llama",
                                 "float64", "bf16 autocast", "fp16", "gate at the branch"};
    Recipe recipe = device_runs::recipe_of(rows.at(static_cast<std::size_t>(lane)));
    recipe.stack.context = 4;
    recipe.stack.d_model = 12;
    recipe.train.steps = kSteps;
    recipe.train.seed = 40 + lane;
    recipe.probes = {{"growth", 2}};
    if (lane == kFull) recipe.probes.push_back({"jacobian", 3});  // which allocates at each sample
    return recipe;
}

std::unique_ptr<Device> emulated(std::uint64_t seed, bool checked = false) {
    return std::make_unique<EmulatedCudaDevice>(grid::Schedule{grid::Schedule::Order::Drawn, seed, checked});
}

/// The same recipe alone.
const MemorySink& alone(int lane) {
    static std::map<int, std::unique_ptr<LaneRun>> known;
    auto& run = known[lane];
    if (!run) {
        run = std::make_unique<LaneRun>(recipe_of_lane(lane), emulated(3));
        run->advance(kSteps);
    }
    return run->sink;
}

/// body(lane, run, step) in `count` lanes of the card.
void in_lanes_of(Device& card, int count,
                 const std::function<void(int, std::unique_ptr<LaneRun>&, std::barrier<>&)>& body) {
    std::vector<std::unique_ptr<Device>> lanes;
    for (int i = 0; i < count; ++i) lanes.push_back(card.lane());
    in_lanes(std::move(lanes), recipe_of_lane, body);
}

}  // namespace

class LanesTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        for (int i = 0; i < kLanes; ++i) {
            QCOMPARE(alone(i).all.outcome->state, RunState::Finished);
            QVERIFY(i == 0 || alone(i).losses() != alone(0).losses());
        }
    }

    void lanesHaveTheBitsOfSingleRuns_data() {
        QTest::addColumn<bool>("checked");
        QTest::addColumn<int>("lanes");
        QTest::newRow("unchecked") << false << kLanes;
        QTest::newRow("checked for races and uninitialised reads") << true << 2;
    }
    void lanesHaveTheBitsOfSingleRuns() {
        QFETCH(bool, checked);
        QFETCH(int, lanes);
        const auto card = emulated(11, checked);
        std::vector<MemorySink> found(kLanes);
        in_lanes_of(*card, lanes, [&](int lane, std::unique_ptr<LaneRun>& run, std::barrier<>& step) {
            for (int i = 0; i < kSteps; ++i) {
                step.arrive_and_wait();  // so that no lane runs ahead
                run->advance(1);
            }
            found[static_cast<std::size_t>(lane)] = run->sink;
        });
        for (int i = 0; i < lanes; ++i)
            QCOMPARE(difference(found[static_cast<std::size_t>(i)], alone(i)), QString());
    }

    /// Four lanes meet with something in their third step; the others do not notice. What waited is resumed.
    void aLaneThatEndsBadlyLeavesTheOthersAlone() {
        const auto card = emulated(12);
        enum { Diverges, Pauses, IsKilled, RunsOutOfMemory = kFull, Healthy };
        std::vector<MemorySink> found(kLanes);
        std::vector<Outcome> outcomes(kLanes);
        bool out_of_memory = false;
        in_lanes_of(*card, kLanes, [&](int lane, std::unique_ptr<LaneRun>& run, std::barrier<>& step) {
            run->advance(2);
            step.arrive_and_wait();
            switch (lane) {
                case Diverges: {
                    HotKnobs knobs = run->run->experiment().knobs();
                    knobs.lr = 1e30;
                    run->run->set_knobs(knobs);
                    break;
                }
                case Pauses:
                    step.arrive_and_wait();  // until all others have ended
                    break;
                case IsKilled:
                    run.reset();  // run and lane, while the others compute
                    return;
                case RunsOutOfMemory:
                    run->card().fail_at({.allocation = 1, .launch = 0});
                    break;
                default:
                    break;
            }
            run->advance(kSteps);
            found[static_cast<std::size_t>(lane)] = run->sink;
            outcomes[static_cast<std::size_t>(lane)] = run->run->outcome();
            if (lane == RunsOutOfMemory && run->run->error()) try {
                    std::rethrow_exception(run->run->error());
                } catch (const OutOfMemory&) {
                    out_of_memory = true;
                }
        });
        for (int i = Healthy; i < kLanes; ++i)
            QCOMPARE(difference(found[static_cast<std::size_t>(i)], alone(i)), QString());
        QCOMPARE(difference(found[Pauses], alone(Pauses)), QString());
        QCOMPARE(outcomes[Diverges].state, RunState::Diverged);
        QCOMPARE(outcomes[RunsOutOfMemory].state, RunState::Failed);
        QVERIFY(out_of_memory);
        // The card serves new lanes.
        in_lanes_of(*card, 1, [&](int, std::unique_ptr<LaneRun>& run, std::barrier<>&) {
            run->advance(kSteps);
            found[0] = run->sink;
        });
        QCOMPARE(difference(found[0], alone(0)), QString());
    }
};

NORMSCOPE_TEST(LanesTest)
#include "lanes_test.moc"
