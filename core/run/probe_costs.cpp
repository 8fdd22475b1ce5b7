// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/probe_costs.h"

#include "core/run/flight_recorder.h"

#include <algorithm>
#include <numeric>

namespace normscope {

namespace {

double sum_of(const std::vector<double>* column) {
    return column ? std::accumulate(column->begin(), column->end(), 0.0) : 0;
}

}  // namespace

ProbeTimes probe_times(const RunData& run, const std::set<std::pair<std::string, std::int64_t>>& replayed) {
    const Recipe* recipe = run.recipe.get();
    const auto trained = [&](const std::string& probe) {
        return !recipe || std::any_of(recipe->probes.begin(), recipe->probes.end(),
                                      [&](const ProbePlan& plan) { return plan.id == probe; });
    };
    ProbeTimes times;
    times.steps_ms = sum_of(run.steps.find("step_ms"));
    times.probes_ms = sum_of(run.steps.find("probe_ms"));
    for (const auto& [probe, samples] : run.probes) {
        if (probe == FlightRecorder::kId || !trained(probe)) continue;
        ProbeTime time{probe};
        for (const ProbeResult& sample : samples) {
            if (replayed.count({probe, sample.step})) continue;
            ++time.samples;
            time.ms += sample.cost_ms;
            time.largest = std::max(time.largest, sample.cost_ms);
        }
        if (time.samples > 0) times.probes.push_back(std::move(time));
    }
    std::stable_sort(times.probes.begin(), times.probes.end(),
                     [](const ProbeTime& a, const ProbeTime& b) { return a.ms > b.ms; });
    return times;
}

}  // namespace normscope
