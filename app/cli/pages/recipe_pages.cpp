// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/pages/pages.h"
#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/recipe/keys.h"
#include "core/recipe/presets.h"
#include "core/recipe/size_presets.h"
#include "core/stack/scheme_rows.h"
#include "core/stories/story.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace normscope::app {

namespace {

/// The values that a key takes, in words.
std::string values_of(const FieldType& type) {
    using Kind = FieldType::Kind;
    const std::string range = plain(type.range.text());
    switch (type.kind) {
        case Kind::Integer:
            return std::string(type.automatic ? "`auto`, or " : "") + "whole number, " +
                   std::to_string(static_cast<int>(type.range.low)) + " … " +
                   std::to_string(static_cast<int>(type.range.high));
        case Kind::Whole:
            return "whole number, from 0";
        case Kind::Real:
            return "number, " + range + (type.optional ? ", or absent" : "");
        case Kind::Reals:
            return std::to_string(type.count) + " numbers, " + range;
        case Kind::Flag:
            return std::string("`true`, `false`") + (type.optional ? ", absent" : "");
        case Kind::Text:
            return "text";
        case Kind::Word: {
            std::string words;
            for (const char* word : type.words) words += (words.empty() ? "" : ", ") + code(word);
            return words;
        }
        case Kind::List:
            break;
    }
    return "";
}

/// Every key of one value, of the recipe and of the entries of its lists.
std::vector<const RecipeKey*> single_keys() {
    std::vector<const RecipeKey*> keys;
    for (const RecipeKey& key : recipe_keys()) {
        if (!key.is_list()) keys.push_back(&key);
        for (const RecipeKey& inside : key.entries) keys.push_back(&inside);
    }
    return keys;
}

std::map<std::string, std::string> defaults_of(const Recipe& recipe) {
    std::map<std::string, std::string> found;
    for (const auto& [key, value] : key_values(recipe)) found[key] = value_text(value);
    return found;
}

std::string change_of(const Role& role) {
    switch (role.effect) {
        case Role::Effect::Restarts:
            return role.follows[0] ? "new run; follows " + code(role.follows) : "new run";
        case Role::Effect::Hot:
            return "hot";
        case Role::Effect::Observes:
            return "observes";
    }
    return "";
}

std::string group_of(const std::string& key) {
    const auto dot = key.rfind('.');
    return dot == std::string::npos ? "" : key.substr(0, dot);
}

nlohmann::json object_of(const Preset& preset) {
    return strict_json(preset.json, preset.name);
}

void add_presets(std::vector<Cells>& rows, std::span<const Preset> presets) {
    for (const Preset& preset : presets) {
        const nlohmann::json object = object_of(preset);
        rows.push_back(
            {code(preset.name), plain(object.value("title", "")), plain(object.value("description", ""))});
    }
}

}  // namespace

Page recipe_keys_page() {
    const auto keys = single_keys();
    Recipe llama;
    apply_block_preset(llama.stack, Block::Llama);
    const auto plain_default = defaults_of({}), llama_default = defaults_of(llama);

    std::string text = paragraph(
        "A recipe is a JSON object with `\"format\": \"normscope-recipe\"` and `\"version\": 1`; all other "
        "keys may be "
        "absent and then have their default. On the command line `--set stack.depth=24` sets one key. "
        "Papers: \\[E\\] "
        "Emadi, \\[N\\] the null-space note, \\[G\\] GPAS, \\[B\\] Baek, \\[K\\] Kan et al.");
    text += paragraph(
        "*Change*: **hot** acts on a run in training from its next step on; **new run** starts another run; "
        "**observes** "
        "changes what is recorded and no result. *Follows*: a size that is changed with the key it follows.");
    std::string group = "?";
    std::vector<Cells> rows;
    const auto flush = [&] {
        if (rows.empty()) return;
        text += heading(2, group.empty() ? "Training" : code(group));
        text += table({"key", "values", "default", "change", "what it does"}, rows);
        rows.clear();
    };
    // Keys of one group are not all next to each other: `steps` comes after `schedule`.
    std::vector<std::string> groups;
    for (const RecipeKey* key : keys)
        if (std::find(groups.begin(), groups.end(), group_of(key->name)) == groups.end())
            groups.push_back(group_of(key->name));
    for (const std::string& one : groups) {
        group = one;
        for (const RecipeKey* key : keys) {
            if (group_of(key->name) != one) continue;
            if (!key->help) throw SystemError(key->name + ": has no text in core/recipe/key_help.cpp");
            std::string value = "–";
            if (const auto found = plain_default.find(key->name); found != plain_default.end()) {
                value = code(found->second);
                if (const std::string& other = llama_default.at(key->name); other != found->second)
                    value += " (block llama: " + code(other) + ")";
            }
            rows.push_back(
                {code(key->name), values_of(key->type), value, change_of(key->role), plain(key->help)});
        }
        flush();
    }
    return {"recipe-keys", "Recipe keys", text};
}

