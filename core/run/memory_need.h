// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/device.h"
#include "core/recipe/recipe.h"

#include <cstddef>
#include <string>

namespace normscope {

/// The minimum memory of a completed recipe during training, in bytes.
struct MemoryNeed {
    double parameters = 0;   ///< weights, the shards' gradients, the optimizer's moments
    double activations = 0;  ///< the tapes of the running passes
    double total() const { return parameters + activations; }
};

/// How a run is divided over ranks.
struct RankShare {
    int ranks = 1, on_machine = 1;  ///< all, and those that share this machine's memory
    bool optimizer_in_parts = false;
};

/// On this device with that many threads, each processing a shard of the batch as the device cuts it. The
/// maximum over the passes of training and the probes. Of each rank, where there are several.
MemoryNeed memory_need(const Recipe& recipe, int threads, Device& device = cpu_device(),
                       const RankShare& share = {});

/// The bytes of a replica for this recipe (Device::replicas): memory_need(), and half as much for what it
/// does not count.
std::size_t replica_bytes(const Recipe& recipe, int threads, Device& device);

/// Of one forward and one backward pass over given tokens (evaluate()), with numbers of `scalar` bytes.
MemoryNeed evaluation_memory_need(const StackSpec& stack, int sequences, int length, std::size_t scalar);

/// A model larger than memory would crash the program and affect others: InputError where it
/// needs more than the device has, with both numbers.
void require_memory(const Recipe& recipe, int threads, Device& device = cpu_device());
void require_memory(const MemoryNeed& need, Device& device = cpu_device());

/// The largest batch of the recipe whose need is at most `bytes`; 0 where not even one sequence fits.
int largest_batch(const Recipe& recipe, int threads, Device& device, double bytes);

/// "needs 3.1 GiB, 2.0 GiB are free on cuda; batch 4 would fit", for a recipe that may use `available` bytes.
std::string memory_line(const Recipe& recipe, int threads, Device& device, double available);

/// Of a run that ran out of memory and is still allocated: what it needs at least, what is free, and the
/// batch that would fit by memory_need(), which does not count everything. SystemError where the device is
/// lost.
std::string out_of_memory_line(const Recipe& recipe, int threads, Device& device);

/// What a completed recipe requires of a device before a run of it starts: its number format, and memory. On
/// the CPU the machine's, as above; on others what is free now, less `promised`: the need of other runs that
/// start with it and have not allocated yet. InputError in one line. Returns the need in bytes.
double require_device(const Recipe& recipe, int threads, Device& device, double promised = 0);
/// The same of each rank of a run; the ranks of a machine share its memory, and each has a card of its own.
void require_device(const Recipe& recipe, int threads, Device& device, const RankShare& share);

}  // namespace normscope
