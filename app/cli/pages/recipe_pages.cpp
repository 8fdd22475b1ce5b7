// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/pages/pages.h"
#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/recipe/key_help.h"
#include "core/recipe/keys.h"
#include "core/recipe/presets.h"
#include "core/recipe/size_presets.h"
#include "core/run/stories/story.h"
#include "core/stack/scheme_rows.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace normscope::app {

namespace {

struct KeyRow {
    std::string key, values;
    Role role;
};

/// "stack.layers.0.attn.in" without the number of the entry.
std::string without_index(std::string key) {
    for (const char* list : {"stack.layers.0", "probes.0", "watch.0"})
        if (key.rfind(list, 0) == 0) key.erase(std::string(list).size() - 2, 2);
    return key;
}

/// Every key with the values that it takes, in words.
class KeyLister final : public KeyVisitor {
  public:
    KeyLister() : KeyVisitor(true) {}
    std::vector<KeyRow> rows;

  private:
    void add(const char* key, std::string values) {
        rows.push_back({without_index(full(key)), std::move(values), role()});
    }
    static std::string whole(int low, int high) {
        return "whole number, " + std::to_string(low) + " … " + std::to_string(high);
    }
    void visit_integer(const char* key, int&, int low, int high) override { add(key, whole(low, high)); }
    void visit_whole(const char* key, std::uint64_t&) override { add(key, "whole number, from 0"); }
    void visit_real(const char* key, double&, RealRange range) override {
        add(key, "number, " + plain(range.text()));
    }
    void visit_reals(const char* key, std::span<double> values, RealRange range) override {
        add(key, std::to_string(values.size()) + " numbers, " + plain(range.text()));
    }
    void visit_flag(const char* key, bool&) override { add(key, "`true`, `false`"); }
    void visit_text(const char* key, std::string&) override { add(key, "text"); }
    void visit_optional_flag(const char* key, std::optional<bool>&) override {
        add(key, "`true`, `false`, absent");
    }
    void visit_optional_real(const char* key, std::optional<double>&, RealRange range) override {
        add(key, "number, " + plain(range.text()) + ", or absent");
    }
    void visit_integer_or_auto(const char* key, int&, int low, int high) override {
        add(key, "`auto`, or " + whole(low, high));
    }
    void visit_word(const char* key, int&, std::span<const char* const> allowed) override {
        std::string words;
        for (const char* word : allowed) words += (words.empty() ? "" : ", ") + code(word);
        add(key, words);
    }
};

/// A recipe with one entry in each list, so that a visitor reaches the entries' keys.
Recipe with_entries() {
    Recipe recipe;
    recipe.stack.layers.resize(1);
    recipe.probes.resize(1);
    recipe.watch.resize(1);
    return recipe;
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
    KeyLister lister;
    Recipe recipe = with_entries(), llama;
    list_fields(lister, recipe);
    set_key(llama, "stack.block", std::string("llama"));
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
    for (const KeyRow& row : lister.rows)
        if (std::find(groups.begin(), groups.end(), group_of(row.key)) == groups.end())
            groups.push_back(group_of(row.key));
    for (const std::string& one : groups) {
        group = one;
        for (const KeyRow& row : lister.rows) {
            if (group_of(row.key) != one) continue;
            const char* help = key_help(row.key);
            if (!help) throw SystemError(row.key + ": has no text in core/recipe/key_help.cpp");
            std::string value = "–";
            if (const auto found = plain_default.find(row.key); found != plain_default.end()) {
                value = code(found->second);
                if (const std::string& other = llama_default.at(row.key); other != found->second)
                    value += " (block llama: " + code(other) + ")";
            }
            rows.push_back({code(row.key), row.values, value, change_of(row.role), plain(help)});
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
