// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// The subject of a finding, in the order of the list.
enum class FindingKind {
    Outcome,
    Start,
    Skipped,
    Gradient,
    Factors,
    Departures,
    Growth,
    Nulls,
    Theta,
    Logits,
    UnderEps,
    Clamped,
    NormStatistics,
    Shortcuts
};
/// "outcome", "under_eps": of one line of JSON.
const char* finding_id(FindingKind kind);

/// The number that a finding rests on, and what it is of.
struct Evidence {
    /// "steps/loss", a column of the steps; "growth/rms", an array of a probe; a kind of event; the title of
    /// a watched quantity.
    std::string quantity;
    std::int64_t step = -1;
    double value = std::numeric_limits<double>::quiet_NaN();
};

struct Finding {
    FindingKind kind;
    std::string text;   ///< one sentence without a full stop
    std::string brief;  ///< a shorter form for narrow places; empty where `text` is short enough
    Evidence evidence;
};

/// The mean of the last 20 finite losses up to a step, or of as many as there are.
struct RecentLoss {
    double mean = 0;
    std::int64_t first = 0, last = 0;  ///< steps that it is the mean of
};
/// nullopt where there is none. Pure; any thread.
std::optional<RecentLoss> recent_loss(const RunData& run, std::int64_t step);

/// What a recorded run shows at a step, a sentence each: the outcome with the values it rests on; a first
/// loss that is more than a nat above that of the uniform distribution; updates that were skipped; the
/// gradient from the last layer to the first with the measured factors whose product it is; which watched
/// quantities left their bands, and when; then growth, lost directions, θ, logits, what low precision does
/// (precision_findings.h) and shortcuts where they are remarkable.
///
/// A sentence names a factor or an order in time only where the program measured it, and gives that step. It
/// states no cause: that two things moved one after the other does not make the first the cause of the
/// second. `step` may lie past the end (the newest samples are then taken). Pure; any thread.
std::vector<Finding> findings(const RunData& run, std::int64_t step);

}  // namespace normscope
