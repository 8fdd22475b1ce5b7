// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/hot_knobs.h"

#include "core/stack/error.h"

namespace normscope::app {

HotKnobs hotKnobs(const Recipe& recipe) {
    const OptimizerSpec& o = recipe.train.optimizer;
    return {recipe.stack.residual_step,
            recipe.stack.temperature,
            recipe.stack.norm.eps,
            o.lr,
            o.weight_decay,
            o.clip};
}

HotKnobs hotKnobs(const Checkpoint& checkpoint) {
    const auto value = [&](const char* name) {
        for (const auto& [key, number] : checkpoint.scalars)
            if (key == name) return number;
        throw InputError(std::string("checkpoint: ") + name + " is missing");
    };
    return {value("residual_step"), value("temperature"), value("eps"), value("lr"),
            value("weight_decay"),  value("clip")};
}

void setHotKnobs(Recipe& recipe, const HotKnobs& knobs) {
    recipe.stack.residual_step = knobs.residual_step;
    recipe.stack.temperature = knobs.temperature;
    recipe.stack.norm.eps = knobs.eps;
    recipe.train.optimizer.lr = knobs.lr;
    recipe.train.optimizer.weight_decay = knobs.weight_decay;
    recipe.train.optimizer.clip = knobs.clip;
}

bool sameRecipe(const Recipe& a, const Recipe& b) {
    return recipe_json(without_planned_steps(a), -1) == recipe_json(without_planned_steps(b), -1);
}

bool sameButHot(const Recipe& a, const Recipe& b) {
    Recipe follower = a;
    setHotKnobs(follower, hotKnobs(b));
    return sameRecipe(follower, b);
}

std::string initialStateKey(Recipe recipe) {
    const TrainSpec given = recipe.train;
    recipe.train = {};
    recipe.train.data = given.data;
    recipe.train.batch = given.batch;
    recipe.train.precision = given.precision;
    recipe.train.seed = given.seed;
    recipe.probes.clear();
    setHotKnobs(recipe, hotKnobs(Recipe{}));
    return recipe_json(recipe, -1);
}

}  // namespace normscope::app
