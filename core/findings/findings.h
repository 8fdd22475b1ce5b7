// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/session/run_data.h"

namespace normscope {

/// What a finding speaks of, in the order in which they are told.
enum class FindingKind { Outcome, Gradient, Factors, Departures, Growth, Nulls, Theta };

struct Finding {
    FindingKind kind;
    std::string text;   ///< one sentence without a full stop
    std::string brief;  ///< the same where there is little room; empty where it is short as it is
};

/// What a recorded run shows at a step, a sentence each: how it ended and by which numbers; the gradient from the last
/// layer to the first with the measured factors whose product it is; which watched quantities left their bands, and
/// when; then growth, lost directions and θ where they are remarkable.
///
/// A sentence names a factor or an order in time only where the program measured it, and gives the step it speaks of.
/// It states no cause: that two things moved one after the other does not make the first the reason of the second.
/// `step` may lie past the end (the newest samples are then taken). Pure; any thread.
std::vector<Finding> findings(const RunData& run, std::int64_t step);

}  // namespace normscope
