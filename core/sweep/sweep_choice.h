// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sweep/sweep_results.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// What one combination of the keys that are not chosen (an arm) chose.
struct ChosenValues {
    std::vector<std::string> arm;     ///< values of the other keys, in the order of the grid
    std::vector<std::string> values;  ///< of the chosen keys, in the order of SweepChoice::keys
    /// Median final loss over the seeds that chose, nat; infinite where the arm diverges at every value: the
    /// first value is then taken.
    double loss = 0;
    /// The chosen keys whose value is the first or last one of its numbers, so that a better one may lie
    /// outside the grid. Of two values or more.
    std::vector<std::string> at_edge;
};

/// The choices of a sweep with SweepSpec::choice, one for each arm, the last key varying fastest. Nullopt
/// until every run that chooses has ended; failed ones count as ended and choose nothing. Pure.
std::optional<std::vector<ChosenValues>> chosen_values(const SweepResults& results);

/// Whether each arm chooses its own value of this key.
bool is_chosen(const SweepSpec& spec, const std::string& key);

/// Whether a run belongs to the seeds that choose.
bool chooses(const SweepSpec& spec, const SweepRun& run);

/// Whether a run judges at the values that its arm chose.
bool is_scored(const SweepSpec& spec, const SweepRun& run, const std::vector<ChosenValues>& chosen);

/// Whether a value is the least or the largest of an axis of two numbers or more: a better one may lie
/// outside. Words have no edge.
bool is_edge(const SweepAxis& axis, const std::string& value);

/// "optimizer.lr=0.01 schedule.warmup=50, at the edge of its grid: optimizer.lr"
std::string chosen_text(const SweepSpec& spec, const ChosenValues& chosen);

}  // namespace normscope
