// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/sweep_spec.h"

#include "core/base/error.h"
#include "core/base/json_object.h"
#include "core/base/trimmed.h"
#include "core/recipe/keys.h"
#include "core/run/complete.h"
#include "core/run/experiment.h"
#include "core/run/probe_steps.h"

#include <algorithm>
#include <cctype>

namespace normscope {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr const char* kFormat = "normscope-sweep";
constexpr int kVersion = 1, kTiedVersion = 2;  // the second one: with ties or a choice
constexpr std::size_t kLongestName = 120;

std::string last_part(const std::string& key) {
    return key.substr(key.rfind('.') + 1);
}

/// Letters, digits, ".", "-" and "+" only, for a file's name.
std::string file_word(const std::string& text) {
    std::string word;
    for (const char c : text) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '+';
        if (plain)
            word += c;
        else if (word.empty() || word.back() != '-')
            word += '-';
    }
    return word;
}

std::string file_name(const SweepSpec& spec, const SweepRun& run, std::size_t runs) {
    const std::size_t digits = std::max<std::size_t>(3, std::to_string(runs).size());
    std::string number = std::to_string(run.index + 1);
    number.insert(0, digits - std::min(digits, number.size()), '0');
    std::string words;
    for (std::size_t i = 0; i < spec.grid.size(); ++i)
        words += "_" + file_word(last_part(spec.grid[i].key)) + "-" + file_word(run.values[i]);
    words = words.substr(0, kLongestName) + "_seed-" + std::to_string(run.seed);
    return "runs/" + number + words + ".h5";
}

std::string axis_text(const SweepAxis& axis) {
    std::string text = axis.key + "=";
    for (std::size_t i = 0; i < axis.values.size(); ++i) text += (i > 0 ? "," : "") + axis.values[i];
    return text;
}

std::string seeds_text(const std::vector<std::uint64_t>& seeds) {
    std::string text;
    for (const std::uint64_t seed : seeds) text += (text.empty() ? "" : ",") + std::to_string(seed);
    return text;
}

void require_known_key(const SweepAxis& axis) {
    const RecipeKey* known = find_key(axis.key);
    if (known && (!known->is_list() || known->role.effect == Role::Effect::Hot)) return;
    // The keys of the same group are the likely ones.
    const std::string group = axis.key.substr(0, axis.key.rfind('.') + 1);
    std::string allowed;
    for (const RecipeKey& key : recipe_keys())
        if (!key.is_list() && key.name.rfind(group, 0) == 0 &&
            (!group.empty() || key.name.find('.') == std::string::npos))
            allowed += (allowed.empty() ? "" : ", ") + key.name;
    throw InputError("--grid " + printable(axis.key), "unknown key",
                     allowed.empty() ? "the keys of a recipe" : allowed);
}

const SweepAxis* find_axis(const SweepSpec& spec, const std::string& key) {
    const auto found = std::find_if(spec.grid.begin(), spec.grid.end(),
                                    [&](const SweepAxis& axis) { return axis.key == key; });
    return found == spec.grid.end() ? nullptr : &*found;
}

std::string keys_text(const SweepSpec& spec) {
    std::string text;
    for (const SweepAxis& axis : spec.grid) text += (text.empty() ? "" : ", ") + axis.key;
    return text;
}

void require_tie(const SweepSpec& spec, const SweepTie& tie) {
    for (const auto& [key, value] : tie.when) {
        const SweepAxis* axis = find_axis(spec, key);
        if (!axis) throw InputError("--tie " + printable(key), "is no key of the grid", keys_text(spec));
        if (std::find(axis->values.begin(), axis->values.end(), value) == axis->values.end())
            throw InputError("--tie " + key, printable(value) + " is no value of the grid", axis_text(*axis));
    }
    for (const std::string& setting : tie.set)
        if (const std::string key = trimmed(setting.substr(0, setting.find('='))); find_axis(spec, key))
            throw InputError("--tie: " + key, "is a key of the grid, which sets it", "another key");
}

