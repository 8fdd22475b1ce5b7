// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/findings/findings.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace normscope {

/// A statement of a Why card: one to three sentences to be read aloud, each of at most kMaxWords words,
/// without symbols and with its full stop.
struct WhyLine {
    std::string text;
    Evidence evidence;          ///< its number, at its step
    std::string panel;          ///< id of the panel that shows it: "training", "gradients"
    std::string quantity = {};  ///< the panel's option of that name; empty: its default
};

/// Why a run failed, as far as it was measured.
struct WhyCard {
    /// What was measured, when it began, what moved first; fewer where there is nothing to state.
    std::vector<WhyLine> lines;
    std::string not_measured;  ///< a sentence on what is not known
    std::string false_alarms;  ///< how often runs that learn look so; empty where no range is mentioned
};

inline constexpr int kMaxWords = 20;

/// Of a run for which has_failed(run.outcome), as it was at a step: before that of its outcome the card has
/// what had left the range of runs that learn by then. It states an order in time and no cause. Pure; any
/// thread.
WhyCard why(const RunData& run, std::int64_t step = std::numeric_limits<std::int64_t>::max());

}  // namespace normscope
