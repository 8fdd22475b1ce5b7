// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/outcome.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace normscope {

/// How far a sweep is, over the folders of all its shards.
struct SweepStatus {
    std::size_t total = 0;                   ///< runs of the whole sweep
    std::map<RunState, std::size_t> states;  ///< of the runs that were started
    std::size_t not_started() const;
    /// Whether every run has a result.
    bool complete() const;
    /// "48 runs: 40 finished, 2 diverged, 1 failed, 3 running, 1 interrupted, 1 not started"
    std::string text() const;
};

/// From results.csv of each folder, and for runs without a row from their recordings: a live one runs, one of
/// a process that has ended is interrupted. Of a run that several folders have, the best counts: a result,
/// one that runs, interrupted, failed. Reads only, also while others write. Throws InputError for a folder of
/// another sweep.
SweepStatus sweep_status(const std::vector<std::string>& folders);

}  // namespace normscope
