// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/intervention_spec.h"
#include "core/recipe/train_spec.h"
#include "core/recipe/watch_spec.h"
#include "core/stack/stack_spec.h"

#include <string>
#include <vector>

namespace normscope {

/// The cadence of a probe: every n steps exactly, or (0, "auto") the steps of plan_cadence.
struct ProbePlan {
    std::string id;
    int every = 0;
    /// Under auto, the steps as StepList writes them. "auto 0:49,…" is planned, again whenever the recipe is
    /// completed; without that word the steps are the user's and are used as given. Empty: not planned yet.
    std::string steps{};
    /// The places that it measures (PlaceSelection); empty: all. Written where it is not empty.
    std::string only{};
    /// Of a probe with formats (ProbeInfo::formats), those that it measures, separated by commas; empty: all.
    /// Written where it is not empty.
    std::string formats{};
    bool operator==(const ProbePlan&) const = default;
};

/// The prefix of planned steps.
inline constexpr const char* kPlannedSteps = "auto";
/// Whether the steps of this entry are planned ("auto …", or none yet) rather than given by the user.
bool steps_are_planned(const ProbePlan& plan);

/// Everything that determines a run.
struct Recipe {
    StackSpec stack;
    TrainSpec train;
    std::vector<ProbePlan> probes;                  ///< empty list in a recipe = all that exist, auto
    std::vector<WatchSpec> watch{};                 ///< written where it is not empty
    std::vector<InterventionSpec> interventions{};  ///< written where it is not empty
    bool operator==(const Recipe&) const = default;
};

void list_fields(Fields& fields, Recipe& recipe);

/// The recipe of a JSON text ("normscope-recipe", version 1). `where` names the text in messages (a file's
/// path). Throws InputError with the path of the key and the allowed set. The result is not completed yet.
Recipe parse_recipe(const std::string& json_text, const std::string& where);

/// The recipe as JSON, every key written but an empty `watch`, empty `interventions` and empty texts;
/// parse_recipe of it gives the same recipe. One line when `indent` < 0.
std::string recipe_json(const Recipe& recipe, int indent = 2);

/// "--set stack.depth=24": the value is JSON, or a bare word. Applied to the JSON before validation, so that
/// settings may depend on each other.
std::string with_settings(const std::string& json_text, const std::vector<std::string>& settings,
                          const std::string& where);

/// A recipe's file, or a preset's name, with settings; neither completed nor validated as a whole
/// (core/run/complete.h).
Recipe read_recipe(const std::string& file_or_preset, const std::vector<std::string>& settings = {});

/// Whether two recipes are equal apart from planned steps.
bool same_recipe(const Recipe& a, const Recipe& b);
/// The same recipe without planned steps.
Recipe without_planned_steps(Recipe recipe);

}  // namespace normscope
