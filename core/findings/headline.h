// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <string>

namespace normscope {

/// A failed run in a few lines: a title, then two sentences without a full stop.
struct Headline {
    std::string title;     ///< "Stalled at the unigram entropy"
    std::string measured;  ///< the values that the outcome is decided from
    std::string began;     ///< what left the range of runs that learn first, when, and the gradient since
};

/// Of a run for which has_failed(run.outcome); the others have an empty title. It rests on what was recorded:
/// a quantity without samples is not mentioned, and no cause is stated. Pure; any thread.
Headline headline(const RunData& run);

}  // namespace normscope
