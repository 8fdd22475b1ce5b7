// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "core/stack/stack_spec.h"
#include "core/train/train_spec.h"

namespace normscope {

/// When a probe runs: every n steps exactly, or (0, "auto") at the steps that plan_cadence gives it.
struct ProbePlan {
    std::string id;
    int every = 0;
    /// Under auto, the steps as StepList writes them. "auto 0:49,…" is what the program planned, and plans anew whenever
    /// the recipe is completed; without that word they are a person's and are obeyed. Empty: not planned yet.
    std::string steps{};
};

/// Everything that determines a run.
struct Recipe {
    StackSpec stack;
    TrainSpec train;
    std::vector<ProbePlan> probes;  ///< empty list in a recipe = all that exist, auto
};

void list_fields(Fields& fields, Recipe& recipe);

/// The recipe of a JSON text ("normscope-recipe", version 1). `where` names the text in messages (a file's path).
/// Throws InputError with the path of the key and the allowed set. The result is not completed yet.
Recipe parse_recipe(const std::string& json_text, const std::string& where);

/// The recipe as JSON, every key written; parse_recipe of it gives the same recipe. One line when `indent` < 0.
std::string recipe_json(const Recipe& recipe, int indent = 2);

/// "--set stack.depth=24": the value is JSON, or a bare word. Applied to the JSON before anything is checked, so that
/// several settings may depend on each other.
std::string with_settings(const std::string& json_text, const std::vector<std::string>& settings,
                          const std::string& where);

/// A recipe's file, or a preset's name, with settings; neither completed nor validated as a whole.
Recipe read_recipe(const std::string& file_or_preset, const std::vector<std::string>& settings = {});

/// The same, completed and validated.
Recipe load_recipe(const std::string& file_or_preset, const std::vector<std::string>& settings = {});

/// Fills what was left out or "auto" (vocab from the source, d_ff, the probe list and its steps) and checks the whole.
void complete_and_validate(Recipe& recipe);

/// The same recipe without what the program planned: two recipes that differ in nothing else are the same.
Recipe without_planned_steps(Recipe recipe);

}  // namespace normscope
