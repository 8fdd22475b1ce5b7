// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/device.h"
#include "core/recipe/recipe.h"

#include <cstddef>

namespace normscope {

/// The minimum memory of a completed recipe during training, in bytes.
struct MemoryNeed {
    double parameters = 0;   ///< weights, the shards' gradients, the optimizer's moments
    double activations = 0;  ///< the tapes of the running passes
    double total() const { return parameters + activations; }
};

/// On this device with that many threads, each processing a shard of the batch. The maximum over the passes
/// of training and the probes.
MemoryNeed memory_need(const Recipe& recipe, int threads, Device& device = cpu_device());

/// Of one forward and one backward pass over given tokens (evaluate()), with numbers of `scalar` bytes.
MemoryNeed evaluation_memory_need(const StackSpec& stack, int sequences, int length, std::size_t scalar);

/// A model larger than memory would crash the program and affect others: InputError where it
/// needs more than the device has, with both numbers.
void require_memory(const Recipe& recipe, int threads, Device& device = cpu_device());
void require_memory(const MemoryNeed& need, Device& device = cpu_device());

}  // namespace normscope
