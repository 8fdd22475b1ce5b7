// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/files.h"
#include "app/cli/progress.h"
#include "app/cli/run_file.h"
#include "app/cli/warn.h"
#include "core/recipe/experiment.h"
#include "core/session/named_arrays.h"
#include "core/stack/error.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>

namespace normscope::app {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct TrainOptions {
    std::string recipe, out, weights, backend = "auto";
    std::vector<std::string> settings;
    int steps = -1, threads = 0;
    bool resume = false, json = false;
};

volatile std::sig_atomic_t stop_signal = 0;

/// The first SIGINT or SIGTERM ends the run in good order, a second one kills the program.
void listen_for_signals() {
    struct sigaction action {};
    action.sa_handler = [](int signal) { stop_signal = signal; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

/// Says when something that is due every `interval` is due.
class Pace {
  public:
    explicit Pace(Clock::duration interval) : interval_(interval) {}
    bool due() {
        if (Clock::now() - last_ < interval_) return false;
        last_ = Clock::now();
        return true;
    }

  private:
    Clock::duration interval_;
    Clock::time_point last_ = Clock::now();
};

/// The first samples of all probes and the first step, or only the samples of a run of no steps.
RunDelta begin(Experiment& experiment, ThreadPool& pool) {
    if (experiment.recipe().train.steps > 0) return experiment.advance(pool);
    RunDelta delta;
    for (const ProbePlan& plan : experiment.recipe().probes)
        delta.probes.push_back(experiment.measure(plan.id, pool));
    delta.outcome = Outcome{RunState::Finished, 0, "", -1};
    return delta;
}

int exit_code(RunState state) {
    return state == RunState::Diverged ? kDiverged : kDone;
}

/// From the state that `experiment` is in to the end of the run, or to a signal. Returns how it ended.
Outcome record(Experiment& experiment, Recorder& recorder, CheckpointPair& checkpoints, RunDelta delta,
               ThreadPool& pool, Progress& progress) {
    const TrainSpec& train = experiment.recipe().train;
    Pace pulse(1s), saving(5s);
    Outcome outcome{RunState::Running, -1, "", -1};
    while (true) {
        append(recorder, delta);
        progress.show(delta);
        if (delta.outcome) outcome = *delta.outcome;
        if (outcome.state != RunState::Running) break;
        if (stop_signal != 0) {
            outcome = {RunState::Interrupted, experiment.steps_done(),
                       stop_signal == SIGINT ? "stopped by SIGINT" : "stopped by SIGTERM", -1};
            recorder.append(RunEvent{outcome.step, "outcome", std::string("interrupted: ") + outcome.text});
            break;
        }
        if (pulse.due()) recorder.heartbeat();
        if (train.checkpoint_every > 0 ? experiment.steps_done() % train.checkpoint_every == 0
                                       : saving.due()) {
            recorder.flush();  // a checkpoint never stands ahead of its recording
            checkpoints.save(experiment.checkpoint());
        }
        delta = experiment.advance(pool);
    }
    recorder.flush();
    checkpoints.save(experiment.checkpoint());
    if (outcome.state == RunState::Interrupted) recorder.set_state(outcome);
    recorder.close();
    return outcome;
}

int run_train(const TrainOptions& options) {
    require_backend(options.backend);
    require_writable(options.out, {options.recipe, options.weights});
    std::vector<std::string> settings = options.settings;
    if (options.steps >= 0) settings.push_back("steps=" + std::to_string(options.steps));
    const Recipe recipe = load_recipe(options.recipe, settings);
    require_replaceable(options.out);
    Progress progress(options.json, recipe.train.steps);

    std::optional<Resumption> resumed;
    if (options.resume) resumed = find_resumption(options.out, recipe);
    if (resumed && resumed->ended) {
        if (!resumed->saved) save_as_session(options.out, resumed->view_json, std::move(resumed->checkpoint));
        CheckpointPair(options.out).remove();
        progress.end(resumed->history.outcome, static_cast<std::int64_t>(resumed->history.steps.rows()),
                     options.out);
        return exit_code(resumed->history.outcome.state);
    }
    const bool goes_on = resumed && resumed->checkpoint;
    if (options.resume && !goes_on)
        progress.note(options.out + ": no checkpoint to resume from, starting at step 0");

    Experiment experiment(recipe, "a", default_run_name(recipe));
    ThreadPool pool(options.threads);
    listen_for_signals();
    CheckpointPair checkpoints(options.out);
    RunDelta delta;
    RecordingSchema schema;
    if (goes_on) {
        experiment.restore(*resumed->checkpoint);
        delta.events.push_back({experiment.steps_done(), "resume", "from the checkpoint of this step"});
        experiment.continue_series(resumed->history);
        schema = recording_schema(resumed->history);
    } else {
        checkpoints.remove();  // those of an earlier run must never be taken for those of this one
        if (!options.weights.empty()) {
            experiment.load_weights(read_named_arrays(options.weights, "/params"), options.weights + ": /params");
            checkpoints.save_start(experiment.checkpoint());
        }
        progress.begin(default_run_name(recipe), options.out, 0);
        delta = begin(experiment, pool);
        if (!options.weights.empty()) delta.events.push_back({0, "weights", "from " + options.weights});
        schema = recording_schema(experiment.header(), delta.probes);
    }
    if (goes_on) progress.begin(default_run_name(recipe), options.out, experiment.steps_done());
    Warner warner;
    warner.show(experiment.warnings());

    Recorder recorder(options.out, schema, goes_on ? &resumed->history : nullptr);
    Outcome outcome;
    try {
        outcome = record(experiment, recorder, checkpoints, std::move(delta), pool, progress);
    } catch (const std::exception& error) {
        try {
            recorder.set_state({RunState::Failed, experiment.steps_done(), error.what(), -1});
        } catch (const SystemError&) {
            // The recording itself is what failed; readers will find it interrupted. The first error is
            // reported.
        }
        throw;
    }
    warner.show(experiment.warnings());  // of the gates, which have moved
    if (outcome.state == RunState::Interrupted) {
        progress.end(outcome, experiment.steps_done(), options.out);
        complain(options.out + ": interrupted at step " + std::to_string(outcome.step) +
                 ", --resume continues");
        return kFailed;
    }
    save_as_session(options.out, resumed ? resumed->view_json : "", experiment.checkpoint());
    progress.end(outcome, experiment.steps_done(), options.out);
    return exit_code(outcome.state);
}

}  // namespace

void add_train(CLI::App& program, Task& task) {
    auto options = std::make_shared<TrainOptions>();
    auto* command = program.add_subcommand("train", "trains a recipe and records the run");
    command->add_option("RECIPE", options->recipe, "a recipe's path or a preset's name")->required();
    command->add_option("--out", options->out, "HDF5 file of the run, written live")->required();
    command->add_option("--weights", options->weights,
                        "HDF5 file with /params/NAME to start from instead of drawn weights");
    command->add_option("--set", options->settings, "KEY=VALUE of the recipe, e.g. stack.depth=24")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command->add_option("--steps", options->steps, "steps, also the length of the schedule")
        ->check(CLI::Range(0, 1'000'000'000));
    add_backend_option(*command, options->backend);
    command->add_flag("--resume", options->resume, "continue the run in --out");
    command->add_flag("--json", options->json, "progress as one JSON object a line");
    add_threads_option(*command, options->threads);
    command->callback([options, &task] { task = [options] { return run_train(*options); }; });
}

}  // namespace normscope::app
