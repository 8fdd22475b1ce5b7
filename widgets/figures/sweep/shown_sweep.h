// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sweep/sweep.h"
#include "core/sweep/sweep_scalar.h"

#include <QString>
#include <cstddef>
#include <map>
#include <optional>
#include <set>

namespace normscope::widgets {

/// A sweep on screen: read from its folder, or trained into it. A plain value.
struct ShownSweep {
    QString folder;
    SweepResults results;
    std::set<std::size_t> training;  ///< indices of the runs in training now
    std::set<std::size_t> missing;   ///< runs with a row whose recording is not in the folder
    SweepCount count;
    std::optional<SweepScalar> scalar;      ///< that the map shows; nullopt: a column of results.csv
    std::map<std::size_t, double> scalars;  ///< by run, of those read so far that have one
};

/// What happens to the sweep on screen.
enum class SweepActivity { Idle, Training, Stopping };

}  // namespace normscope::widgets
