// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/story.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/run/complete.h"
#include "core/stack/error.h"

namespace normscope {

using nlohmann::json;

namespace {

constexpr std::size_t kLastRows = 20;

std::optional<double> value_of(const RunData& data, const StoryFact& fact) {
    const std::vector<double>* column = data.steps.find(fact.column);
    if (!column) return std::nullopt;
    if (fact.step < 0) {
        if (column->size() < kLastRows) return std::nullopt;
        return std::accumulate(column->end() - kLastRows, column->end(), 0.0) / kLastRows;
    }
    const auto at = std::find(data.steps.step.begin(), data.steps.step.end(), fact.step);
    if (at == data.steps.step.end()) return std::nullopt;
    return (*column)[static_cast<std::size_t>(at - data.steps.step.begin())];
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

std::optional<double> optional_number(const json& object, const char* key) {
    return object.contains(key) ? std::optional<double>(object.at(key).get<double>()) : std::nullopt;
}

}  // namespace

Story read_story(const std::string& name, const std::string& text) {
    try {
        const json object = json::parse(text);
        if (object.value("format", "") != "normscope-story" || object.value("version", 0) != 1)
            throw InputError("story " + name, "not a story", "format normscope-story, version 1");
        Story story{name, object.at("title"), {}, {}, {}};
        for (const json& run : object.at("runs"))
            story.runs.push_back(load_recipe(run.at("preset"), run.value("set", std::vector<std::string>())));
        for (const json& step : object.at("steps")) {
            story.steps.push_back({step.at("text"), std::nullopt});
            if (step.contains("step")) story.steps.back().step = step.at("step").get<std::int64_t>();
        }
        for (const json& fact : object.at("facts")) {
            story.facts.push_back({fact.at("run"), fact.value("column", "loss"),
                                   fact.value("step", std::int64_t{-1}), optional_number(fact, "above"),
                                   optional_number(fact, "below")});
            if (story.facts.back().run >= story.runs.size())
                throw InputError("story " + name + ": facts: run",
                                 std::to_string(story.facts.back().run) + " does not exist",
                                 "0 … " + std::to_string(story.runs.size() - 1));
        }
        return story;
    } catch (const json::exception& error) {
        throw InputError("story " + name + ": " + error.what());
    }
}

std::vector<std::string> contradictions(const Story& story, std::size_t run, const RunData& data) {
    std::vector<std::string> lines;
    for (const StoryFact& fact : story.facts) {
        if (fact.run != run) continue;
        const std::optional<double> value = value_of(data, fact);
        const bool holds =
            value && (!fact.above || *value > *fact.above) && (!fact.below || *value < *fact.below);
        if (holds) continue;
        lines.push_back(data.name + ": " + fact.column +
                        (fact.step < 0 ? " at the end" : " at step " + std::to_string(fact.step)) + " is " +
                        (value ? number(*value) : "not recorded") +
                        (fact.above ? ", stated above " + number(*fact.above) : "") +
                        (fact.below ? ", stated below " + number(*fact.below) : ""));
    }
    return lines;
}

}  // namespace normscope
