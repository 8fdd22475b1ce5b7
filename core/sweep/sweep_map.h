// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sweep/sweep_results.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// The runs of a sweep that share the values of some keys: a cell of its map, or a group.
struct SweepCell {
    std::vector<std::size_t> values;           ///< index of the value on each of these keys
    std::vector<std::size_t> runs;             ///< indices of all its runs, ended or not
    std::map<RunState, std::size_t> outcomes;  ///< of those that ended; failed ones too
    /// Median over its runs of the final loss, where a diverged run counts as infinite; of an even number the
    /// mean of the middle two. Failed runs do not count. Nullopt where there is none.
    std::optional<double> median_loss;

    std::size_t ended() const;
    /// "2 finished, 1 stalled"
    std::string outcomes_text() const;
};

/// One cell for every combination of the values of these keys (indices of SweepSpec::grid), the last varying
/// fastest; the runs of a cell differ in the seed and in the other keys.
std::vector<SweepCell> sweep_cells(const SweepResults& results, const std::vector<std::size_t>& keys);

/// The best value of one key for one combination of the others.
struct BestValue {
    std::vector<std::size_t> others;  ///< indices of the values of the other keys, in their order
    std::size_t value = 0;            ///< index of the value with the lowest median final loss over the seeds
    SweepCell cell;                   ///< of that value
    SweepCell all;                    ///< of all values of the key: for its counts of outcomes
};

/// "The best learning rate of each scheme", for any key (index of SweepSpec::grid). A combination without a
/// finite median is not there. Of equal medians the first value.
std::vector<BestValue> best_values(const SweepResults& results, std::size_t key);

}  // namespace normscope
