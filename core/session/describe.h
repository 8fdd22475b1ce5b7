// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/outcome.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace normscope {

struct ProbeSummary {
    std::string id;
    std::size_t samples = 0;
    std::vector<std::pair<std::string, std::vector<std::size_t>>>
        arrays;  ///< name, shape without the sample axis
    /// Time of its samples over that of the training steps, in the first 50 steps and after them; NaN without
    /// steps.
    double early_share = 0, late_share = 0;
};

struct RunSummary {
    std::string id, name, backend, device;
    Outcome outcome;
    std::size_t rows = 0;                     ///< of the step table
    std::int64_t last_step = -1;              ///< −1 before the first
    double last_loss = 0;                     ///< NaN if none
    double least_loss = 0, largest_loss = 0;  ///< from the pyramid of a saved run; NaN without one
    std::vector<ProbeSummary> probes;
    std::vector<std::string> checkpoints;  ///< steps
};

/// Name and outcome of each run, its last step and loss; of its arrays two numbers are read. Throws
/// InputError.
struct RunHead {
    std::string name;
    Outcome outcome;
    std::int64_t last_step = -1;  ///< −1 before the first
    double last_loss = std::numeric_limits<double>::quiet_NaN();
};
std::vector<RunHead> heads_of(const std::string& path);

/// The loss of each step of the file's first run, nat; empty before its first step. Throws InputError.
std::vector<double> losses_of(const std::string& path);

/// What a session or recording holds, without reading its arrays. Throws InputError.
std::vector<RunSummary> summarize_session(const std::string& path);

/// The text of `info`, lines without line ends: for a session each run's name, state, steps, last loss,
/// probes and checkpoints; for any other HDF5 file its data sets with type and shape. Throws InputError.
std::vector<std::string> describe(const std::string& path);

}  // namespace normscope
