// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_result.h"
#include "widgets/figures/figure.h"
#include "widgets/figures/parts/recipe_facts.h"

#include <optional>

namespace normscope::widgets {

/// σ_min ≥ 1 − ‖A‖ per sub-layer, or the product of both per layer, from `branch_norm` [2D] of the jacobian
/// probe (null- space note, Theorems 4.6 and 6.4). A gap where a norm is missing (post norm) or ‖A‖ ≥ 1;
/// nullopt where the theorem does not apply (shortcut not the identity; layers whose blocks do not multiply)
/// or holds nowhere.
std::optional<Curve> sigmaMinBound(const ProbeResult& sample, const RecipeFacts& facts, bool sublayers);

/// The bound of the whole stack, Π(1 − ‖A‖); NaN where it does not apply.
double stackSigmaMinBound(const ProbeResult& sample, const RecipeFacts& facts);

}  // namespace normscope::widgets
