// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/recipe.h"

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/recipe/presets.h"
#include "core/recipe/recipe_text.h"
#include "core/stack/json_fields.h"

#include <fstream>
#include <map>
#include <sstream>

namespace normscope {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr const char* kFormat = "normscope-recipe";
constexpr int kVersion = 1;

void check_header(json& object, const std::string& where) {
    if (!object.is_object() || object.value("format", json()) != kFormat)
        throw InputError(where, "not a recipe",
                         std::string("an object with \"format\": \"") + kFormat + "\"");
    if (object.value("version", json()) != kVersion)
        throw InputError(where + ": version",
                         printable(json_text(object.value("version", json()))) + " is not known", "1");
    object.erase("format");
    object.erase("version");
    object.erase("title");
    object.erase("description");
}

/// A run records each probe once.
void reject_repeated_probes(const std::vector<ProbePlan>& probes) {
    std::map<std::string, std::size_t> first;
    for (std::size_t i = 0; i < probes.size(); ++i) {
        const auto [at, is_new] = first.emplace(probes[i].id, i);
        if (!is_new)
            throw InputError(
                "probes[" + std::to_string(i) + "].id",
                quoted(probes[i].id) + " is listed already by probes[" + std::to_string(at->second) + "]",
                "each probe once");
    }
}

std::string read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in)
        throw InputError(printable(path), "no such preset, and no readable file",
                         "a recipe's path or a preset's name");
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) throw InputError(printable(path) + ": cannot be read");
    return text.str();
}

}  // namespace

void list_fields(Fields& f, Recipe& r) {
    f.group("stack", [&] { list_fields(f, r.stack); });
    list_fields(f, r.train);
    f.list(
        "probes", r.probes,
        [&](ProbePlan& probe) {
            f.text("id", probe.id);
            f.integer_or_auto("every", probe.every, 1, 1'000'000'000);
            f.text("steps", probe.steps);
            f.text("only", probe.only);
            f.text("formats", probe.formats);
        },
        observes());
    f.list(
        "watch", r.watch, [&](WatchSpec& watch) { list_fields(f, watch); }, observes());
    f.list(
        "interventions", r.interventions, [&](InterventionSpec& spec) { list_fields(f, spec); }, hot_list());
}

Recipe parse_recipe(const std::string& text, const std::string& where) {
    json object = strict_json(text, where);
    check_header(object, where);
    Recipe recipe;
    const bool names_input = object.contains("stack") && object["stack"].contains("input");
    JsonReader reader(object, "");
    list_fields(reader, recipe);
    reader.reject_unknown_keys();
    if (!names_input && is_of_images(recipe.train.data.source)) recipe.stack.input = StackInput::Patches;
    reject_repeated_probes(recipe.probes);
    return recipe;
}

std::string recipe_json(const Recipe& recipe, int indent) {
    Recipe copy = recipe;  // Fields visits by reference
    JsonWriter writer;
    list_fields(writer, copy);
    ordered_json out = {{"format", kFormat}, {"version", kVersion}};
    out.update(writer.take());
    // As recipes were written before there were any.
    if (recipe.watch.empty()) out.erase("watch");
    if (recipe.interventions.empty()) out.erase("interventions");
    return json_text(out, indent);
}

std::string with_settings(const std::string& text, const std::vector<std::string>& settings,
                          const std::string& where) {
    json object = strict_json(text, where);
    for (const auto& setting : settings) {
        const std::string option = "--set " + printable(setting);
        const auto equals = setting.find('=');
        if (equals == std::string::npos || equals == 0)
            throw InputError(option, "has no value", "key.path=value");
        const std::string path = setting.substr(0, equals);
        json value = json_or_word(std::string_view(setting).substr(equals + 1), "--set " + printable(path));
        json* at = &object;
        int depth = 0;
        std::istringstream keys(path);
        for (std::string key; std::getline(keys, key, '.');) {
            if (!at->is_object() && !at->is_null())
                throw InputError(option, normscope::quoted(key) + " is inside a value", "key.path=value");
            if (++depth > kDeepestJson)
                throw InputError(option, "is nested deeper than " + std::to_string(kDeepestJson) + " levels",
                                 "at most " + std::to_string(kDeepestJson));
            at = &(*at)[key];
        }
        *at = std::move(value);
    }
    return json_text(object);
}

namespace {

/// `values` are those of the key `path`; of all keys where it is empty.
void list_settings(const json& values, const std::string& path, const std::string& where,
                   std::vector<std::string>& settings) {
    for (const auto& [key, value] : values.items()) {
        const std::string below = path.empty() ? key : path + "." + key;
        if (key.find('=') != std::string::npos)
            throw InputError(where + ": " + quoted(key), "has an =", "a key of the recipe");
        if (value.is_object())
            list_settings(value, below, where, settings);
        else
            settings.push_back(below + "=" + json_text(value));
    }
}

}  // namespace

std::vector<std::string> settings_of_json(const std::string& text, const std::string& where) {
    const json values = strict_json(text, where);
    if (!values.is_object())
        throw InputError(where, "is no object", R"({"stack.depth": 6, "optimizer": {"lr": 1e-3}})");
    std::vector<std::string> settings;
    list_settings(values, "", where, settings);
    return settings;
}

bool steps_are_planned(const ProbePlan& plan) {
    return plan.steps.empty() || plan.steps == kPlannedSteps ||
           plan.steps.rfind(std::string(kPlannedSteps) + " ", 0) == 0;
}

bool same_recipe(const Recipe& a, const Recipe& b) {
    if (a.stack != b.stack || a.train != b.train || a.watch != b.watch ||
        a.interventions != b.interventions || a.probes.size() != b.probes.size())
        return false;
    return without_planned_steps(a).probes == without_planned_steps(b).probes;
}

Recipe without_planned_steps(Recipe recipe) {
    for (ProbePlan& probe : recipe.probes)
        if (steps_are_planned(probe)) probe.steps.clear();
    return recipe;
}

std::string recipe_text(const std::string& file_or_preset, const std::vector<std::string>& settings) {
    const Preset* preset = find_preset(file_or_preset);
    const std::string text = preset ? preset->json : read_text(file_or_preset);
    return with_settings(text, settings, file_or_preset);
}

Recipe read_recipe(const std::string& file_or_preset, const std::vector<std::string>& settings) {
    return parse_recipe(recipe_text(file_or_preset, settings), file_or_preset);
}

}  // namespace normscope
