// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"

namespace normscope {

/// What a completed recipe holds in memory at least while it trains, in bytes.
struct MemoryNeed {
    double parameters = 0;   ///< weights, the shards' gradients, the optimizer's moments
    double activations = 0;  ///< what the forward passes under way keep for their backward passes
    double total() const { return parameters + activations; }
};

/// On so many threads: a shard of the batch is under way on each. The largest of training's and the probes' passes.
MemoryNeed memory_need(const Recipe& recipe, int threads);

/// A model larger than the machine would take the whole program, and what others do there, with it: InputError where it
/// needs more than the machine has, with both numbers.
void require_memory(const Recipe& recipe, int threads);

}  // namespace normscope
