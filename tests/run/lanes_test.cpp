// SPDX-License-Identifier: GPL-3.0-or-later
// Runs in lanes of one device at the same time, each driven by a thread of its own: the bits of single runs,
// whatever happens to the other lanes.
#include "core/backend/cuda/emulated_cuda_device.h"
#include "core/backend/shared/out_of_memory.h"
#include "small_run.h"
#include "tests/run/device_runs.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <array>
#include <barrier>
#include <functional>
#include <thread>

using namespace normscope;
using namespace normscope::test;
using namespace std::chrono_literals;

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

/// A run on a device. What it has computed: losses, and the bytes of the weights at its end.
struct LaneRun {
    LaneRun(const Recipe& recipe, std::unique_ptr<Device> lane) : device(std::move(lane)) {
        run = std::make_unique<Run>(std::make_unique<Experiment>(recipe, "a", "A", nullptr, *device),
                                    RunStart{}, sink, 1h);
        run->begin();
    }
    ~LaneRun() { run.reset(); }  // before its device
    void advance(int steps = kSteps) {
        for (int i = 0; i < steps && !run->ended(); ++i) run->advance(pool);
    }
    std::unique_ptr<Device> device;
    MemorySink sink;
    ThreadPool pool{1};
    std::unique_ptr<Run> run;
};

/// "" where both are the same bits.
QString difference(const MemorySink& a, const MemorySink& b) {
    if (!device_runs::same_bits(a.losses(), b.losses())) return "losses";
    if (!a.last || !b.last) return "no checkpoint";
    for (const auto list : {&Checkpoint::params, &Checkpoint::moment1, &Checkpoint::moment2}) {
        const auto &x = (*a.last).*list, &y = (*b.last).*list;
        if (x.size() != y.size()) return "tensors";
        for (std::size_t i = 0; i < x.size(); ++i)
            if (x[i].name != y[i].name || x[i].bytes != y[i].bytes) return QString::fromStdString(x[i].name);
    }
    return "";
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
        run->advance();
    }
    return run->sink;
}

/// body(lane, run, step) in a thread each; its exceptions fail the test. step: of all lanes that have not
/// ended.
void in_lanes(Device& card, int count,
              const std::function<void(int, std::unique_ptr<LaneRun>&, std::barrier<>&)>& body) {
    std::barrier step(count);
    std::vector<std::unique_ptr<Device>> lanes;
    for (int i = 0; i < count; ++i) lanes.push_back(card.lane());
    std::vector<std::string> failures(static_cast<std::size_t>(count));
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
            try {
                auto run = std::make_unique<LaneRun>(recipe_of_lane(i),
                                                     std::move(lanes[static_cast<std::size_t>(i)]));
                body(i, run, step);
            } catch (const std::exception& error) {
                failures[static_cast<std::size_t>(i)] = error.what();
            }
            step.arrive_and_drop();
        });
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < count; ++i)
        QVERIFY2(
            failures[static_cast<std::size_t>(i)].empty(),
            qPrintable(QString("lane %1: %2").arg(i).arg(failures[static_cast<std::size_t>(i)].c_str())));
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
        in_lanes(*card, lanes, [&](int lane, std::unique_ptr<LaneRun>& run, std::barrier<>& step) {
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
        in_lanes(*card, kLanes, [&](int lane, std::unique_ptr<LaneRun>& run, std::barrier<>& step) {
            run->advance(2);
            step.arrive_and_wait();
            auto& device = dynamic_cast<EmulatedCudaDevice&>(*run->device);
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
                    device.fail_at({.allocation = 1, .launch = 0});
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
        in_lanes(*card, 1, [&](int, std::unique_ptr<LaneRun>& run, std::barrier<>&) {
            run->advance();
            found[0] = run->sink;
        });
        QCOMPARE(difference(found[0], alone(0)), QString());
    }
};

NORMSCOPE_TEST(LanesTest)
#include "lanes_test.moc"