void require_choice(const SweepSpec& spec) {
    const SweepChoice& choice = spec.choice;
    if (choice.keys.empty()) {
        if (choice.seeds > 0) throw InputError("--choose-seeds", "are given", "with --choose KEY");
        return;
    }
    for (std::size_t i = 0; i < choice.keys.size(); ++i) {
        if (!find_axis(spec, choice.keys[i]))
            throw InputError("--choose " + printable(choice.keys[i]), "is no key of the grid",
                             keys_text(spec));
        if (std::find(choice.keys.begin(), choice.keys.begin() + static_cast<std::ptrdiff_t>(i),
                      choice.keys[i]) != choice.keys.begin() + static_cast<std::ptrdiff_t>(i))
            throw InputError("--choose " + choice.keys[i], "is given twice", "each key once");
    }
    if (choice.seeds == 0 || choice.seeds >= spec.seeds.size())
        throw InputError(
            "--choose-seeds",
            "are " + std::to_string(choice.seeds) + " of " + std::to_string(spec.seeds.size()) + " seeds",
            "one at least, and one at least that does not choose");
    for (std::size_t i = choice.seeds; i < spec.seeds.size(); ++i)
        if (std::find(spec.seeds.begin(), spec.seeds.begin() + static_cast<std::ptrdiff_t>(choice.seeds),
                      spec.seeds[i]) != spec.seeds.begin() + static_cast<std::ptrdiff_t>(choice.seeds))
            throw InputError("--seeds", std::to_string(spec.seeds[i]) + " is one that chooses",
                             "other seeds than --choose-seeds");
}

/// The scheme's title, then each other key of the grid.
std::string run_name(const SweepSpec& spec, const SweepRun& run) {
    Recipe recipe = recipe_of(spec, run);
    std::string varied;
    for (std::size_t i = 0; i < spec.grid.size(); ++i) {
        const std::string& key = spec.grid[i].key;
        if (key == "stack.residual_step") recipe.stack.residual_step = 1;  // named once
        if (key == "stack.temperature") recipe.stack.temperature = 1;
        if (key != "stack.scheme") varied += " " + last_part(key) + " " + run.values[i];
    }
    return default_run_name(recipe) + varied;
}

}  // namespace

std::size_t SweepSpec::runs() const {
    std::size_t count = seeds.size();
    for (const SweepAxis& axis : grid) {
        count *= axis.values.size();
        if (count > kMaxSweepRuns) return kMaxSweepRuns + 1;
    }
    return count;
}

std::size_t SweepSpec::trained_runs() const {
    if (choice.keys.empty()) return runs();
    std::size_t arms = 1, all = 1;
    for (const SweepAxis& axis : grid) {
        all *= axis.values.size();
        if (std::find(choice.keys.begin(), choice.keys.end(), axis.key) == choice.keys.end())
            arms *= axis.values.size();
    }
    return all * choice.seeds + arms * (seeds.size() - choice.seeds);
}

SweepTie parse_sweep_tie(const std::string& text) {
    const std::string where = "--tie " + printable(text);
    const std::size_t colon = text.find(':');
    const auto reject = [&] {
        throw InputError(where, "is no tie",
                         "KEY=VALUE,…: KEY=VALUE; … such as stack.scheme=post: optimizer.lr=1e-2");
    };
    if (colon == std::string::npos) reject();
    const auto parts = [](const std::string& list, char separator) {
        std::vector<std::string> found;
        for (std::size_t at = 0; at <= list.size();) {
            const std::size_t end = std::min(list.find(separator, at), list.size());
            if (std::string part = trimmed(list.substr(at, end - at)); !part.empty())
                found.push_back(std::move(part));
            at = end + 1;
        }
        return found;
    };
    SweepTie tie;
    for (const std::string& condition : parts(text.substr(0, colon), ',')) {
        const std::size_t equals = condition.find('=');
        if (equals == std::string::npos) reject();
        tie.when[condition.substr(0, equals)] = sweep_value_text(condition.substr(equals + 1), where);
    }
    tie.set = parts(text.substr(colon + 1), ';');
    if (tie.when.empty() || tie.set.empty()) reject();
    return tie;
}

std::vector<SweepRun> expand_sweep(const SweepSpec& spec) {
    for (std::size_t i = 0; i < spec.grid.size(); ++i) {
        const SweepAxis& axis = spec.grid[i];
        if (axis.key == "seed")
            throw InputError("--grid seed", "is not a key of the grid", "--seeds FIRST:LAST or --trials N");
        require_known_key(axis);
        if (axis.values.empty()) throw InputError("--grid " + axis.key, "has no values", "one or more");
        for (std::size_t k = 0; k < i; ++k)
            if (spec.grid[k].key == axis.key)
                throw InputError("--grid " + axis.key, "is given twice", "each key once");
    }
    if (spec.seeds.empty()) throw InputError("--seeds", "are empty", "one or more");
    for (const SweepTie& tie : spec.ties) require_tie(spec, tie);
    require_choice(spec);
    const std::size_t count = spec.runs();
    if (count > kMaxSweepRuns)
        throw InputError("--grid", "has too many runs", "at most " + std::to_string(kMaxSweepRuns));
    std::vector<SweepRun> runs;
    std::string name;  // of the combination, which its seeds share: the recipe is parsed for it
    for (std::size_t index = 0; index < count; ++index) {
        SweepRun run{index, {}, spec.seeds[index % spec.seeds.size()], "", ""};
        std::size_t rest = index / spec.seeds.size();
        for (std::size_t axis = spec.grid.size(); axis-- > 0;) {
            const std::vector<std::string>& values = spec.grid[axis].values;
            run.values.insert(run.values.begin(), values[rest % values.size()]);
            rest /= values.size();
        }
        run.recording = file_name(spec, run, count);
        if (index % spec.seeds.size() == 0) name = run_name(spec, run);
        run.name = name;
        if (spec.seeds.size() > 1) run.name += " seed " + std::to_string(run.seed);
        runs.push_back(std::move(run));
    }
    return runs;
}

