// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_input.h"
#include "core/probe/interface/step_list.h"
#include "core/probe/registry.h"
#include "core/recipe/hot_knobs.h"
#include "core/recipe/recipe.h"
#include "core/run/complete.h"
#include "core/run/flight_recorder.h"
#include "core/run/interventions/interventions.h"
#include "core/run/known_series.h"
#include "core/run/watchpoints.h"
#include "core/session/checkpoint.h"
#include "core/session/recorder.h"
#include "core/session/run_data.h"
#include "core/train/spike.h"
#include "core/train/trainer.h"

#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace normscope {

/// The changes of a run since the last delta: written by a recorder, appended by a window.
struct RunDelta {
    std::vector<StepRecord> steps;
    std::vector<ProbeResult> probes;
    std::vector<RunEvent> events;
    std::optional<Outcome> outcome;  ///< when the state changed
    bool empty() const { return steps.empty() && probes.empty() && events.empty() && !outcome; }
};

/// Appends a delta to the data of a run.
void append(RunData& run, const RunDelta& delta);
/// Writes a delta to a recording, the outcome last.
void append(Recorder& recorder, const RunDelta& delta);

/// One run: a trainer, its probes and their schedule. It only computes; the owner sends its deltas to a
/// recorder, a window, or both. One thread drives it. The same object explores (measure() at step 0, after
/// every knob) and trains.
class Experiment {
  public:
    /// A completed and validated recipe (load_recipe, complete_and_validate). Draws the initial weights.
    /// `corpus` is what that gave; null: made here.
    Experiment(const Recipe& recipe, std::string id, std::string name,
               std::shared_ptr<const Corpus> corpus = nullptr, Device& device = cpu_device());

    const Recipe& recipe() const { return recipe_; }
    /// Identity, recipe, floors and state; no steps, no samples.
    RunData header() const;

    Device& device() const;
    /// From now on the steps of advance() are those of these ranks together (Trainer::join): each has such an
    /// experiment and makes the same calls, whatever it measures. LostRank leaves the state as it was before
    /// the call.
    void join(Communicator& ranks, const RankRules& rules = {});
    /// Before checkpoint(), in all ranks: Trainer::collect_state. LostRank after one was lost.
    void collect_state();
    std::int64_t steps_done() const;
    const Outcome& outcome() const;
    bool ended() const;

    /// Warnings about the stack and the current values of its gates; one line each.
    std::vector<std::string> warnings() const;

    /// Measures the current weights with one probe. May throw Cancelled.
    ProbeResult measure(const std::string& probe, ThreadPool& pool,
                        const std::atomic<bool>* cancel = nullptr);
    /// Several probes on one forward and backward pass, in the order given; `done` is called with each
    /// result. They measure the held-out sequences of the recipe's probe_shape, the first `at_most` of them,
    /// of text the first `at_most_tokens` of each, and label how many, and the places that the recipe selects
    /// (ProbePlan::only).
    void measure(const std::vector<std::string>& probes, ThreadPool& pool, const std::atomic<bool>* cancel,
                 const std::function<void(ProbeResult)>& done, int at_most = kProbeSequences,
                 int at_most_tokens = std::numeric_limits<int>::max());

    /// The places that measure() measures, by probe, instead of the recipe's: for a replay, whose recipe has
    /// no probes.
    void select(std::map<std::string, PlaceSelection> selections) { selections_ = std::move(selections); }

    /// The probes that are due at this step (probe_steps), then the step, and up to `at_most` steps in all
    /// before the next one where anything is measured (Trainer::steps). The delta carries both, and where
    /// anything happened (an event, the end) the steps of the flight recorder that were not written yet.
    RunDelta advance(ThreadPool& pool, std::int64_t at_most = 1);
    /// For advance(): 1 where a step ends with its call (CPU) or may trigger a watchpoint, else
    /// steps_of_a_call().
    std::int64_t steps_a_call() const;

    HotKnobs knobs() const;
    /// Takes effect at the next step (or measurement); the event names the changes.
    RunDelta set_knobs(const HotKnobs& knobs);

    /// Other watchpoints, from the next step on; the event names them. Empty where nothing changes.
    RunDelta set_watch(const std::vector<WatchSpec>& watch);

