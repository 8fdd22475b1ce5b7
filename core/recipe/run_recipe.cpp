// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/run_recipe.h"

#include "core/base/error.h"

namespace normscope {

RunRecipe RunRecipe::read(std::string text) {
    RunRecipe read;
    try {
        read.recipe_ = std::make_shared<const Recipe>(parse_recipe(text, "its text"));
        read.problem_.clear();
    } catch (const InputError& error) {
        read.unread_ = std::move(text);
        read.problem_ = error.what();
    }
    return read;
}

const Recipe& RunRecipe::value(const std::string& where) const {
    if (!recipe_) throw InputError(where + ": " + problem_);
    return *recipe_;
}

std::string RunRecipe::text() const {
    return recipe_ ? recipe_json(*recipe_, -1) : unread_;
}

bool RunRecipe::operator==(const RunRecipe& other) const {
    if (recipe_ && other.recipe_) return recipe_ == other.recipe_ || *recipe_ == *other.recipe_;
    return !recipe_ == !other.recipe_ && unread_ == other.unread_;
}

}  // namespace normscope
