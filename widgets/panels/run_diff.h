// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"

#include <QStringList>
#include <vector>

namespace normscope::widgets {

/// The differences between runs: for each recipe the short texts of the keys in which they differ,
/// e.g. {"scheme post", "Δt 0.2"}; a missing override or probe reads "default". The best-known
/// knobs come first. Empty lists for fewer than two recipes.
std::vector<QStringList> runDifferences(const std::vector<Recipe>& recipes);

}  // namespace normscope::widgets
