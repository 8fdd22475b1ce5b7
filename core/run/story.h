// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/recipe/recipe.h"
#include "core/session/run_data.h"

namespace normscope {

/// A value of a recorded run that a story states, and its interval. The story's test trains the runs over
/// several seeds and checks each, so that every statement is measured.
struct StoryFact {
    std::size_t run = 0;           ///< index of Story::runs
    std::string column = "loss";   ///< a column of the step table
    std::int64_t step = -1;        ///< its row; −1: the mean of the last 20 rows
    std::optional<double> above, below;
};

/// One sentence, and the step at which the window shows the runs; nullopt: the newest.
struct StoryStep {
    std::string text;
    std::optional<std::int64_t> step;
};

/// Runs side by side with an explanation in a few steps. resources/stories/NAME.json: { "format":
/// "normscope-story", "version": 1, "title", "runs": [{"preset", "set": ["KEY=VALUE", …]}], "steps":
/// [{"text", "step"}], "facts": [{"run", "column", "step", "above", "below"}] }.
struct Story {
    std::string name, title;
    std::vector<Recipe> runs;  ///< completed and validated
    std::vector<StoryStep> steps;
    std::vector<StoryFact> facts;
};

/// Reads one story; InputError names what is missing, unknown or out of range.
Story read_story(const std::string& name, const std::string& json_text);

/// The contradictions of a run to the story, one line each; empty where every fact about that run holds. A
/// missing row is a contradiction.
std::vector<std::string> contradictions(const Story& story, std::size_t run, const RunData& data);

}  // namespace normscope
