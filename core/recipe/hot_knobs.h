// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/keys.h"

#include <span>
#include <string>

namespace normscope {

/// The numbers that act on a run without restarting it, in the order of HotKnobs' members:
/// a checkpoint calls them by the last part of their name, an event by the label of their role.
std::span<const RecipeKey* const> hot_keys();

HotKnobs hot_knobs(const Recipe& recipe);
void set_hot_knobs(Recipe& recipe, const HotKnobs& knobs);

/// "Δt 1 → 0.2, clip 1 → 2": the text of a knob event; empty if unchanged.
std::string knob_changes(const HotKnobs& from, const HotKnobs& to);

/// Whether two recipes differ at most in hot knobs, interventions and watchpoints, which a running run can
/// follow.
bool same_but_hot(const Recipe& a, const Recipe& b);

/// What the state of step 0 depends on, hot knobs set aside, watchpoints excluded: two recipes of one initial
/// state have the same weights, the same batches and, under the same hot knobs, the same samples of every
/// probe at step 0.
Recipe initial_state(Recipe recipe);

}  // namespace normscope
