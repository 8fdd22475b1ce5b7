// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"

#include <string>
#include <vector>

namespace normscope {

/// What a completed recipe of a short format does not have in a program whose norms run in that format, one
/// line each; this program keeps ε and the statistics of norms in float32.
///
/// FP16: an ε of at most 2⁻²⁵ becomes 0, so that a row without variance divides by 0; below 2.33e-10 1/√ε
/// exceeds 65504.
std::vector<std::string> precision_warnings(const Recipe& recipe);

}  // namespace normscope
