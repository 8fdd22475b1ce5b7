// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stories/story.h"

#include "core/base/error.h"
#include "core/base/json_object.h"
#include "core/probe/registry.h"
#include "core/recipe/hot_knobs.h"
#include "core/run/complete.h"

#include <algorithm>
#include <set>

namespace normscope {

using nlohmann::json;

namespace {

constexpr std::int64_t kMaxSteps = 1'000'000'000;

/// Reads the parts of a story. `where` names the object that is read, for messages.
class Reader {
  public:
    Reader(Story& story, std::string where) : story_(story), where_(std::move(where)) {}

    void read(const json& value, const std::vector<std::string>& settings) {
        const JsonObject object(value, where_, {"format", "version", "title", "runs", "steps"});
        if (object.text("format") != "normscope-story" || whole(object, "version").value_or(0) != 2)
            throw InputError(where_, "not a story", "format normscope-story, version 2");
        story_.title = object.text("title");
        for (const json& run : object.list("runs")) read_run(run, settings);
        for (const json& step : object.list("steps")) read_step(step);
        if (story_.runs.empty()) throw InputError(where_ + ": runs", "there is none", "at least one");
        if (story_.steps.empty()) throw InputError(where_ + ": steps", "there is none", "at least one");
    }

  private:
    static std::optional<std::int64_t> whole(const JsonObject& object, const char* key) {
        if (!object.has(key)) return std::nullopt;
        return object.whole(key, 0, kMaxSteps);
    }
    std::size_t run_named(const JsonObject& object, const char* key) const {
        const std::string name = object.text(key);
        std::vector<std::string> names;
        for (std::size_t i = 0; i < story_.runs.size(); ++i) {
            if (story_.runs[i].name == name) return i;
            names.push_back(printable(story_.runs[i].name));
        }
        throw InputError(object.at(key), printable(name) + " does not exist", joined(names));
    }

    void read_run(const json& value, const std::vector<std::string>& settings) {
        const JsonObject run(value, where_ + ": runs." + std::to_string(story_.runs.size()),
                             {"name", "preset", "set"});
        std::vector<std::string> all = run.texts("set");
        all.insert(all.end(), settings.begin(), settings.end());
        const std::string name = run.text("name");
        for (const Story::Run& other : story_.runs)
            if (other.name == name)
                throw InputError(run.at("name"), printable(name) + " is taken", "names that differ");
        try {
            story_.runs.push_back({name, load_recipe(run.text("preset"), all)});
        } catch (const InputError& error) {
            throw InputError(run.at() + ": " + error.what());
        }
    }

    void read_step(const json& value) {
        const JsonObject step(value, where_ + ": steps." + std::to_string(story_.steps.size()),
                              {"text", "step", "panel", "options", "do", "expect", "holds"});
        const std::string& at = step.at();
        StoryStep read;
        read.text = step.text("text");
        read.step = whole(step, "step");
        if (step.has("panel")) read.panel = step.text("panel");
        if (step.has("options")) read_options(step, read);
        for (const json& action : step.list("do"))
            read.actions.push_back(action_of(action, at + ".do." + std::to_string(read.actions.size())));
        for (const json& predicate : step.list("holds"))
            read.holds.push_back(predicate_of(predicate, at + ".holds." + std::to_string(read.holds.size())));
        if (!read.holds.empty()) read.expect = step.text("expect");
        if (read.holds.empty() && step.has("expect"))
            throw InputError(step.at("holds"), "is missing", "at least one predicate for what is expected");
        story_.steps.push_back(std::move(read));
    }

    static void read_options(const JsonObject& step, StoryStep& read) {
        const json& options = step.of("options");
        if (read.panel.empty())
            throw InputError(step.at("panel"), "is missing", "the panel of these options");
        if (!options.is_object()) throw InputError(step.at("options"), "is not an object", "{NAME: VALUE}");
        for (const auto& [name, value] : options.items()) {
            if (!value.is_string())
                throw InputError(step.at("options") + "." + printable(name), "is not a text",
                                 "a value's word");
            read.options[name] = value.get<std::string>();
        }
    }

