// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/run_recipe.h"

#include <cstdint>
#include <optional>

namespace normscope::widgets {

/// The properties of a recipe that a figure depends on.
struct RecipeFacts {
    /// Machine epsilon of the precision the run computes in: 2^-52 for fp64, 2^-23 fp32, 2^-10 tf32 and fp16,
    /// 2^-7 bf16.
    double epsilon = 0;
    /// The share of a random gradient's energy that a norm erases: 2/d for LayerNorm, 1/d for RMSNorm.
    std::optional<double> random_erased;
    std::optional<std::int64_t> steps;
    /// A layer's Jacobian block is the product of its two sub-layers' blocks: causal attention, serial
    /// layout.
    bool blocks_multiply = true;
    /// Every shortcut is the identity (a = 1, no gate), so that J = I + A in a sub-layer without post norm.
    bool identity_shortcut = true;
};

/// Without a recipe that can be read, the defaults.
RecipeFacts recipeFacts(const RunRecipe& recipe);

}  // namespace normscope::widgets
