// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/experiment.h"

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace normscope {

/// The output of a run. Called in the thread that drives the run, in order: every row
/// that a checkpoint contains is added before that checkpoint is saved.
class RunSink {
  public:
    virtual ~RunSink() = default;
    virtual void add(const RunDelta& delta) = 0;
    virtual void save(const std::shared_ptr<const Checkpoint>& checkpoint) = 0;
};

/// Adds a later delta of the same run to an earlier one.
void merge(RunDelta& into, const RunDelta& more);

/// The start of a run, in addition to its recipe.
struct RunStart {
    std::shared_ptr<const Checkpoint> checkpoint;  ///< null: at step 0
    std::shared_ptr<const RunData> history;        ///< the recorded rows before the checkpoint
    std::optional<HotKnobs> knobs;  ///< from the checkpoint on; nullopt: those of the checkpoint.
                                    ///< With them, the interventions are those of the experiment's recipe
    std::vector<RunEvent> events;   ///< emitted before everything else
    bool given_weights = false;  ///< the recipe alone does not reproduce its weights: they are saved at once
    bool asked_for_checkpoints = false;  ///< the caller saves where checkpoint_due(): other ranks take part
};

/// The largest share of a run's time that its automatic checkpoints take; but the time between two of them is
/// at most kMaxCheckpointInterval, so that a killed run loses no more than that.
inline constexpr double kCheckpointShare = 0.03;
inline constexpr std::chrono::minutes kMaxCheckpointInterval{5};

/// The time from an automatic checkpoint that took `cost` to the next: `least`, or longer where they would
/// take more than that share.
std::chrono::steady_clock::duration checkpoint_interval(std::chrono::steady_clock::duration least,
                                                        std::chrono::steady_clock::duration cost);

/// The run loop: one experiment from its start to its end, and its checkpoints: at the
/// recipe's cadence (checkpoint.every; 0: every `interval`, less often where they take long), at the end, at
/// an interruption, before the first step after a hot knob moved (at most every 250 ms: a replay cannot cross
/// that), and on request.
///
/// Exceptions of the sink, and of a checkpoint that does not fit into memory, propagate. The run is valid
/// afterwards and may continue without a recording. Exceptions of training, and of a device from which no
/// checkpoint can be read, end the run as failed and do not propagate; see error(). Out of memory, the
/// outcome's text has what the run needs and what would fit. A LostRank propagates too: the run is as before
/// the call and may be interrupted.
class Run {
  public:
    using Clock = std::chrono::steady_clock;

    /// Restores the checkpoint: throws InputError where it does not fit. The sink is not called before
    /// begin().
    Run(std::unique_ptr<Experiment> experiment, RunStart start, RunSink& sink, Clock::duration interval);

    void begin();
    /// The samples that are due and a step, or up to `at_most` (Experiment::advance); of a run of no steps
    /// the first samples and its end.
    void advance(ThreadPool& pool, std::int64_t at_most = 1);
    /// Takes effect at the next step.
    void set_knobs(const HotKnobs& knobs);
    /// From the next step on.
    void set_watch(const std::vector<WatchSpec>& watch);
    void set_interventions(const std::vector<InterventionSpec>& list);
    /// A checkpoint now. Experiment::collect_state comes first.
    void save();
    /// Whether an automatic one is due.
    bool checkpoint_due() const;
    /// Ends the run here: a checkpoint, then the event ("interrupted: " + `why`) and the outcome with its
    /// `text`.
    void interrupt(const std::string& text, const std::string& why);

    bool ended() const { return outcome_.state != RunState::Running; }
    const Outcome& outcome() const { return outcome_; }
    /// The exception of a failed run.
    const std::exception_ptr& error() const { return error_; }
    const Experiment& experiment() const { return *experiment_; }

  private:
    template <class Compute>
    RunDelta computed(int threads, Compute&& compute);
    RunDelta failed(const std::exception& error, const std::string& more);
    void put(const RunDelta& delta);

    std::unique_ptr<Experiment> experiment_;
    RunSink& sink_;
    Clock::duration interval_;
    RunDelta first_;
    bool asked_for_checkpoints_ = false, given_weights_ = false;
    Outcome outcome_{RunState::Running, -1, "", -1};
    std::exception_ptr error_;
    Clock::time_point last_checkpoint_, knob_checkpoint_{};
    Clock::duration checkpoint_cost_{};  ///< of the last one
    bool knobs_moved_ = false;           ///< since the last checkpoint
};

}  // namespace normscope
