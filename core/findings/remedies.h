// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"
#include "core/session/run_data.h"

#include <string>
#include <vector>

namespace normscope {

/// What a remedy changes: how the weights are trained, how they begin, or the stack. In the order in which
/// remedies are shown.
enum class RemedyKind { Training, Weights, Stack };
/// "training", "weights", "stack".
const char* remedy_kind_word(RemedyKind kind);

/// A change to the recipe of a failed run that may let it learn. Whether it does is only known from training:
/// core/run/draft.h tries it for a few steps.
struct Remedy {
    std::string id;        ///< "residual_step_0.2": unique in a list, the same in every version
    std::string name;      ///< "Δt 0.2": a button's text
    std::string sentence;  ///< what is changed: "Residual step 1 → 0.2", without a full stop
    /// What was measured in the run that points to this change, without a full stop: "97 % of the steps were
    /// clipped, by a median factor of 10⁸". Empty where nothing does.
    std::string reason;
    RemedyKind kind = RemedyKind::Training;
    Recipe recipe;  ///< of the whole run with the change; its probe steps are planned again
};

/// Whether remedies are of use: the run diverged, collapsed or stalled. (A run that failed with an error has
/// a message instead.)
bool has_failed(const Outcome& outcome);

/// The reason why no remedy can be tried from step 0, in one line; empty if they can: a recipe that this
/// version cannot read, or weights that were imported.
std::string remedies_obstacle(const RunData& run);

/// The changes worth a trial for this run, in an order that is no ranking: by kind, and in a kind as below.
///
/// Training, chosen by what was measured in the run (TrainingMeasures):
///   float32               in a 16-bit format, where updates were skipped or a value was not finite
///   rate × 3, × 10        where the steps were too small, up to the laboratory's rate of 0.003 (without that
///                         bound under sgd)
///   rate 0.003            where the rate was more than 30 times below or above it
///   a tenth, a third of the rate      unless the steps were too small
///   ε smaller             where at half of the steps or more the gradient lies under Adam's ε
///   clip off, clip larger where the run stalled and nine of ten steps were clipped, by a median factor
///                         of 10 or more
///   clip ÷ 10, or 1       unless the steps were too small
///   warm-up shorter       where it takes more than half of the run
///   warm-up of 50 steps   unless the steps were too small
///   decay ÷ 10            where decay · rate, summed over the run, is 0.5 or more
///   β₂                    0.999 for 0.95 and the reverse: an experiment that no measurement points to
/// The steps were too small where the run stalled and: the gradient lies under ε; or the median update is
/// below 0.001 of the weights; or the rate was below a third of the laboratory's and the run did not reach
/// the unigram entropy; or the warm-up takes more than half of the run and the gradient reaches the first
/// layer (TrainingMeasures::healthy_gradient). Under sgd also: clipped as above.
///
/// Weights: the initialisations gpt2 and deepnorm. Stack: a smaller residual step, DeepNorm with its
/// initialisation, Pre-LN, Peri-LN. Changes that leave the recipe as it is are not in the list.
///
/// `recipe` is that of the run with its hot knobs as last moved. Pure; any thread.
std::vector<Remedy> remedies(const Recipe& recipe, const RunData& run);

}  // namespace normscope