    /// Other interventions, from the next step on; what the former ones changed is undone. Empty where
    /// nothing changes. InputError for a list that the stack rejects.
    RunDelta set_interventions(const std::vector<InterventionSpec>& list);

    Checkpoint checkpoint() const;
    /// Replaces the initial weights by these (exactly the stack's tensors, float32 or float64), before the
    /// first step. InputError names the first mismatch; `where` begins the message.
    void load_weights(const std::vector<StoredTensor>& weights, const std::string& where);

    /// Continues from a checkpoint of the same stack; InputError when tensors or shapes differ.
    void restore(const Checkpoint& checkpoint);
    /// From now on its deltas have the series of this run, which it continues, also where this version
    /// measures others.
    void continue_series(const RunData& history) { known_series_.emplace(history); }

    /// Probe time over training time: of the first kDenseSteps steps, and from there on of those after them,
    /// for which the probes have a budget.
    double probe_overhead() const { return training_seconds_ > 0 ? probe_seconds_ / training_seconds_ : 0; }
    /// Seconds of the last step.
    double last_step_seconds() const { return last_step_seconds_; }

    /// The names of the step table's columns, in order; FP16 also has its loss scale, images have
    /// their accuracies.
    static std::vector<std::string> columns(const Recipe& recipe);

  private:
    /// The probes of the recipe that are due at a step.
    std::vector<std::string> due_at(std::int64_t step) const;
    /// The row and events of a step; its samples are in the delta.
    void add_step(RunDelta& delta, StepNumbers now, double probe_ms);
    void watch_step(RunDelta& delta, const StepNumbers& now);
    /// The interventions that are due before the next step.
    void intervene(RunDelta& delta, ThreadPool& pool);
    /// Undoes what they changed.
    void undo_interventions(RunDelta& delta, std::int64_t step);
    /// Adds the flight recorder's steps to a delta with events, and converts all to the known series.
    void complete(RunDelta& delta);

    Recipe recipe_;
    std::string id_, name_;
    std::shared_ptr<const Corpus> corpus_;
    AnyTrainer trainer_;
    std::tuple<ProbeMemory<float>, ProbeMemory<double>>
        probe_memory_;                   ///< the one of the trainer's scalar type is used
    std::vector<StepList> probe_steps_;  ///< of recipe_.probes, in order
    SpikeDetector spikes_;
    Watchpoints watch_;
    Interventions interventions_;
    std::map<std::string, PlaceSelection> selections_;  ///< by probe (ProbePlan::only)
    FlightRecorder flight_;
    int ranks_ = 1;          ///< that make its steps
    bool by_rank_ = false;   ///< gradients are added (RankSum)
    bool in_parts_ = false;  ///< the optimizer's state
    bool lost_ = false;      ///< a rank that had a part of it
    double training_seconds_ = 0, probe_seconds_ = 0, last_step_seconds_ = 0;
    std::optional<KnownSeries> known_series_;
};

/// Those that a checkpoint was taken under; InputError where it does not say.
HotKnobs hot_knobs(const Checkpoint& checkpoint);
/// What interventions had raised ε to there, per norm; empty where none.
std::vector<double> raised_eps(const Checkpoint& checkpoint);

/// The schema of a recording; `first` are the samples of step 0, which define the shapes. The flight
/// recorder's group is in every recording.
RecordingSchema recording_schema(const RunData& header, const std::vector<ProbeResult>& first);
/// The same for a resumed run: its existing series.
RecordingSchema recording_schema(const RunData& history);

/// "Pre-LN", "Pre-LN + GPAS" or "Post-LN Δt 0.2": the scheme's title and what is unusual about it.
std::string default_run_name(const Recipe& recipe);

/// How many steps of this duration a device that runs alone is given at once: about 8 ms, which is short
/// enough for a frame, and at most 16, so many that the wait at their end does not count.
std::int64_t steps_of_a_call(double step_seconds);

/// For the event of a run that continues: ", on cpu instead of cuda"; empty where its device is the same.
std::string change_of_device(const RunData& history, const std::string& backend);

/// The processor's name and instruction set, for a run's `device`.
std::string cpu_name();

}  // namespace normscope
