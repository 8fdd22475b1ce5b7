// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/place_selection.h"
#include "core/recipe/recipe.h"

#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// A named list of probes, for a recipe's `probes`.
enum class ProbesPreset {
    Economy,   ///< the cheap probes, at steps that take about a hundredth of the training from step 50 on
    Standard,  ///< those of a recipe that names none, at planned steps
    Full,      ///< every probe, also those that are measured only where a recipe names them
};
/// economy, standard, full
template <>
std::span<const char* const> words_of<ProbesPreset>();

/// The list for a completed recipe. That of economy has its steps written out, for a run of any length:
/// planned ones would take what is left of their budget.
std::vector<ProbePlan> probes_of(ProbesPreset preset, const Recipe& recipe);

/// The same recipe with the preset's probes and their planned steps.
Recipe with_probes_of(ProbesPreset preset, Recipe recipe);

/// Gives this selection to every entry whose probe has places; one of everything removes theirs.
void select_places(std::vector<ProbePlan>& probes, const PlaceSelection& only);
/// The patterns that all entries with places have, empty for everything; nullopt where they differ.
std::optional<std::string> common_selection(const std::vector<ProbePlan>& probes);

/// The probes of a completed recipe, or those of a preset, that measure these places. Without a selection
/// they keep theirs; those of a preset have what was common to all.
std::vector<ProbePlan> probes_with(const Recipe& recipe, std::optional<ProbesPreset> preset,
                                   const std::optional<PlaceSelection>& only);

/// The time of all samples over that of the steps, by operation counts (core/probe/interface/operations.h):
/// in the first kDenseSteps steps and in those after them, 0 where the run has none. The recipe is completed.
struct ProbesShare {
    double first = 0, later = 0;
};
ProbesShare predicted_share(const Recipe& recipe);

}  // namespace normscope
