// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"

namespace normscope {

/// The minimum memory of a completed recipe during training, in bytes.
struct MemoryNeed {
    double parameters = 0;   ///< weights, the shards' gradients, the optimizer's moments
    double activations = 0;  ///< the tapes of the running passes
    double total() const { return parameters + activations; }
};

/// With that many threads, each processing a shard of the batch. The maximum over the passes of training and
/// the probes.
MemoryNeed memory_need(const Recipe& recipe, int threads);

/// A model larger than memory would crash the program and affect others: InputError where it
/// needs more than the machine has, with both numbers.
void require_memory(const Recipe& recipe, int threads);

}  // namespace normscope
