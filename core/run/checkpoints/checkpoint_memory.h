// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/checkpoint.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace normscope {

/// The checkpoints of one run held in memory.
struct HeldCheckpoints {
    struct Held {
        std::int64_t step = 0;
        std::size_t bytes = 0;
    };
    std::vector<Held> held;            ///< steps ascend
    std::vector<std::int64_t> spikes;  ///< steps of its spike events
    int keep = 2;                      ///< checkpoint.keep of its recipe
};

/// The limit for all runs of a window together, in bytes.
inline constexpr std::size_t kCheckpointBytes = std::size_t{256} << 20;
/// The limit per run; where checkpoint.keep is as large or larger, that and the first one.
inline constexpr std::size_t kCheckpointsOfRun = 8;

std::size_t bytes_of(const Checkpoint& checkpoint);

/// The checkpoints to drop, as (run, index in `held`), so that the rest is within both limits:
///  - first the least valuable one: its neighbours' ages (steps before the newest) have the smallest ratio.
///    The rest is dense near the newest and sparser before it, down to the first one;
///  - when none of those is left, the oldest of these: the first one, the newest `keep`, the last good ones
///    before earlier spikes;
///  - never the newest, the one of step 0 and the last good one before the latest spike (at its step or
///    before it). Where these alone exceed the limits, they are kept: at most three of each run.
std::vector<std::pair<std::size_t, std::size_t>> excess_checkpoints(
    const std::vector<HeldCheckpoints>& runs, std::size_t most_bytes = kCheckpointBytes,
    std::size_t most_of_run = kCheckpointsOfRun);

}  // namespace normscope
