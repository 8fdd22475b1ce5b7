// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/cuda/emulated_cuda_device.h"
#include "small_run.h"
#include "tests/run/device_runs.h"

#include <QtTest>
#include <barrier>
#include <functional>
#include <thread>

// Runs at the same time, each in a lane or replica of one device and driven by a thread of its own.

namespace normscope::test {

/// A run on a device. What it has computed: losses, and the bytes of the weights at its end.
struct LaneRun {
    LaneRun(const Recipe& recipe, std::unique_ptr<Device> lane) : device(std::move(lane)) { begin(recipe); }
    ~LaneRun() { run.reset(); }  // before its device
    /// Another run on the same device.
    void begin(const Recipe& recipe) {
        run.reset();
        sink = {};
        run = std::make_unique<Run>(std::make_unique<Experiment>(recipe, "a", "A", nullptr, *device),
                                    RunStart{}, sink, std::chrono::hours(1));
        run->begin();
    }
    void advance(int steps) {
        for (int i = 0; i < steps && !run->ended(); ++i) run->advance(pool);
    }
    EmulatedCudaDevice& card() const { return dynamic_cast<EmulatedCudaDevice&>(*device); }
    std::unique_ptr<Device> device;
    MemorySink sink;
    ThreadPool pool{1};
    std::unique_ptr<Run> run;
};

/// "" where both are the same bits.
inline QString difference(const MemorySink& a, const MemorySink& b) {
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

/// body(lane, run, step) in a thread for each of these; its exceptions fail the test. step: of all that have
/// not ended.
inline void in_lanes(std::vector<std::unique_ptr<Device>> lanes, const std::function<Recipe(int)>& recipe_of,
                     const std::function<void(int, std::unique_ptr<LaneRun>&, std::barrier<>&)>& body) {
    const int count = static_cast<int>(lanes.size());
    std::barrier step(count);
    std::vector<std::string> failures(lanes.size());
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
            const auto at = static_cast<std::size_t>(i);
            try {
                auto run = std::make_unique<LaneRun>(recipe_of(i), std::move(lanes[at]));
                body(i, run, step);
            } catch (const std::exception& error) {
                failures[at] = error.what();
            }
            step.arrive_and_drop();
        });
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < count; ++i) {
        const std::string& failure = failures[static_cast<std::size_t>(i)];
        QVERIFY2(failure.empty(), qPrintable(QString("lane %1: %2").arg(i).arg(failure.c_str())));
    }
}

}  // namespace normscope::test
