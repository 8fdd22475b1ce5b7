// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/hot_knobs.h"

#include "core/base/number_text.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <vector>

namespace normscope {

std::span<const RecipeKey* const> hot_keys() {
    static const std::vector<const RecipeKey*> keys = [] {
        std::vector<const RecipeKey*> hot;
        for (const RecipeKey& key : recipe_keys())
            if (key.is_hot()) hot.push_back(&key);
        const HotKnobs order{};
        const auto member = [&](const RecipeKey* key) { return &(order.*key->role.knob); };
        std::sort(hot.begin(), hot.end(), [&](const RecipeKey* a, const RecipeKey* b) {
            return std::less<>()(member(a), member(b));
        });
        const auto same = [&](const RecipeKey* a, const RecipeKey* b) { return member(a) == member(b); };
        if (hot.size() != sizeof(HotKnobs) / sizeof(double) ||
            std::adjacent_find(hot.begin(), hot.end(), same) != hot.end())
            throw std::logic_error("hot keys and the members of HotKnobs are not the same");
        return hot;
    }();
    return keys;
}

HotKnobs hot_knobs(const Recipe& recipe) {
    HotKnobs knobs{};
    for (const RecipeKey* key : hot_keys())
        knobs.*key->role.knob = *static_cast<const double*>(key->at(recipe));
    return knobs;
}

void set_hot_knobs(Recipe& recipe, const HotKnobs& knobs) {
    for (const RecipeKey* key : hot_keys()) *static_cast<double*>(key->at(recipe)) = knobs.*key->role.knob;
}

std::string knob_changes(const HotKnobs& from, const HotKnobs& to) {
    std::string text;
    for (const RecipeKey* key : hot_keys()) {
        const double before = from.*key->role.knob, after = to.*key->role.knob;
        if (before == after) continue;
        text += (text.empty() ? "" : ", ") + std::string(key->role.label) + " " + plain_number(before) +
                " → " + plain_number(after);
    }
    return text;
}

bool same_but_hot(const Recipe& a, const Recipe& b) {
    Recipe follower = a;
    set_hot_knobs(follower, hot_knobs(b));
    follower.watch = b.watch;
    follower.interventions = b.interventions;
    return same_recipe(follower, b);
}

Recipe initial_state(Recipe recipe) {
    const Recipe defaults;
    for (const RecipeKey& key : recipe_keys())
        if (key.role.effect != Role::Effect::Restarts) key.copy(recipe, defaults);
    return recipe;
}

}  // namespace normscope
