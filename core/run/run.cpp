// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run.h"

#include "core/backend/shared/out_of_memory.h"
#include "core/run/memory_need.h"

#include <algorithm>
#include <utility>

namespace normscope {

namespace {

using namespace std::chrono_literals;

constexpr auto kKnobInterval = 250ms;

/// Of a run of no steps.
RunDelta first_samples(Experiment& experiment, ThreadPool& pool) {
    RunDelta delta;
    for (const ProbePlan& plan : experiment.recipe().probes)
        delta.probes.push_back(experiment.measure(plan.id, pool));
    delta.outcome = Outcome{RunState::Finished, 0, "", -1};
    return delta;
}

}  // namespace

void merge(RunDelta& into, const RunDelta& more) {
    into.steps.insert(into.steps.end(), more.steps.begin(), more.steps.end());
    into.probes.insert(into.probes.end(), more.probes.begin(), more.probes.end());
    into.events.insert(into.events.end(), more.events.begin(), more.events.end());
    if (more.outcome) into.outcome = more.outcome;
}

std::chrono::steady_clock::duration checkpoint_interval(std::chrono::steady_clock::duration least,
                                                        std::chrono::steady_clock::duration cost) {
    using Clock = std::chrono::steady_clock;
    const double wanted = static_cast<double>(cost.count()) * (1 - kCheckpointShare) / kCheckpointShare;
    const Clock::duration most = std::max<Clock::duration>(least, kMaxCheckpointInterval);
    if (!(wanted < static_cast<double>(most.count()))) return most;
    return std::max(least, Clock::duration(static_cast<Clock::rep>(wanted)));
}

Run::Run(std::unique_ptr<Experiment> experiment, RunStart start, RunSink& sink, Clock::duration interval)
    : experiment_(std::move(experiment)),
      sink_(sink),
      interval_(interval),
      asked_for_checkpoints_(start.asked_for_checkpoints),
      given_weights_(start.given_weights),
      last_checkpoint_(Clock::now()) {
    if (start.history) experiment_->continue_series(*start.history);
    first_.events = std::move(start.events);
    if (!start.checkpoint) return;
    const std::vector<InterventionSpec> interventions = experiment_->recipe().interventions;
    experiment_->restore(*start.checkpoint);
    if (!start.knobs) return;
    for (const RunDelta& moved :
         {experiment_->set_knobs(*start.knobs), experiment_->set_interventions(interventions)}) {
        knobs_moved_ |= !moved.empty();
        merge(first_, moved);
    }
}

/// The outcome and event of the exception that is being handled.
RunDelta Run::failed(const std::exception& error, const std::string& more) {
    const std::string text = error.what() + (more.empty() ? "" : "; " + more);
    error_ = more.empty() ? std::current_exception() : std::make_exception_ptr(OutOfMemory(text));
    const auto step = experiment_->steps_done();
    RunDelta delta;
    delta.outcome = Outcome{RunState::Failed, step, text, -1};
    delta.events.push_back({step, "outcome", "failed: " + text});
    return delta;
}

template <class Compute>
RunDelta Run::computed(int threads, Compute&& compute) {
    try {
        return compute();
    } catch (const LostRank&) {
        throw;
    } catch (const OutOfMemory& error) {
        std::string what_fits;
        try {
            what_fits = out_of_memory_line(experiment_->recipe(), threads, experiment_->device());
        } catch (const SystemError&) {
            // The device does not answer any more: the first error is reported.
        }
        return failed(error, what_fits);
    } catch (const std::exception& error) {
        return failed(error, "");
    }
}

void Run::put(const RunDelta& delta) {
    if (delta.outcome) outcome_ = *delta.outcome;  // first: it is valid even if the sink throws
    if (!delta.empty()) sink_.add(delta);
}

void Run::begin() {
    put(std::exchange(first_, {}));
    if (given_weights_) save();
}

void Run::advance(ThreadPool& pool, std::int64_t at_most) {
    if (ended()) return;
    if (knobs_moved_ && Clock::now() - knob_checkpoint_ >= kKnobInterval) {
        knob_checkpoint_ = Clock::now();
        save();
        if (ended()) return;
    }
    const TrainSpec& train = experiment_->recipe().train;
    if (train.checkpoint_every > 0)  // none is missed
        at_most =
            std::min(at_most, train.checkpoint_every - experiment_->steps_done() % train.checkpoint_every);
    put(computed(pool.threads(), [&] {
        return train.steps > 0 ? experiment_->advance(pool, at_most) : first_samples(*experiment_, pool);
    }));
    if (outcome_.state == RunState::Failed) return;  // its weights are not those of any step
    if (ended() || (!asked_for_checkpoints_ && checkpoint_due())) save();
}

bool Run::checkpoint_due() const {
    const std::int64_t every = experiment_->recipe().train.checkpoint_every;
    return every > 0 ? experiment_->steps_done() % every == 0
                     : Clock::now() - last_checkpoint_ >= checkpoint_interval(interval_, checkpoint_cost_);
}

void Run::set_knobs(const HotKnobs& knobs) {
    if (ended()) return;
    const RunDelta delta = computed(1, [&] { return experiment_->set_knobs(knobs); });
    knobs_moved_ |= !delta.empty();
    put(delta);
}

void Run::set_watch(const std::vector<WatchSpec>& watch) {
    if (!ended()) put(experiment_->set_watch(watch));
}

void Run::set_interventions(const std::vector<InterventionSpec>& list) {
    if (ended()) return;
    const RunDelta delta = computed(1, [&] { return experiment_->set_interventions(list); });
    knobs_moved_ |= !delta.empty();
    put(delta);
}

void Run::save() {
    const auto begin = Clock::now();
    // Also on failure: the next attempt is not at the next step.
    struct Timed {
        Run& run;
        Clock::time_point begin;
        ~Timed() {
            run.last_checkpoint_ = Clock::now();
            run.checkpoint_cost_ = run.last_checkpoint_ - begin;
        }
    } timed{*this, begin};
    knobs_moved_ = false;
    std::shared_ptr<const Checkpoint> checkpoint;
    try {
        experiment_->collect_state();
        checkpoint = std::make_shared<const Checkpoint>(experiment_->checkpoint());
    } catch (const OutOfMemory&) {
        throw;
    } catch (const LostRank&) {
        throw;
    } catch (const SystemError& error) {
        return put(failed(error, ""));
    }
    sink_.save(checkpoint);
}

void Run::interrupt(const std::string& text, const std::string& why) {
    if (ended()) return;
    const auto step = experiment_->steps_done();
    RunDelta delta;
    delta.outcome = Outcome{RunState::Interrupted, step, text, -1};
    delta.events.push_back({step, "outcome", "interrupted: " + why});
    try {
        save();
    } catch (...) {
        put(delta);
        throw;
    }
    if (!ended()) put(delta);
}

}  // namespace normscope
