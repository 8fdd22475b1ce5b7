// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/recipe.h"

#include "core/base/error.h"
#include "core/recipe/presets.h"
#include "core/recipe/recipe_text.h"
#include "core/stack/json_fields.h"

#include <fstream>
#include <sstream>

namespace normscope {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr const char* kFormat = "normscope-recipe";
constexpr int kVersion = 1;

json parse_json(const std::string& text, const std::string& where) {
    try {
        return json::parse(text);
    } catch (const json::parse_error& error) {
        throw InputError(where + ": not valid JSON at byte " + std::to_string(error.byte));
    }
}

void check_header(json& object, const std::string& where) {
    if (!object.is_object() || object.value("format", json()) != kFormat)
        throw InputError(where, "not a recipe",
                         std::string("an object with \"format\": \"") + kFormat + "\"");
    if (object.value("version", json()) != kVersion)
        throw InputError(where + ": version", object.value("version", json()).dump() + " is not known", "1");
    object.erase("format");
    object.erase("version");
    object.erase("title");
    object.erase("description");
}

void list_probes(Fields& f, std::vector<ProbePlan>& probes) {
    f.list(
        "probes", probes.size(), [&](std::size_t n) { probes.assign(n, {}); },
        [&](std::size_t i) {
            f.text("id", probes[i].id);
            f.integer_or_auto("every", probes[i].every, 1, 1'000'000'000);
            f.text("steps", probes[i].steps);
            f.text("only", probes[i].only);
        });
}

std::string read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in)
        throw InputError(path, "no such preset, and no readable file", "a recipe's path or a preset's name");
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) throw InputError(path + ": cannot be read");
    return text.str();
}

}  // namespace

void list_fields(Fields& f, Recipe& r) {
    f.group("stack", [&] { list_fields(f, r.stack); });
    list_fields(f, r.train);
    list_probes(f, r.probes);
    f.list(
        "watch", r.watch.size(), [&](std::size_t n) { r.watch.assign(n, {}); },
        [&](std::size_t i) { list_fields(f, r.watch[i]); });
}

Recipe parse_recipe(const std::string& text, const std::string& where) {
    json object = parse_json(text, where);
    check_header(object, where);
    Recipe recipe;
    JsonReader reader(object, "");
    list_fields(reader, recipe);
    reader.reject_unknown_keys();
    return recipe;
}

std::string recipe_json(const Recipe& recipe, int indent) {
    Recipe copy = recipe;  // Fields visits by reference
    JsonWriter writer;
    list_fields(writer, copy);
    ordered_json out = {{"format", kFormat}, {"version", kVersion}};
    out.update(writer.take());
    if (recipe.watch.empty()) out.erase("watch");  // as recipes were written before there were any
    return out.dump(indent);
}

std::string with_settings(const std::string& text, const std::vector<std::string>& settings,
                          const std::string& where) {
    json object = parse_json(text, where);
    for (const auto& setting : settings) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos || equals == 0)
            throw InputError("--set " + setting, "has no value", "key.path=value");
        json value = json::parse(setting.substr(equals + 1), nullptr, false);
        if (value.is_discarded()) value = setting.substr(equals + 1);
        json* at = &object;
        std::istringstream path(setting.substr(0, equals));
        for (std::string key; std::getline(path, key, '.');) {
            if (!at->is_object() && !at->is_null())
                throw InputError("--set " + setting, "\"" + key + "\" is inside a value", "key.path=value");
            at = &(*at)[key];
        }
        *at = value;
    }
    return object.dump();
}

bool steps_are_planned(const ProbePlan& plan) {
    return plan.steps.empty() || plan.steps == kPlannedSteps ||
           plan.steps.rfind(std::string(kPlannedSteps) + " ", 0) == 0;
}

bool same_recipe(const Recipe& a, const Recipe& b) {
    if (a.stack != b.stack || a.train != b.train || a.watch != b.watch || a.probes.size() != b.probes.size())
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
