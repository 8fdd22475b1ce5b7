// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/findings/run_difference.h"

namespace normscope {

/// "step 0, layer 1, attention: 0.98765432 and 0.98765433, 1e-8 relative (probes/growth/rms)"; the values
/// with nine digits, for the two differ late.
std::string place_text(const DifferentPlace& place);

/// Everything of a difference, as lines of text: the recipes, the first places, what was not compared, the
/// distances at later steps. Ends with a line break.
std::string difference_text(const RunDifference& difference);

}  // namespace normscope
