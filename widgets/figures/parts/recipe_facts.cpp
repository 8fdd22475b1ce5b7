// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/recipe_facts.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

double epsilonOf(Precision precision) {
    switch (precision) {
        case Precision::Fp64:
            return std::ldexp(1.0, -52);
        case Precision::Tf32:
        case Precision::Fp16:
            return std::ldexp(1.0, -10);
        case Precision::Bf16:
            return std::ldexp(1.0, -7);
        case Precision::Fp32:
            break;
    }
    return std::ldexp(1.0, -23);
}

bool overridesShortcut(const StackSpec& stack) {
    return std::any_of(stack.layers.begin(), stack.layers.end(), [](const LayerOverride& layer) {
        return layer.attn.a.value_or(1) != 1 || layer.ffn.a.value_or(1) != 1;
    });
}

}  // namespace

RecipeFacts recipeFacts(const RunRecipe& recipe) {
    RecipeFacts facts;
    facts.epsilon = epsilonOf(Precision::Fp32);
    if (!recipe.get()) return facts;
    const StackSpec& stack = recipe.get()->stack;
    const TrainSpec& train = recipe.get()->train;
    facts.epsilon = epsilonOf(train.precision);
    facts.random_erased = (stack.norm.kind == NormKind::RmsNorm ? 1.0 : 2.0) / stack.d_model;
    if (train.steps > 0) facts.steps = train.steps;
    facts.blocks_multiply = stack.causal && stack.layout == Layout::Serial;
    facts.identity_shortcut =
        !stack.gpas.enabled && stack.scheme != Scheme::DeepNorm && !overridesShortcut(stack);
    return facts;
}

}  // namespace normscope::widgets
