// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sweep/sweep_map.h"
#include "core/sweep/sweep_scalar.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace normscope::widgets {

/// Which part of a sweep a map shows: two of its keys (indices of SweepSpec::grid), and of every other key
/// one value. A sweep of one key has no rows, one of no key neither.
struct SweepAxes {
    std::optional<std::size_t> row, column;
    std::vector<std::size_t> fixed;  ///< index of a value on each key; that of `row` and `column` is ignored
    bool operator==(const SweepAxes&) const = default;
};

/// Columns: the learning rate, else the last key; rows: the first other key; of all others the first value.
SweepAxes defaultAxes(const SweepSpec& spec);

/// The runs of a map, as a sweep over its one or two keys: the best value of a key is then that of a row.
struct SweepSlice {
    SweepResults part;               ///< grid: the row's key and the column's, as far as there are
    std::vector<std::size_t> runs;   ///< index in the whole sweep of each run of the part
    std::set<std::size_t> training;  ///< of the part: in training now
    std::size_t rows = 1, columns = 1;
    std::optional<SweepScalar> scalar;      ///< what SweepValue::Scalar shows
    std::map<std::size_t, double> scalars;  ///< by run of the part

    /// Indices in the whole sweep of the runs of a cell, by seed; the rows are counted from above.
    std::vector<std::size_t> runsOf(std::size_t row, std::size_t column) const;
};

/// `training`: indices in the whole sweep.
SweepSlice sliceOf(const SweepResults& sweep, const SweepAxes& axes,
                   const std::set<std::size_t>& training = {});

/// Gives the slice a scalar; `of_runs` by index in the whole sweep.
void setScalar(SweepSlice& slice, const SweepScalar& scalar, const std::map<std::size_t, double>& of_runs);

}  // namespace normscope::widgets
