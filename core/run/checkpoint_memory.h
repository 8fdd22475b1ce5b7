// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/checkpoint.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace normscope {

/// The checkpoints of one run that memory holds.
struct HeldCheckpoints {
    struct Held {
        std::int64_t step = 0;
        std::size_t bytes = 0;
    };
    std::vector<Held> held;            ///< steps ascend
    std::vector<std::int64_t> spikes;  ///< steps of its spike events
    int keep = 2;                      ///< checkpoint.keep of its recipe
};

/// What all runs of a window may hold together, in bytes.
inline constexpr std::size_t kCheckpointBytes = std::size_t{256} << 20;
/// And each run in number; where checkpoint.keep asks for as many or more, these and the first one.
inline constexpr std::size_t kCheckpointsOfRun = 8;

std::size_t bytes_of(const Checkpoint& checkpoint);

/// Which checkpoints go, as (run, place in `held`), so that what stays keeps within both limits:
///  - first the one that is missed least: its neighbours' ages (steps behind the newest) have the smallest
///  ratio. What
///    stays is dense near the present and ever sparser behind it, as far as the first one;
///  - when none of those is left, the oldest of these: the first one, the newest `keep`, the last good ones
///  before
///    earlier spikes;
///  - never the newest, the one of step 0 and the last good one before the latest spike (at its step or
///  before it).
///    Where these alone exceed the limits, they stay: three of each run are then the bound.
std::vector<std::pair<std::size_t, std::size_t>> excess_checkpoints(
    const std::vector<HeldCheckpoints>& runs, std::size_t most_bytes = kCheckpointBytes,
    std::size_t most_of_run = kCheckpointsOfRun);

}  // namespace normscope