std::vector<std::string> settings_of(const SweepSpec& spec, const SweepRun& run) {
    std::vector<std::string> settings;
    for (std::size_t i = 0; i < spec.grid.size(); ++i)
        settings.push_back(spec.grid[i].key + "=" + run.values[i]);
    for (const SweepTie& tie : spec.ties) {
        bool holds = true;
        for (std::size_t i = 0; i < spec.grid.size(); ++i)
            if (const auto wanted = tie.when.find(spec.grid[i].key); wanted != tie.when.end())
                holds = holds && wanted->second == run.values[i];
        if (holds) settings.insert(settings.end(), tie.set.begin(), tie.set.end());
    }
    settings.push_back("seed=" + std::to_string(run.seed));
    return settings;
}

Recipe recipe_of(const SweepSpec& spec, const SweepRun& run) {
    return parse_recipe(with_settings(spec.recipe, settings_of(spec, run), "recipe"), "recipe");
}

std::string settings_text(const SweepSpec& spec, const SweepRun& run) {
    std::string text;
    for (std::size_t i = 0; i < spec.grid.size(); ++i) text += spec.grid[i].key + "=" + run.values[i] + " ";
    return text + "seed=" + std::to_string(run.seed);
}

std::vector<double> require_valid(const SweepSpec& spec, const std::vector<SweepRun>& runs,
                                  Corpora& corpora) {
    std::shared_ptr<const Corpus> kept;  // until the next one: runs share it
    std::vector<double> operations;
    for (const SweepRun& run : runs) {
        try {
            Recipe recipe = recipe_of(spec, run);
            kept = complete_and_validate(recipe, &corpora);
            operations.push_back(step_operations(probe_shape(recipe)) * std::max(1, recipe.train.steps));
        } catch (const InputError& error) {
            throw InputError(settings_text(spec, run) + ": " + error.what());
        }
    }
    return operations;
}

std::string sweep_json(const SweepSpec& spec) {
    ordered_json recipe = strict_ordered_json(spec.recipe, "recipe");
    recipe.erase("title");
    recipe.erase("description");
    ordered_json grid = ordered_json::array();
    for (const SweepAxis& axis : spec.grid) {
        ordered_json values = ordered_json::array();
        for (const std::string& value : axis.values) {
            values.push_back(ordered_json(json_or_word(value, axis.key)));
        }
        grid.push_back({{"key", axis.key}, {"values", std::move(values)}});
    }
    const int version = spec.ties.empty() && spec.choice.keys.empty() ? kVersion : kTiedVersion;
    ordered_json out{
        {"format", kFormat},           {"version", version},      {"app_version", NORMSCOPE_VERSION},
        {"recipe", std::move(recipe)}, {"grid", std::move(grid)}, {"seeds", spec.seeds},
        {"runs", spec.trained_runs()}};
    for (const SweepTie& tie : spec.ties) out["tied"].push_back({{"when", tie.when}, {"set", tie.set}});
    if (!spec.choice.keys.empty()) out["choose"] = {{"keys", spec.choice.keys}, {"seeds", spec.choice.seeds}};
    return json_text(out, 2) + "\n";
}

