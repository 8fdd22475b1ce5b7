// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"
#include "core/sweep/sweep_scalar.h"
#include "core/train/outcome.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// What a step asks for: to train, or to move a knob to a value.
struct StoryAction {
    enum class Kind { Train, Knob } kind = Kind::Train;
    std::optional<std::int64_t> until;  ///< Train: pause after so many steps; nullopt: to the end
    std::string key;                    ///< Knob: one that acts on a run in training (hot_keys)
    double to = 0;                      ///< Knob: its new value
    std::optional<std::size_t> run;     ///< Knob: the only run that it is moved for; nullopt: all runs
};

/// A statement about a run that can be checked on its data (story_check.h).
struct StoryPredicate {
    enum class Quantity {
        Loss,           ///< nat; mean of the 20 steps up to `step`
        GradientRatio,  ///< ‖∂L/∂h‖ after layer 1 over that after the last (gradient_ratio.h), at `step`
        GrowthRatio,  ///< RMS of the last hidden state over that of the embedding, at `step`
        MedianToken,  ///< GradientRatio of the median token (core/probe/transport.h), at `step`
        Outcome,      ///< the state at the end
        Scalar        ///< of a probe's sample at `step`, or at the end
    } quantity = Quantity::Loss;
    SweepScalar scalar;   ///< Scalar
    std::size_t run = 0;  ///< index of Story::runs
    /// nullopt: the end, for a gradient ratio the mean of the last 20 steps
    std::optional<std::int64_t> step;
    bool after_knob = false;  ///< `step` counts from the run's last knob move
    bool greater = true;      ///< false: less. Outcome: equal
    double value = 0;
    std::optional<std::size_t> of_run;    ///< compared with that run's quantity instead of `value`
    std::string of_array;                 ///< Scalar: compared with that array of the sample; empty: none
    double times = 1;                     ///< what is compared with is so many times the other
    RunState state = RunState::Finished;  ///< Outcome
};

/// One page of a story.
struct StoryStep {
    std::string text;                  ///< a few sentences
    std::optional<std::int64_t> step;  ///< the step of training that the window shows; nullopt: the newest
    std::vector<StoryAction> actions;  ///< in order
    std::string expect;                ///< the statement that `holds` checks; empty without
    std::vector<StoryPredicate> holds;
    std::string panel;  ///< what the window shows for it: a panel's id, as `figure --panel` has it
    std::map<std::string, std::string> options;  ///< of the panel, others as they are
};

/// Runs side by side with an explanation in a few steps. resources/stories/NAME.json: { "format":
/// "normscope-story", "version": 2, "title", "runs": [{"name", "preset", "set": ["KEY=VALUE", …]}], "steps":
/// [{"text", "step", "panel", "options": {NAME: VALUE, …}, "do": [{"train": "end" or STEPS} or {"knob": KEY,
/// "to": VALUE, "run": NAME}], "expect", "holds": [{"run": NAME, "quantity": one of story_quantity_words() or
/// "probe", "array" and "over" (SweepScalar), "step" or "after_knob": STEP, "is": ">", "<" or "=", "value" or
/// "of": NAME or "of_array": NAME}]}] }. What a value is compared with may be multiplied: "times": NUMBER.
struct Story {
    struct Run {
        std::string name;
        Recipe recipe;  ///< completed and validated
    };
    std::string name, title;
    std::vector<Run> runs;
    std::vector<StoryStep> steps;
};

/// The words of StoryPredicate::Quantity in a file, in its order; a scalar has none.
const std::vector<std::string>& story_quantity_words();

/// Reads one story; InputError names what is missing, unknown or out of range, where, and what is allowed.
/// `settings` ("seed=43") are set in every run.
Story read_story(const std::string& name, const std::string& json_text,
                 const std::vector<std::string>& settings = {});

}  // namespace normscope
