// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/recipe_facts.h"

#include "core/stack/error.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace normscope::widgets {

namespace {

using nlohmann::json;

/// The value at a JSON pointer if it exists and has the type of the fallback, else the fallback.
template <typename T>
T at(const json& recipe, const char* pointer, T fallback) {
    const json::json_pointer p(pointer);
    if (!recipe.contains(p)) return fallback;
    const json& value = recipe.at(p);
    if constexpr (std::is_same_v<T, bool>) return value.is_boolean() ? value.get<T>() : fallback;
    if constexpr (std::is_same_v<T, std::string>) return value.is_string() ? value.get<T>() : fallback;
    if constexpr (std::is_same_v<T, std::int64_t>) return value.is_number() ? value.get<T>() : fallback;
}

double epsilonOf(const std::string& precision) {
    if (precision == "fp64") return std::ldexp(1.0, -52);
    if (precision == "tf32" || precision == "fp16") return std::ldexp(1.0, -10);
    if (precision == "bf16") return std::ldexp(1.0, -7);
    return std::ldexp(1.0, -23);
}

bool overridesShortcut(const json& recipe) {
    const json::json_pointer p("/stack/layers");
    if (!recipe.contains(p) || !recipe.at(p).is_array()) return false;
    for (const json& layer : recipe.at(p))
        for (const char* sublayer : {"attn", "ffn"})
            if (layer.contains(sublayer) && layer[sublayer].is_object() && layer[sublayer].contains("a") &&
                layer[sublayer]["a"] != 1)
                return true;
    return false;
}

}  // namespace

RecipeFacts recipeFacts(const std::string& recipe_json) {
    const json recipe = recipe_json.empty() ? json::object() : json::parse(recipe_json, nullptr, false);
    if (!recipe.is_object()) throw InputError("recipe", "not a JSON object", "");
    RecipeFacts facts;
    facts.epsilon = epsilonOf(at<std::string>(recipe, "/precision", "fp32"));
    if (const auto d = at<std::int64_t>(recipe, "/stack/d_model", 0); d > 0)
        facts.random_erased =
            (at<std::string>(recipe, "/stack/norm/kind", "layernorm") == "rmsnorm" ? 1.0 : 2.0) / d;
    if (const auto steps = at<std::int64_t>(recipe, "/steps", 0); steps > 0) facts.steps = steps;
    facts.blocks_multiply =
        at(recipe, "/stack/causal", true) && at<std::string>(recipe, "/stack/layout", "serial") == "serial";
    facts.identity_shortcut = !at(recipe, "/stack/gpas/enabled", false) &&
                              at<std::string>(recipe, "/stack/scheme", "") != "deepnorm" &&
                              !overridesShortcut(recipe);
    return facts;
}

}  // namespace normscope::widgets
