// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <string>
#include <vector>

namespace normscope {

/// A run of a file.
struct NamedRun {
    std::string where;  ///< its file, and its id where that has several
    RunData run;
};

/// The runs of files, and of all sessions and recordings in folders and below, in the order of their paths;
/// checkpoints are left. Calls HDF5. InputError where a file cannot be read, or a folder holds none.
std::vector<NamedRun> runs_of_files(const std::vector<std::string>& paths);

/// The same; InputError for a run that did not finish.
std::vector<RunData> healthy_runs(const std::vector<std::string>& paths);

}  // namespace normscope
