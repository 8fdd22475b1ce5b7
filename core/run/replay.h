// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/run/experiment.h"

namespace normscope {

/// A moment of a run that was not sampled when it trained, and what to measure there.
struct ReplayPlan {
    RunData header;  ///< identity, recipe and events of the run; neither its steps nor its samples are needed
    std::shared_ptr<const Checkpoint> checkpoint;  ///< of this run; null: from step 0 of the recipe
    std::int64_t step = 0;                         ///< optimizer steps done when it is measured
    std::vector<std::string> probes;               ///< ids of the registry, measured in this order
};

/// Why a run cannot be replayed from a checkpoint (null: from step 0) to a step, in one line; empty where it
/// can. It cannot where the checkpoint lies behind the step, where a knob was moved in between (the event
/// names it, but only with four digits), and where the run began with imported weights that no checkpoint of
/// step 0 brings back.
std::string replay_obstacle(const std::vector<RunEvent>& events, const Checkpoint* checkpoint, std::int64_t step);

/// Trains a run once more up to a step, without its probes, and measures there. Steps are computed as they were
/// (same weights, same batches, same loss scale, same left-out updates), so on the same kind of processor
/// the results are, bit for bit, what the run itself would have measured at that step (theirs is another
/// cost_ms). One thread drives it; it may be dropped between any two calls.
class Replay {
  public:
    /// Throws InputError with replay_obstacle()'s line, for an unknown probe, and for a checkpoint that does not
    /// fit the recipe.
    explicit Replay(ReplayPlan plan);

    std::int64_t steps_done() const { return experiment_->steps_done(); }
    std::int64_t target() const { return plan_.step; }
    bool arrived() const { return steps_done() == plan_.step; }
    /// One step towards the target; not to be called where it has arrived. Throws InputError where the run ends
    /// before it.
    void advance(ThreadPool& pool);
    /// What the plan asks for. May throw Cancelled.
    std::vector<ProbeResult> measure(ThreadPool& pool, const std::atomic<bool>* cancel = nullptr);
    /// The state at the present step, as the run itself would have kept it.
    Checkpoint checkpoint() const;

  private:
    ReplayPlan plan_;
    std::unique_ptr<Experiment> experiment_;
    RunRecipe recipe_;  ///< of the run, with its probes
};

/// All of it in one call; `progress` hears the steps done, after each. `cancel` is looked at between steps and inside
/// of probes: throws Cancelled.
std::vector<ProbeResult> replay(ReplayPlan plan, ThreadPool& pool, const std::atomic<bool>* cancel = nullptr,
                                const std::function<void(std::int64_t steps_done)>& progress = {});

}  // namespace normscope
