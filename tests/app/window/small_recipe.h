// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"

namespace normscope::test {

/// A stack that trains in milliseconds.
inline Recipe smallRecipe(Scheme scheme = Scheme::Pre, int steps = 6) {
    Recipe recipe;
    recipe.stack.scheme = scheme;
    recipe.stack.depth = 2;
    recipe.stack.d_model = 16;
    recipe.stack.heads = 2;
    recipe.stack.context = 16;
    recipe.train.batch = 2;
    recipe.train.steps = steps;
    return recipe;
}

}  // namespace normscope::test
