// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/hot_knobs.h"

#include "core/base/number_text.h"
#include "core/recipe/keys.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace normscope {

namespace {

/// By the end of their keys.
constexpr std::pair<const char*, double HotKnobs::*> kMembers[] = {
    {"residual_step", &HotKnobs::residual_step},
    {"temperature", &HotKnobs::temperature},
    {"eps", &HotKnobs::eps},
    {"lr", &HotKnobs::lr},
    {"weight_decay", &HotKnobs::weight_decay},
    {"clip", &HotKnobs::clip},
};

std::string end_of(const std::string& key) {
    return key.substr(key.rfind('.') + 1);
}

std::vector<HotField> matched() {
    std::vector<HotField> fields;
    std::size_t marked = 0;
    for (const auto& [name, member] : kMembers)
        for (const auto& [key, role] : key_roles())
            if (role.effect == Role::Effect::Hot && end_of(key) == name)
                fields.push_back({key, name, role.label, member});
    for (const auto& [key, role] : key_roles()) marked += role.effect == Role::Effect::Hot;
    if (fields.size() != std::size(kMembers) || marked != fields.size())
        throw std::logic_error("hot keys and the members of HotKnobs are not the same");
    return fields;
}

}  // namespace

std::span<const HotField> hot_fields() {
    static const std::vector<HotField> fields = matched();
    return fields;
}

namespace {

/// Visits the hot keys of a recipe, which are all real numbers.
class HotVisitor final : public KeyVisitor {
  public:
    explicit HotVisitor(std::function<void(double HotKnobs::*, double&)> visit) : visit_(std::move(visit)) {}

  private:
    void visit_real(const char* key, double& value, RealRange) override {
        if (role().effect != Role::Effect::Hot) return;
        const auto fields = hot_fields();
        const auto field = std::find_if(fields.begin(), fields.end(),
                                        [&](const HotField& f) { return std::string_view(f.name) == key; });
        visit_(field->member, value);
    }
    std::function<void(double HotKnobs::*, double&)> visit_;
};

/// Puts what only observes a run back to its default.
class ObserversReset final : public KeyVisitor {
  public:
    void collect(Recipe defaults) { list_fields(*this, defaults); }
    void reset(Recipe& recipe) {
        writing_ = true;
        list_fields(*this, recipe);
    }

  private:
    void visit_integer(const char*, int& value, int, int) override {
        if (role().effect != Role::Effect::Observes) return;
        if (writing_)
            value = values_[next_++];
        else
            values_.push_back(value);
    }
    std::vector<int> values_;
    std::size_t next_ = 0;
    bool writing_ = false;
};

}  // namespace

HotKnobs hot_knobs(const Recipe& recipe) {
    HotKnobs knobs{};
    Recipe copy = recipe;  // Fields visits by reference
    HotVisitor visitor([&](double HotKnobs::*member, double& value) { knobs.*member = value; });
    list_fields(visitor, copy);
    return knobs;
}

void set_hot_knobs(Recipe& recipe, const HotKnobs& knobs) {
    HotVisitor visitor([&](double HotKnobs::*member, double& value) { value = knobs.*member; });
    list_fields(visitor, recipe);
}

std::string knob_changes(const HotKnobs& from, const HotKnobs& to) {
    std::string text;
    for (const HotField& field : hot_fields()) {
        const double before = from.*field.member, after = to.*field.member;
        if (before == after) continue;
        text += (text.empty() ? "" : ", ") + std::string(field.label) + " " + plain_number(before) + " → " +
                plain_number(after);
    }
    return text;
}

bool same_but_hot(const Recipe& a, const Recipe& b) {
    Recipe follower = a;
    set_hot_knobs(follower, hot_knobs(b));
    follower.watch = b.watch;
    return same_recipe(follower, b);
}

Recipe initial_state(Recipe recipe) {
    set_hot_knobs(recipe, hot_knobs(Recipe{}));
    ObserversReset observers;
    observers.collect({});
    observers.reset(recipe);
    recipe.probes.clear();
    recipe.watch.clear();
    return recipe;
}

}  // namespace normscope
