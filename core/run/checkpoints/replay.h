// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/experiment.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace normscope {

/// The kind of the event of a fork that trains more steps than its parent: "200 → 400". A schedule over all
/// steps is another one from there on.
inline constexpr const char* kLengthEvent = "steps";
/// The kind of the event in a run of another program: its text names the program.
inline constexpr const char* kExternalEvent = "external";

/// Steps of a run that were not sampled during training, and what to measure there.
struct ReplayPlan {
    RunData header;  ///< identity, recipe and events of the run; neither its steps nor its samples are needed
    std::shared_ptr<const Checkpoint> checkpoint;  ///< of this run; null: from step 0 of the recipe
    std::int64_t step = 0;                         ///< optimizer steps done when it is measured
    std::vector<std::string> probes;               ///< ids of the registry, measured in this order
    std::int64_t last = -1;  ///< measured at every step from `step` to this one; −1: at `step` alone
};

/// The reason why a run cannot be replayed from a checkpoint (null: from step 0) to a step, in one line;
/// empty if it can. It cannot if the checkpoint is after the step, if a knob was moved in between (the event
/// has only four digits), if it is a fork with more steps and they begin in between, or if the run began with
/// imported weights without a checkpoint of step 0.
std::string replay_obstacle(const std::vector<RunEvent>& events, const Checkpoint* checkpoint,
                            std::int64_t step);

/// The device that a run was recorded on, whose bits a replay repeats; the CPU where this machine does not
/// have it. SystemError where a card is there but cannot be opened.
Device& replay_device(const RunData& run);

/// Trains a run again up to a step, without its probes, and measures there, and at the steps after it up to
/// the plan's last. Steps are identical (same weights, batches, loss scale and skipped updates), so on the
/// same kind of processor the results are, bit for bit, those of the run at that step (except cost_ms). One
/// thread drives it; it may be destroyed between any two calls.
class Replay {
  public:
    /// Throws InputError with replay_obstacle()'s line, for an unknown probe, and for a checkpoint that does
    /// not match the recipe.
    explicit Replay(ReplayPlan plan, Device& device = cpu_device());

    Device& device() const { return experiment_->device(); }
    std::int64_t steps_done() const { return experiment_->steps_done(); }
    /// Where it is measured next.
    std::int64_t target() const { return plan_.step; }
    bool arrived() const { return steps_done() == plan_.step; }
    /// No step is left to be measured.
    bool finished() const { return finished_; }
    /// One step towards the target; must not be called at the target. Throws InputError where the run ends
    /// before it.
    void advance(ThreadPool& pool);
    /// Measures the probes of the plan; the target is then the next step, where there is one. May throw
    /// Cancelled.
    std::vector<ProbeResult> measure(ThreadPool& pool, const std::atomic<bool>* cancel = nullptr);
    /// The state at the current step, as a checkpoint of the run.
    Checkpoint checkpoint() const;

  private:
    ReplayPlan plan_;
    std::unique_ptr<Experiment> experiment_;
    RunRecipe recipe_;  ///< of the run, with its probes
    bool finished_ = false;
};

/// All of it in one call, the results step by step; `progress` is called with the steps done, after each.
/// `cancel` is checked between steps and inside probes: throws Cancelled.
std::vector<ProbeResult> replay(ReplayPlan plan, ThreadPool& pool, const std::atomic<bool>* cancel = nullptr,
                                const std::function<void(std::int64_t steps_done)>& progress = {});

}  // namespace normscope
