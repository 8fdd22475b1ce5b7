// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace normscope {

/// The checkpoints of a run at its recipe's cadence (checkpoint.every) that its session will hold: the newest
/// checkpoint.keep, and what the limits of checkpoint_memory.h leave of the others. In memory until the run
/// ends; of a recipe without a cadence none. For one thread.
class KeptCheckpoints {
  public:
    explicit KeptCheckpoints(const TrainSpec& train)
        : every_(train.checkpoint_every), keep_(train.checkpoint_keep) {}

    /// Steps of its spikes: the last good checkpoint before one is kept.
    void add(const RunDelta& delta);
    void save(const std::shared_ptr<const Checkpoint>& checkpoint);
    /// Steps ascend.
    const std::vector<std::shared_ptr<const Checkpoint>>& all() const { return stored_; }

  private:
    std::int64_t every_;
    int keep_;
    std::vector<std::shared_ptr<const Checkpoint>> stored_;
    std::vector<std::int64_t> spikes_;
};

}  // namespace normscope
