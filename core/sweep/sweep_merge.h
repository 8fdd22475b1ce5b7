// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sweep/sweep_results.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace normscope {

struct SweepMerge {
    SweepResults results;              ///< of the merged folder
    std::vector<std::size_t> missing;  ///< runs that no folder has
    /// Of missing runs, by their index: the recording that results.csv names and that is not there.
    std::map<std::size_t, std::string> deleted;
};

/// Puts the rows and recordings of folders of one sweep into `out`, a new folder or one of the same sweep,
/// whose own rows count too. A recording is linked, or copied where that cannot be; a row is taken as it is
/// written; without its recording it does not count. Throws InputError for a folder of another sweep (naming
/// the difference), a damaged results.csv and a run that two folders have with different results; SystemError
/// where a file cannot be written. Nothing is written before all folders were read.
SweepMerge merge_sweeps(const std::vector<std::string>& folders, const std::string& out);

}  // namespace normscope
