// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace normscope {

/// What a probe took in a training, by the clock. A pass that several probes of one step need is divided
/// equally among them (run_probes).
struct ProbeTime {
    std::string probe;
    std::int64_t samples = 0;
    double ms = 0;       ///< of all samples
    double largest = 0;  ///< ms of the longest sample
};

/// The measured times of a run.
struct ProbeTimes {
    std::vector<ProbeTime> probes;  ///< by descending time
    double steps_ms = 0;            ///< of the recorded steps, probes not included
    double probes_ms = 0;           ///< as the steps' rows have it: the sum of `probes`, but for its rounding
    /// The share of the steps' time; 0 without steps.
    double share(double ms) const { return steps_ms > 0 ? ms / steps_ms : 0; }
};

/// From the rows and the samples of a run, of the probes in its recipe. Samples that were not taken by the
/// training, by probe and step, are excluded: those measured afterwards, by replay.
ProbeTimes probe_times(const RunData& run,
                       const std::set<std::pair<std::string, std::int64_t>>& replayed = {});

}  // namespace normscope