Page schemes_page() {
    std::string text = paragraph(
        "Every sub-layer of every scheme is one form, `x' = N_post(a·x + Δt·b·λ·N_out(f(s·N_in(x))))`; a "
        "scheme states "
        "which norms are placed and what a and s are. Recipe key: `stack.scheme`.");
    std::vector<Cells> rows;
    const auto places = [](const NormPlaces& at) {
        std::string words;
        for (const auto& [is, name] : {std::pair{at.in, "N_in"}, {at.out, "N_out"}, {at.post, "N_post"}})
            if (is) words += (words.empty() ? "" : ", ") + code(name);
        return words.empty() ? std::string("none") : words;
    };
    for (const SchemeRow& row : scheme_rows::kAll)
        rows.push_back({code(row.word), plain(row.title), places(row.attn), places(row.ffn),
                        row.shortcut == SchemeRow::Shortcut::DeepNorm ? "(2N)^(1/4)" : "1",
                        row.s_in == SchemeRow::InputScale::InverseSqrtLayer ? "1/√ℓ" : "1",
                        row.final_norm ? "on" : "off", plain(row.source)});
    text += table({"word", "name", "norms of attention", "norms of the feed-forward map", "a", "s",
                   "final norm (GPT-2)", "source"},
                  rows);
    text += paragraph("Mix-LN applies the row of Post-LN in its first layers (`stack.mix_post_fraction`).");
    return {"schemes", "Schemes", text};
}

Page presets_page() {
    std::string text = paragraph(
        "`normscope-cli presets NAME` prints a preset as a recipe; every command takes its name for a "
        "recipe.");
    std::vector<Cells> rows;
    add_presets(rows, presets());
    text += heading(2, "Of the laboratory") + table({"name", "title", "what it is"}, rows);
    rows.clear();
    add_presets(rows, size_presets());
    text += heading(2, "Sizes of the literature") + table({"name", "title", "what it is"}, rows);
    return {"presets", "Presets", text};
}

Page stories_page() {
    std::string text =
        paragraph("Runs side by side with an explanation in a few steps (menu Stories of the window).");
    for (const Preset& file : stories()) {
        const Story story = read_story(file.name, file.json);
        text += heading(2, plain(story.title));
        std::string runs;
        for (const Story::Run& run : story.runs) runs += (runs.empty() ? "" : ", ") + plain(run.name);
        text += paragraph("File " + code(std::string("resources/stories/") + file.name + ".json") +
                          "; runs: " + runs + ".");
        int number = 0;
        for (const StoryStep& step : story.steps) {
            text += std::to_string(++number) + ". " + plain(step.text);
            if (!step.expect.empty()) text += " Expected: " + plain(step.expect);
            text += "\n";
        }
        text += "\n";
    }
    return {"stories", "Stories", text};
}

}  // namespace normscope::app
