// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/checkpoints/checkpoint_memory.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>

using namespace normscope;

namespace {

using Steps = std::vector<std::int64_t>;

HeldCheckpoints run(const Steps& steps, std::size_t bytes = 1) {
    HeldCheckpoints held;
    for (const auto step : steps) held.held.push_back({step, bytes});
    return held;
}

void thin(std::vector<HeldCheckpoints>& runs, std::size_t most_bytes, std::size_t most_of_run) {
    auto gone = excess_checkpoints(runs, most_bytes, most_of_run);
    std::sort(gone.rbegin(), gone.rend());
    for (const auto& [r, place] : gone)
        runs[r].held.erase(runs[r].held.begin() + static_cast<std::ptrdiff_t>(place));
}

Steps left(HeldCheckpoints held, std::size_t most_bytes, std::size_t most_of_run = 1000) {
    std::vector<HeldCheckpoints> runs{std::move(held)};
    thin(runs, most_bytes, most_of_run);
    Steps steps;
    for (const auto& h : runs[0].held) steps.push_back(h.step);
    return steps;
}

}  // namespace

class CheckpointMemoryTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void withinTheLimitsNothingGoes() { QCOMPARE(left(run({0, 10, 20, 30}), 4, 4), (Steps{0, 10, 20, 30})); }

    /// Taken every 10 steps, thinned after each: what stays reaches back in growing gaps, to the first.
    void theGapsGrowWithTheAge() {
        std::vector<HeldCheckpoints> runs{run({})};
        for (std::int64_t step = 0; step <= 2000; step += 10) {
            runs[0].held.push_back({step, 100});
            thin(runs, 1000, 1000);
            QVERIFY(runs[0].held.size() <= 10);
        }
        const auto& held = runs[0].held;
        QCOMPARE(held.size(), std::size_t{10});
        QCOMPARE(held.front().step, 0);
        QCOMPARE(held.back().step, 2000);
        QCOMPARE(held[8].step, 1990);  // checkpoint.keep is 2
        // Each interval is at most as long as its end is old, times a small factor: no large hole anywhere.
        for (std::size_t i = 1; i + 1 < held.size(); ++i)
            QVERIFY2(held[i].step - held[i - 1].step <= 6 * (2000 - held[i].step),
                     qPrintable(QString("%1 … %2").arg(held[i - 1].step).arg(held[i].step)));
        QVERIFY(held[5].step > 1000);  // most of them are near the present
    }

    void theNewestTheStartAndTheOneBeforeTheLatestSpikeStay() {
        HeldCheckpoints held = run({0, 10, 20, 30, 40, 50, 60, 70});
        held.spikes = {15, 47};
        QCOMPARE(left(held, 0), (Steps{0, 40, 70}));
        QCOMPARE(left(held, 0, 2), (Steps{0, 40, 70}));
        held.spikes = {15, 40};  // the checkpoint of step 40 is before the update of step 40
        QCOMPARE(left(held, 0), (Steps{0, 40, 70}));
        QCOMPARE(left(held, 5),
                 (Steps{0, 10, 40, 60, 70}));  // before the earlier spike: spared as long as it may be
    }

    void theRecipesNewestAreSpared() {
        HeldCheckpoints held = run({10, 20, 30, 40, 50, 60, 70, 80, 90, 100});
        held.keep = 4;
        QCOMPARE(left(held, 5), (Steps{10, 70, 80, 90, 100}));
        QCOMPARE(left(held, 2), (Steps{90, 100}));
        held.keep = 1;
        QCOMPARE(left(held, 2), (Steps{10, 100}));
        // And it may ask for more of them than the number.
        held.keep = 8;
        QCOMPARE(left(held, 1000, 4), (Steps{10, 30, 40, 50, 60, 70, 80, 90, 100}));
        held.keep = 2;
        QCOMPARE(left(held, 1000, 4).size(), std::size_t{4});
        held.spikes = {15, 25, 35, 45, 55};  // many spikes do not make it grow
        QCOMPARE(left(held, 1000, 4), (Steps{40, 50, 90, 100}));
    }

    void theBytesOfAllRunsCountTogether() {
        std::vector<HeldCheckpoints> runs{run({0, 10, 20, 30, 40, 50}, 10), run({0, 10, 20, 30, 40, 50}, 10)};
        thin(runs, 80, 1000);
        QCOMPARE(runs[0].held.size() + runs[1].held.size(), std::size_t{8});
        QVERIFY(runs[0].held.size() >= 3 && runs[1].held.size() >= 3);
        thin(runs, 0, 1000);
        QCOMPARE(runs[0].held.size() + runs[1].held.size(), std::size_t{4});
    }

    void theBytesAreThoseOfTheTensors() {
        Checkpoint checkpoint;
        checkpoint.params.push_back({"w", {2}, StoredType::Float32, std::vector<std::byte>(8)});
        checkpoint.moment2.push_back({"w", {2}, StoredType::Float32, std::vector<std::byte>(8)});
        QCOMPARE(bytes_of(checkpoint), std::size_t{16});
    }
};

NORMSCOPE_TEST(CheckpointMemoryTest)
#include "checkpoint_memory_test.moc"
