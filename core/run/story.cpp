// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/story.h"

#include "core/base/error.h"
#include "core/recipe/hot_knobs.h"
#include "core/run/complete.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace normscope {

using nlohmann::json;

namespace {

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

/// Reads the parts of a story. `where` names the object that is read, for messages.
class Reader {
  public:
    Reader(Story& story, std::string where) : story_(story), where_(std::move(where)) {}

    void read(const json& object, const std::vector<std::string>& settings) {
        only(object, where_, {"format", "version", "title", "runs", "steps"});
        if (text(object, where_, "format") != "normscope-story" ||
            whole(object, where_, "version").value_or(0) != 2)
            throw InputError(where_, "not a story", "format normscope-story, version 2");
        story_.title = text(object, where_, "title");
        for (const json& run : list(object, where_, "runs")) read_run(run, settings);
        for (const json& step : list(object, where_, "steps")) read_step(step);
        if (story_.runs.empty()) throw InputError(where_ + ": runs", "there is none", "at least one");
        if (story_.steps.empty()) throw InputError(where_ + ": steps", "there is none", "at least one");
    }

  private:
    static void only(const json& object, const std::string& at, const std::set<std::string>& keys) {
        if (!object.is_object()) throw InputError(at, "not an object", "{…}");
        for (const auto& entry : object.items())
            if (!keys.count(entry.key()))
                throw InputError(at + ": " + entry.key(), "is unknown", joined({keys.begin(), keys.end()}));
    }
    static std::string text(const json& object, const std::string& at, const char* key) {
        if (!object.contains(key) || !object.at(key).is_string() || object.at(key).get<std::string>().empty())
            throw InputError(at + ": " + key, "is missing", "a text");
        return object.at(key);
    }
    static std::optional<std::int64_t> whole(const json& object, const std::string& at, const char* key) {
        if (!object.contains(key)) return std::nullopt;
        const json& value = object.at(key);
        if (!value.is_number_integer() || value < 0)
            throw InputError(at + ": " + key, value.dump() + " is out of range", "whole numbers from 0");
        return value.get<std::int64_t>();
    }
    static double number(const json& object, const std::string& at, const char* key) {
        if (!object.contains(key) || !object.at(key).is_number())
            throw InputError(at + ": " + key, "is missing", "a number");
        return object.at(key);
    }
    static json list(const json& object, const std::string& at, const char* key) {
        if (!object.contains(key)) return json::array();
        if (!object.at(key).is_array()) throw InputError(at + ": " + key, "not a list", "[…]");
        return object.at(key);
    }
    std::size_t run_named(const json& object, const std::string& at, const char* key) const {
        const std::string name = text(object, at, key);
        std::vector<std::string> names;
        for (std::size_t i = 0; i < story_.runs.size(); ++i) {
            if (story_.runs[i].name == name) return i;
            names.push_back(story_.runs[i].name);
        }
        throw InputError(at + ": " + key, name + " does not exist", joined(names));
    }

    void read_run(const json& run, const std::vector<std::string>& settings) {
        const std::string at = where_ + ": runs." + std::to_string(story_.runs.size());
        only(run, at, {"name", "preset", "set"});
        std::vector<std::string> all;
        for (const json& setting : list(run, at, "set")) all.push_back(setting);
        all.insert(all.end(), settings.begin(), settings.end());
        const std::string name = text(run, at, "name");
        for (const Story::Run& other : story_.runs)
            if (other.name == name) throw InputError(at + ": name", name + " is taken", "names that differ");
        story_.runs.push_back({name, load_recipe(text(run, at, "preset"), all)});
    }

    void read_step(const json& step) {
        const std::string at = where_ + ": steps." + std::to_string(story_.steps.size());
        only(step, at, {"text", "step", "do", "expect", "holds"});
        StoryStep read{text(step, at, "text"), whole(step, at, "step"), {}, {}, {}};
        for (const json& action : list(step, at, "do"))
            read.actions.push_back(action_of(action, at + ".do." + std::to_string(read.actions.size())));
        for (const json& predicate : list(step, at, "holds"))
            read.holds.push_back(predicate_of(predicate, at + ".holds." + std::to_string(read.holds.size())));
        if (!read.holds.empty()) read.expect = text(step, at, "expect");
        if (read.holds.empty() && step.contains("expect"))
            throw InputError(at + ": holds", "is missing", "at least one predicate for what is expected");
        story_.steps.push_back(std::move(read));
    }

    StoryAction action_of(const json& action, const std::string& at) const {
        only(action, at, {"train", "knob", "to", "run"});
        StoryAction read;
        if (action.contains("train")) {
            only(action, at, {"train"});
            if (action.at("train") != "end") read.until = whole(action, at, "train");
            return read;
        }
        read.kind = StoryAction::Kind::Knob;
        read.key = text(action, at, "knob");
        std::vector<std::string> keys;
        for (const HotField& field : hot_fields()) keys.push_back(field.key);
        if (std::find(keys.begin(), keys.end(), read.key) == keys.end())
            throw InputError(at + ": knob", read.key + " is unknown", joined(keys));
        read.to = number(action, at, "to");
        if (action.contains("run")) read.run = run_named(action, at, "run");
        return read;
    }

    StoryPredicate predicate_of(const json& object, const std::string& at) const {
        using Quantity = StoryPredicate::Quantity;
        only(object, at, {"run", "quantity", "step", "after_knob", "is", "value", "of"});
        StoryPredicate read;
        read.run = run_named(object, at, "run");
        const std::string quantity = text(object, at, "quantity"), is = text(object, at, "is");
        const std::vector<std::string> quantities{"loss", "gradient_ratio", "growth_ratio", "outcome"};
        const auto known = std::find(quantities.begin(), quantities.end(), quantity);
        if (known == quantities.end())
            throw InputError(at + ": quantity", quantity + " is unknown", joined(quantities));
        read.quantity = static_cast<Quantity>(known - quantities.begin());
        read.step = whole(object, at, "step");
        if (object.contains("after_knob")) {
            if (read.step) throw InputError(at + ": after_knob", "there is a step as well", "one of the two");
            read.step = whole(object, at, "after_knob");
            read.after_knob = true;
        }
        if (read.quantity == Quantity::Outcome) {
            if (is != "=") throw InputError(at + ": is", is + " is unknown", "= for an outcome");
            if (read.step) throw InputError(at + ": step", "an outcome has none", "no step");
            read.state = run_state_from_word(text(object, at, "value"));
            return read;
        }
        if (is != ">" && is != "<") throw InputError(at + ": is", is + " is unknown", "> or <");
        read.greater = is == ">";
        if (read.quantity == Quantity::GrowthRatio && !read.step)
            throw InputError(at + ": step", "is missing", "a step, for growth_ratio");
        if (object.contains("of")) {
            if (object.contains("value"))
                throw InputError(at + ": of", "there is a value as well", "one of the two");
            read.of_run = run_named(object, at, "of");
        } else {
            read.value = number(object, at, "value");
        }
        return read;
    }

    Story& story_;
    std::string where_;
};

}  // namespace

Story read_story(const std::string& name, const std::string& text, const std::vector<std::string>& settings) {
    const std::string where = "story " + name;
    Story story;
    story.name = name;
    try {
        Reader(story, where).read(json::parse(text), settings);
    } catch (const json::exception& error) {
        throw InputError(where + ": " + error.what());
    }
    return story;
}

}  // namespace normscope
