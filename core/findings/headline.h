// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <cstdint>
#include <limits>
#include <string>

namespace normscope {

/// A failed run in a few lines: a title, then sentences without a full stop; empty where nothing is known.
struct Headline {
    std::string title;     ///< "Stalled at the unigram entropy"
    std::string measured;  ///< the values that the outcome is decided from
    std::string began;     ///< what left the range of runs that learn first, and when
    std::string brief;     ///< the same for narrow places: "First out of its range: …, at step 2"
    std::string gradient;  ///< its ratio at the first and the last step

    bool operator==(const Headline&) const = default;
};

/// Of a run for which has_failed(run.outcome), as it was at a step: from that of its outcome on the outcome,
/// before it what had left the range of runs that learn by then. The title is empty where there is neither.
/// It rests on what was recorded: a quantity without samples is not mentioned, and no cause is stated. Pure;
/// any thread.
Headline headline(const RunData& run, std::int64_t step = std::numeric_limits<std::int64_t>::max());

}  // namespace normscope
