// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"

#include <span>
#include <string>

namespace normscope {

/// The knobs that act on a run without restarting it. ε, Δt, τ move the forward map, the others the
/// optimizer.
struct HotKnobs {
    double residual_step, temperature, eps, lr, weight_decay, clip;
    bool operator==(const HotKnobs&) const = default;
};

/// One of them: a key that list_fields marks as hot.
struct HotField {
    std::string key;    ///< "stack.residual_step"
    const char* name;   ///< the end of the key: what a checkpoint calls it
    const char* label;  ///< what an event calls it
    double HotKnobs::*member;
};

/// All of them, in the order of HotKnobs' members.
std::span<const HotField> hot_fields();

HotKnobs hot_knobs(const Recipe& recipe);
void set_hot_knobs(Recipe& recipe, const HotKnobs& knobs);

/// "Δt 1 → 0.2, clip 1 → 2": the text of a knob event; empty if unchanged.
std::string knob_changes(const HotKnobs& from, const HotKnobs& to);

/// Whether two recipes differ at most in hot knobs and watchpoints, which a running run can follow.
bool same_but_hot(const Recipe& a, const Recipe& b);

/// What the state of step 0 depends on, hot knobs set aside, watchpoints excluded: two recipes of one initial
/// state have the same weights, the same batches and, under the same hot knobs, the same samples of every
/// probe at step 0.
Recipe initial_state(Recipe recipe);

}  // namespace normscope
