// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/lab_run.h"

#include "core/recipe/experiment.h"

#include <cmath>

namespace normscope::app {

LabRun makeRun(std::string id, const Recipe& recipe) {
    auto data = std::make_shared<RunData>();
    data->id = id;
    data->name = default_run_name(recipe);
    data->recipe_json = recipe_json(recipe, -1);
    data->seed = recipe.train.seed;
    data->ln_vocab = data->unigram_entropy = data->entropy_rate = std::nan("");
    return {std::move(id), recipe, recipe, std::move(data), nullptr, false, {}, {}};
}

}  // namespace normscope::app
