// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"
#include "core/session/checkpoint.h"
#include "core/train/trainer.h"

#include <string>

namespace normscope::app {

/// The knobs of a recipe that act on a run without restarting it.
HotKnobs hotKnobs(const Recipe& recipe);
/// Those that a checkpoint was taken under.
HotKnobs hotKnobs(const Checkpoint& checkpoint);
void setHotKnobs(Recipe& recipe, const HotKnobs& knobs);

/// Two recipes that say the same.
bool sameRecipe(const Recipe& a, const Recipe& b);
/// Two recipes that differ in hot knobs at most: a running experiment can follow from one to the other.
bool sameButHot(const Recipe& a, const Recipe& b);

/// What the weights and the probe batch of step 0 depend on, as text: equal texts, equal weights. Neither hot
/// knobs nor anything of the optimizer and the schedule is in it.
std::string initialStateKey(Recipe recipe);

}  // namespace normscope::app
