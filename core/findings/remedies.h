// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"
#include "core/session/run_data.h"

#include <string>
#include <vector>

namespace normscope {

/// A change to the recipe of a failed run that may let it learn. Whether it does is only known from training:
/// core/run/draft.h tries it for a few steps.
struct Remedy {
    std::string id;        ///< "residual_step_0.2": unique in a list, the same in every version
    std::string name;      ///< "Δt 0.2": a button's text
    std::string sentence;  ///< what is changed: "Residual step 1 → 0.2", without a full stop
    Recipe recipe;         ///< of the whole run with the change; its probe steps are planned again
};

/// Whether remedies are of use: the run diverged, collapsed or stalled. (A run that failed with an error has
/// a message instead.)
bool has_failed(const Outcome& outcome);

/// The reason why no remedy can be tried from step 0, in one line; empty if they can: a recipe that this
/// version cannot read, or weights that were imported.
std::string remedies_obstacle(const RunData& run);

/// The changes worth a trial for this run, in a fixed order that is no ranking: a smaller residual step, the
/// initialisations gpt2 and deepnorm, DeepNorm, Pre-LN and Peri-LN, the learning rate ÷ 10 and ÷ 3, a warm-up
/// of 50 steps, a lower bound on the gradient's norm; float32 for a run in a 16-bit format whose gradients
/// overflowed or whose values were not finite. Changes that leave the recipe as it is are not in the list.
///
/// `recipe` is that of the run with its hot knobs as last moved. Pure; any thread.
std::vector<Remedy> remedies(const Recipe& recipe, const RunData& run);

}  // namespace normscope
