// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"
#include "core/session/run_data.h"

#include <cstdint>

namespace normscope {

/// A loss this close to the unigram entropy H₁, as a share of it, is at it: as Verdict's bound below it.
inline constexpr double kAtUnigram = 0.03;

/// How far the optimizer's limits acted on a recorded run, over all of its recorded steps. Shares are from 0
/// to 1; a value is NaN where its column or its samples are missing.
struct TrainingMeasures {
    std::int64_t steps = 0;  ///< recorded

    /// Share of the steps whose gradient's norm was above the clip; NaN without a clip.
    double clipped;
    /// Median of that norm over the clip, of the clipped steps.
    double clip_factor;
    /// Median of ‖g‖/√n, g the gradient after clipping, n the weights of all linear maps and embeddings.
    double gradient_rms;
    /// Share of the steps at which that is below Adam's ε: there Adam divides by ε instead of by the
    /// gradient's size, and the update shrinks with it. NaN under sgd.
    double dead;
    /// Share of the updates that were skipped because the scaled gradient overflowed.
    double skipped;
    /// Median over the samples of the probe `updates` of the largest ‖Δθ‖/‖θ‖ of a group of tensors.
    double update;
    /// The highest learning rate that a step had; that of the recipe where the rates were not recorded.
    double peak_rate;
    /// Weight decay · learning rate, summed over the steps: by how much ln ‖θ‖ of a tensor without a gradient
    /// fell. NaN under adam, whose decay passes through the gradient.
    double decay;
    /// The first loss minus the mean of the last 20, nat.
    double fall;
    /// That mean over the unigram entropy.
    double over_unigram;
    /// ‖∂L/∂h‖ after layer 1 over that after the last: geometric median of the last 20 finite ones.
    double gradient_ratio;

    /// Whether that is between the bounds of Verdict; false where it is not known.
    bool healthy_gradient() const;
    /// Whether the run ended at the unigram entropy (kAtUnigram) or below it.
    bool reached_unigram() const;
};

/// `recipe` is that of the run with its hot knobs as last moved: the clip and the decay are its, for every
/// step. Pure; any thread.
TrainingMeasures training_measures(const Recipe& recipe, const RunData& run);

}  // namespace normscope
