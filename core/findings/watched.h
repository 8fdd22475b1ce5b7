// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace normscope {

/// The steps of a run that one band covers: what is normal depends on how far the training is. Beyond the
/// last phase there is no band and no finding.
struct Phase {
    std::int64_t first, last;  ///< steps
};
inline constexpr std::array<Phase, 4> kPhases{{{1, 49}, {50, 199}, {200, 599}, {600, 1999}}};

/// A quantity watched for the start of a failure: one value per sample, and how far it moved in the runs that
/// learned: in the first phase from its value at step 0, later from its newest sample at half the step or
/// before (reference_sample). The bands are measured, not chosen: tests/findings/bands trains runs that learn
/// (schemes, initialisations, learning rates, texts, lengths, seeds) and writes the widest excursion of each
/// quantity in each phase; `bands` is that, rounded up.
struct WatchedQuantity {
    const char* id;     ///< "branch_ratio"
    const char* title;  ///< "branch over stream"
    const char* probe;  ///< the probe that records it
    bool logarithmic;   ///< the excursion is |ln(value / reference)|, else |value − reference|
    std::array<double, kPhases.size()> bands;  ///< largest excursion of a run that learned, by phase
    std::optional<double> (*value)(const ProbeResult& sample);
};

/// Of other runs that learn, tests/findings/bands: how many left a band, of how many.
struct FalseAlarms {
    int alarms, runs;
};
inline constexpr FalseAlarms kFalseAlarms{3, 38};
/// "3 of 40 runs that learn leave a range too".
std::string false_alarms_text();

std::span<const WatchedQuantity> watched_quantities();

/// How far a value lies from its reference, in the unit of the bands; NaN where either is missing or, on a
/// logarithmic scale, not positive.
double excursion(const WatchedQuantity& quantity, double reference, double value);

/// When a quantity left its band.
struct Departure {
    const WatchedQuantity* quantity = nullptr;
    std::int64_t from = 0, step = 0;
    double start = 0, value = 0;  ///< at `from`, its reference, and at `step`
    double bands = 0;             ///< excursion ÷ band at `step`, above 1
};

/// The departures of a run up to a step, the earliest first; of one step the farthest first. They begin where
/// two quantities leave their bands within a tenth of the step (two steps at least): one alone does so in
/// runs that learn too. Of a run that records a single watched quantity, where that one does. A quantity that
/// was not sampled at step 0, or of selected places alone, is skipped.
std::vector<Departure> departures(const RunData& run, std::int64_t until);

}  // namespace normscope
