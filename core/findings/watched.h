// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace normscope {

/// A quantity watched for the start of a failure: one value per sample, and the band around its value at step
/// 0 that it kept in the runs that learned. The bands are measured, not chosen: tests/findings/bands trains
/// runs that learn (schemes, initialisations, learning rates, seeds) and writes the widest excursion of each
/// quantity in the first 50 steps; `band` is that, rounded up.
struct WatchedQuantity {
    const char* id;     ///< "branch_ratio"
    const char* title;  ///< "branch ÷ stream"
    const char* probe;  ///< the probe that records it
    bool logarithmic;   ///< the excursion is |ln(value / start)|, else |value − start|
    double band;        ///< largest excursion of a run that learned
    std::optional<double> (*value)(const ProbeResult& sample);
};

std::span<const WatchedQuantity> watched_quantities();

/// How far a value lies from the one at the start, in the unit of the band; NaN where either is missing or,
/// on a logarithmic scale, not positive.
double excursion(const WatchedQuantity& quantity, double start, double value);

/// When a quantity left its band for the first time.
struct Departure {
    const WatchedQuantity* quantity = nullptr;
    std::int64_t step = 0;
    double start = 0, value = 0;  ///< at step 0 and at `step`
    double bands = 0;             ///< excursion ÷ band at `step`, above 1
};

/// The departures of a run up to a step, the earliest first; of one step the farthest first. A quantity that
/// was not sampled at step 0, or of selected places alone, is skipped.
std::vector<Departure> departures(const RunData& run, std::int64_t until);

}  // namespace normscope