    StoryAction action_of(const json& value, const std::string& at) const {
        const JsonObject action(value, at, {"train", "knob", "to", "run"});
        StoryAction read;
        if (action.has("train")) {
            const JsonObject train(value, at, {"train"});
            if (train.of("train") != "end") read.until = whole(train, "train");
            return read;
        }
        read.kind = StoryAction::Kind::Knob;
        read.key = action.text("knob");
        std::vector<std::string> keys;
        for (const RecipeKey* key : hot_keys()) keys.push_back(key->name);
        if (std::find(keys.begin(), keys.end(), read.key) == keys.end())
            throw InputError(action.at("knob"), printable(read.key) + " is unknown", joined(keys));
        read.to = action.number("to");
        if (action.has("run")) read.run = run_named(action, "run");
        return read;
    }

    static void check_array(const JsonObject& object, const char* key, const std::string& probe,
                            const std::string& array) {
        const std::vector<ArrayInfo>& arrays = find_probe(probe)->arrays;
        if (std::none_of(arrays.begin(), arrays.end(),
                         [&](const ArrayInfo& info) { return info.name == array; }))
            throw InputError(object.at(key), printable(array) + " is unknown",
                             "an array of " + probe + " that `probes` lists");
    }

    static void read_scalar(const JsonObject& object, StoryPredicate& read) {
        if (object.has("quantity"))
            throw InputError(object.at("quantity"), "there is a probe as well", "one of the two");
        read.quantity = StoryPredicate::Quantity::Scalar;
        read.scalar = {object.text("probe"), object.text("array"),
                       SweepScalar::over_of(object.text("over"), object.at("over"))};
        if (!find_probe(read.scalar.probe))
            throw InputError(object.at("probe"), printable(read.scalar.probe) + " is unknown",
                             "a probe that `probes` lists");
        check_array(object, "array", read.scalar.probe, read.scalar.array);
    }

    /// What the value is compared with.
    void read_other_side(const JsonObject& object, StoryPredicate& read) const {
        const bool of_run = object.has("of"), of_array = object.has("of_array");
        if (of_run + of_array + object.has("value") > 1)
            throw InputError(object.at(of_run ? "of" : "of_array"), "there is another one to compare with",
                             "one of value, of and of_array");
        if (!of_run && !of_array) {
            read.value = object.number("value");
            return;
        }
        if (object.has("times")) read.times = object.number("times");
        if (of_run) {
            read.of_run = run_named(object, "of");
            return;
        }
        if (read.quantity != StoryPredicate::Quantity::Scalar)
            throw InputError(object.at("of_array"), "there is no probe", "with probe, array and over");
        read.of_array = object.text("of_array");
        check_array(object, "of_array", read.scalar.probe, read.of_array);
    }

    StoryPredicate predicate_of(const json& value, const std::string& at) const {
        using Quantity = StoryPredicate::Quantity;
        const JsonObject object(value, at,
                                {"run", "quantity", "probe", "array", "over", "step", "after_knob", "is",
                                 "value", "of", "of_array", "times"});
        StoryPredicate read;
        read.run = run_named(object, "run");
        const std::string is = object.text("is");
        if (object.has("probe"))
            read_scalar(object, read);
        else
            read.quantity = static_cast<Quantity>(object.word("quantity", story_quantity_words()));
        read.step = whole(object, "step");
        if (object.has("after_knob")) {
            if (read.step) throw InputError(at + ": after_knob", "there is a step as well", "one of the two");
            read.step = whole(object, "after_knob");
            read.after_knob = true;
        }
        if (read.quantity == Quantity::Outcome) {
            if (is != "=") throw InputError(at + ": is", printable(is) + " is unknown", "= for an outcome");
            if (read.step) throw InputError(at + ": step", "an outcome has none", "no step");
            read.state = run_state_from_word(object.text("value"));
            return read;
        }
        if (is != ">" && is != "<") throw InputError(at + ": is", printable(is) + " is unknown", "> or <");
        read.greater = is == ">";
        if ((read.quantity == Quantity::GrowthRatio || read.quantity == Quantity::MedianToken) && !read.step)
            throw InputError(at + ": step", "is missing", "a step, for " + object.text("quantity"));
        read_other_side(object, read);
        return read;
    }

    Story& story_;
    std::string where_;
};

}  // namespace

const std::vector<std::string>& story_quantity_words() {
    static const std::vector<std::string> words{"loss", "gradient_ratio", "growth_ratio", "median_token",
                                                "outcome"};
    return words;
}

Story read_story(const std::string& name, const std::string& text, const std::vector<std::string>& settings) {
    const std::string where = "story " + name;
    Story story;
    story.name = name;
    Reader(story, where).read(strict_json(text, where), settings);
    return story;
}

}  // namespace normscope