SweepSpec parse_sweep(const std::string& text, const std::string& where) {
    const json value = strict_json(text, where);
    if (!value.is_object() || value.value("format", json()) != kFormat)
        throw InputError(where, "not a sweep", std::string("an object with \"format\": \"") + kFormat + "\"");
    const json version = value.value("version", json());
    if (version != kVersion && version != kTiedVersion)
        throw InputError(where + ": version", shown(version) + " is not known", "1 or 2");
    const JsonObject object(value, where + ": damaged");
    object.of("recipe");
    // In the order of the file, as sweep_json writes it.
    SweepSpec spec{json_text(strict_ordered_json(text, where).at("recipe")), {}, {}};
    for (const char* key : {"seeds", "grid"}) object.of(key);
    for (const json& seed : object.list("seeds")) {
        if (!seed.is_number_unsigned()) throw InputError(object.at("seeds"), shown(seed) + " is no seed", "");
        spec.seeds.push_back(seed.get<std::uint64_t>());
    }
    for (const json& entry : object.list("grid")) {
        const JsonObject read(entry, object.at("grid") + "." + std::to_string(spec.grid.size()));
        SweepAxis axis{read.text("key"), {}};
        read.of("values");
        for (const json& one : read.list("values"))
            axis.values.push_back(sweep_value_text(json_text(one), read.at("values")));
        spec.grid.push_back(std::move(axis));
    }
    for (const json& entry : object.list("tied")) {
        const JsonObject read(entry, object.at("tied") + "." + std::to_string(spec.ties.size()),
                              {"when", "set"});
        const JsonObject when = read.object("when");
        SweepTie tie{{}, read.texts("set")};
        for (const auto& condition : when.value().items())
            tie.when[condition.key()] = when.text(condition.key().c_str());
        if (tie.when.empty() || tie.set.empty()) throw InputError(read.at(), "ties nothing", "when and set");
        spec.ties.push_back(std::move(tie));
    }
    if (object.has("choose")) {
        const JsonObject read(object.of("choose"), object.at("choose"), {"keys", "seeds"});
        spec.choice = {read.texts("keys"),
                       static_cast<std::size_t>(read.whole("seeds", 1, std::int64_t{kMaxSweepRuns}))};
        if (spec.choice.keys.empty()) throw InputError(read.at("keys"), "there is none", "keys of the grid");
    }
    try {
        expand_sweep(spec);
    } catch (const InputError& error) {
        throw InputError(where + ": " + error.what());
    }
    return spec;
}

std::string sweep_difference(const SweepSpec& stored, const SweepSpec& other) {
    const auto values_of = [](const SweepSpec& spec) {
        return key_values(parse_recipe(spec.recipe, "recipe"));
    };
    const auto ours = values_of(other), theirs = values_of(stored);
    const auto value_of = [](const std::vector<KeyedValue>& values, const std::string& key) {
        for (const auto& [name, value] : values)
            if (name == key) return value_text(value);
        return std::string("not given");
    };
    for (const auto* values : {&ours, &theirs})
        for (const auto& [key, value] : *values) {
            if (std::any_of(other.grid.begin(), other.grid.end(),
                            [&wanted = key](const auto& a) { return a.key == wanted; }))
                continue;  // replaced by the grid
            const std::string here = value_of(ours, key), there = value_of(theirs, key);
            if (key != "seed" && here != there)
                return key + ": " + here + " differs from the " + there + " of the sweep in this folder";
        }
    for (std::size_t i = 0; i < std::max(stored.grid.size(), other.grid.size()); ++i) {
        const std::string there = i < stored.grid.size() ? axis_text(stored.grid[i]) : "nothing";
        const std::string here = i < other.grid.size() ? axis_text(other.grid[i]) : "nothing";
        if (here != there)
            return "--grid " + here + " differs from the " + there + " of the sweep in this folder";
    }
    const auto ties_text = [](const SweepSpec& spec) {
        std::string text;
        for (const SweepTie& tie : spec.ties) {
            text += text.empty() ? "--tie " : ", ";
            for (const auto& [key, value] : tie.when) text.append(key).append("=").append(value).append(" ");
            for (const std::string& setting : tie.set) text += "; " + setting;
        }
        return text.empty() ? std::string("no tie") : text;
    };
    if (stored.ties != other.ties)
        return ties_text(other) + " differs from " + ties_text(stored) + " of the sweep in this folder";
    const auto choice_text = [](const SweepChoice& choice) {
        std::string text;
        for (const std::string& key : choice.keys) text += (text.empty() ? "--choose " : ", ") + key;
        return text.empty() ? std::string("no choice")
                            : text + " with " + std::to_string(choice.seeds) + " seeds";
    };
    if (stored.choice != other.choice)
        return choice_text(other.choice) + " differs from " + choice_text(stored.choice) +
               " of the sweep in this folder";
    if (stored.seeds != other.seeds)
        return "seeds " + seeds_text(other.seeds) + " differ from the " + seeds_text(stored.seeds) +
               " of the sweep in this folder";
    return {};
}

}  // namespace normscope
