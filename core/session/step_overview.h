// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace normscope {

/// A downsampled step table: minimum and maximum of each column in blocks of `factor` rows, NaN skipped (NaN
/// where a block has nothing else). A plot of it shows every spike of the full table.
struct StepOverview {
    static constexpr std::int64_t base_factor = 64;  ///< each level of the pyramid is this much coarser

    std::int64_t factor = 1;         ///< rows in a block; the last block may be shorter
    std::vector<std::int64_t> step;  ///< of the first row of each block
    std::vector<std::string> names;
    std::vector<std::vector<double>> low, high;  ///< [column][block]

    std::size_t blocks() const { return step.size(); }
};

/// The next coarser level of a table, and of a level.
StepOverview overview_of(const StepTable& table);
StepOverview coarser(const StepOverview& level);

}  // namespace normscope
