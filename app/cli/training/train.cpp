// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/files.h"
#include "app/cli/stop.h"
#include "app/cli/training/progress.h"
#include "app/cli/training/run_result.h"
#include "app/cli/warn.h"
#include "core/backend/devices/devices.h"
#include "core/base/error.h"
#include "core/probe/interface/cadence.h"
#include "core/recipe/recipe_text.h"
#include "core/run/checkpoints/kept_checkpoints.h"
#include "core/run/checkpoints/run_file.h"
#include "core/run/interventions/interventions.h"
#include "core/run/memory_need.h"
#include "core/run/probe_steps.h"
#include "core/run/probes_preset.h"
#include "core/run/recording.h"
#include "core/run/watchpoints.h"
#include "core/session/named_arrays.h"
#include "core/session/session.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace normscope::app {

namespace {

using namespace std::chrono_literals;

constexpr auto kCheckpointInterval = 5s;

struct TrainOptions {
    std::string recipe, out, weights, backend = "auto", probes, only, json_settings;
    std::vector<std::string> settings, watch;
    int steps = -1, threads = 0, report_every = 0;
    double max_seconds = 0;
    bool resume = false, json = false, stop_at_watch = false, diverged_ok = false;
};

/// The files of a run and its progress output.
class Outlet final : public RunSink {
  public:
    Outlet(Recording& recording, Progress& progress, const TrainSpec& train)
        : recording_(recording), progress_(progress), stored_(train) {}
    void add(const RunDelta& delta) override {
        recording_.add(delta);
        stored_.add(delta);
        // An interruption is reported at the end, with the way to resume.
        if (!delta.outcome || delta.outcome->state != RunState::Interrupted) progress_.show(delta);
        for (const RunEvent& event : delta.events)
            if (event.kind == kWatchEvent) {
                progress_.show(event);
                watched_ = event.text;
            } else if (event.kind == kInterventionEvent) {
                progress_.show(event);
            }
    }
    void save(const std::shared_ptr<const Checkpoint>& checkpoint) override {
        recording_.save(checkpoint);
        stored_.save(checkpoint);
    }
    const KeptCheckpoints& kept() const { return stored_; }
    /// The last watchpoint that triggered since the last call; empty: none.
    std::string watched() { return std::exchange(watched_, {}); }

  private:
    Recording& recording_;
    Progress& progress_;
    KeptCheckpoints stored_;
    std::string watched_;
};

/// Of a file, or of standard input for "-".
std::string text_of(const std::string& path) {
    std::ifstream file;
    if (path != "-") file.open(path, std::ios::binary);
    std::istream& in = path == "-" ? std::cin : file;
    if (!in)
        throw InputError("--set-json " + quoted(path), "cannot be read", "a file, or - for standard input");
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The recipe of the command line, not completed.
Recipe read_options(const TrainOptions& options) {
    std::vector<std::string> settings;
    if (!options.json_settings.empty())
        settings =
            settings_of_json(text_of(options.json_settings), "--set-json " + quoted(options.json_settings));
    settings.insert(settings.end(), options.settings.begin(), options.settings.end());
    if (options.steps >= 0) settings.push_back("steps=" + std::to_string(options.steps));
    Recipe recipe = read_recipe(options.recipe, settings);
    for (const std::string& watch : options.watch) recipe.watch.push_back(parse_watch(watch, "--watch"));
    return recipe;
}

/// The preset's probes for a completed recipe, and the places that they measure, with what they are predicted
/// to take.
void use_probes(Recipe& recipe, const std::string& word, const std::string& only, Progress& progress) {
    const auto words = words_of<ProbesPreset>();
    if (!word.empty()) {
        const auto preset = std::find(words.begin(), words.end(), word) - words.begin();
        recipe.probes = probes_of(static_cast<ProbesPreset>(preset), recipe);
    }
    if (!only.empty()) {
        const PlaceSelection places = PlaceSelection::parse(only, "--only");
        places.check(recipe.stack.depth, "--only");
        select_places(recipe.probes, places);
    }
    plan_probe_steps(recipe);
    validate_watch(recipe);
    const ProbesShare share = predicted_share(recipe);
    char text[512];
    std::snprintf(
        text, sizeof text,
        "probes %s%s%s: %zu, predicted to take %.2g %% of the steps' time before step %lld and %.2g %% "
        "from there on",
        word.c_str(),
        only.empty()   ? ""
        : word.empty() ? "only "
                       : ", only ",
        only.empty() ? "" : common_selection(recipe.probes)->c_str(), recipe.probes.size(), 100 * share.first,
        static_cast<long long>(kDenseSteps), 100 * share.later);
    progress.note(text);
}

int exit_code(RunState state, const TrainOptions& options) {
    if (state == RunState::Interrupted) return kInterrupted;
    return state == RunState::Diverged && !options.diverged_ok ? kDiverged : kDone;
}

/// Runs until the end, a signal or, where it is to stop there, a watchpoint.
void drive(Run& run, ThreadPool& pool, Outlet& outlet, bool stop_at_watch) {
    run.begin();
    do {
        run.advance(pool, run.experiment().steps_a_call());
        if (stop_wanted()) run.interrupt(stopped_by(), stopped_by());
        const std::string watched = outlet.watched();
        if (stop_at_watch && !watched.empty()) run.interrupt("watch: " + watched, "watch: " + watched);
    } while (!run.ended());
    if (run.error()) std::rethrow_exception(run.error());
}

/// What the recording has at its end; of --json alone, since it is read for that.
RunResult result_of(const TrainOptions& options, const Outcome& outcome) {
    if (options.json && is_recorded(options.out)) {
        Session session = open_session(options.out);
        if (!session.runs.empty()) return {std::move(session.runs.front()), options.out};
    }
    RunResult none;
    none.run.outcome = outcome;
    return none;
}

int train(const TrainOptions& options, Progress& progress) {
    require_backend(options.backend);
    require_writable(options.out, {options.recipe, options.weights});
    Recipe recipe = read_options(options);
    auto corpus = complete_and_validate(recipe);
    require_free_for_run(options.out);
    progress.set_steps(recipe.train.steps);
    if (!options.probes.empty() || !options.only.empty())
        use_probes(recipe, options.probes, options.only, progress);

    std::optional<Resumption> resumed;
    if (options.resume) resumed = find_resumption(options.out, recipe);
    if (resumed && resumed->ended) {
        if (!resumed->saved) save_as_session(options.out, resumed->view_json, std::move(resumed->checkpoint));
        CheckpointPair(options.out).remove();
        progress.recorded(resumed->history);
        const Outcome& outcome = resumed->history.outcome;
        progress.end(outcome, static_cast<std::int64_t>(resumed->history.steps.rows()), options.out,
                     result_of(options, outcome));
        return exit_code(outcome.state, options);
    }
    const bool resumes = resumed && resumed->checkpoint;
    if (options.resume && !resumes)
        progress.note(options.out + ": no checkpoint to resume from, starting at step 0");

    ThreadPool pool(options.threads);
    Device& device = device_named(options.backend);
    require_device(recipe, pool.threads(), device);
    auto built =
        std::make_unique<Experiment>(recipe, "a", default_run_name(recipe), std::move(corpus), device);
    if (stop_wanted()) {  // what was recorded is as it was
        const Outcome outcome{RunState::Interrupted, 0, stopped_by(), -1};
        progress.end(outcome, 0, options.out, result_of(options, outcome));
        print_error(options.out + ": " + stopped_by() + " before a step was made; the same command resumes");
        return kInterrupted;
    }
    RunStart start;
    std::shared_ptr<const RunData> header;
    if (resumes) {
        start.checkpoint = std::make_shared<const Checkpoint>(std::move(*resumed->checkpoint));
        start.events.push_back({start.checkpoint->step, "resume",
                                "from the checkpoint of this step" +
                                    change_of_device(resumed->history, device.capabilities().backend)});
        const RunData now = built->header();
        resumed->history.backend = now.backend;
        resumed->history.device = now.device;
        header = start.history = std::make_shared<const RunData>(std::move(resumed->history));
        progress.recorded(*header);
    } else {
        // Checkpoints of an earlier run must not be mistaken for this one's.
        CheckpointPair(options.out).remove();
        if (!options.weights.empty()) {
            built->load_weights(read_named_arrays(options.weights, "/params"), options.weights + ": /params");
            start.events.push_back({0, "weights", "from " + options.weights});
            start.given_weights = true;
        }
        header = std::make_shared<const RunData>(built->header());
    }
    Recording recording(options.out, std::move(header));
    Outlet outlet(recording, progress, built->recipe().train);
    Run run(std::move(built), std::move(start), outlet, kCheckpointInterval);
    const Experiment& experiment = run.experiment();
    progress.begin(default_run_name(recipe), options.out, experiment.steps_done());
    Warner warner;
    warner.show(experiment.warnings());

    try {
        drive(run, pool, outlet, options.stop_at_watch);
        recording.close();
    } catch (const std::exception& error) {
        if (!run.error()) recording.abandon({RunState::Failed, experiment.steps_done(), error.what(), -1});
        if (run.error() && !device.capabilities().host_readable && !dynamic_cast<const InputError*>(&error))
            throw SystemError(options.out + ": failed at step " + std::to_string(run.outcome().step) + ": " +
                              error.what() + "; --resume --backend cpu continues");
        throw;
    }
    const Outcome outcome = run.outcome();
    warner.show(experiment.warnings());  // of the trained gates
    if (outcome.state == RunState::Interrupted) {
        progress.end(outcome, experiment.steps_done(), options.out, result_of(options, outcome));
        print_error(options.out + ": interrupted at step " + std::to_string(outcome.step) +
                    ", --resume continues");
        return kInterrupted;
    }
    save_as_session(options.out, resumed ? resumed->view_json : "", experiment.checkpoint(),
                    outlet.kept().all());
    progress.end(outcome, experiment.steps_done(), options.out, result_of(options, outcome));
    return exit_code(outcome.state, options);
}

int run_train(const TrainOptions& options) {
    listen_for_signals();
    stop_after(options.max_seconds);
    Progress progress(options.json, options.report_every);
    try {
        return train(options, progress);
    } catch (const InputError&) {
        throw;  // nothing ran: exit code 2 and one line
    } catch (const std::exception& error) {
        if (options.json) {
            const Outcome failed{RunState::Failed, 0, error.what(), -1};
            progress.end(failed, 0, options.out, result_of(options, failed));
        }
        throw;
    }
}

}  // namespace

void add_train(CLI::App& program, Task& task) {
    auto options = std::make_shared<TrainOptions>();
    auto* command = program.add_subcommand("train", "trains a recipe and records the run");
    command->footer(
        std::string(kCadenceHelp) +
        "\nCheckpoints next to the recording: every checkpoint.every steps, which the session keeps "
        "too\n(the newest checkpoint.keep at least); without it every 5 s, less often where they would "
        "take\nmore than 3 % of the time, and the session keeps the last one alone.");
    command->add_option("RECIPE", options->recipe, "a recipe's path or a preset's name")->required();
    command->add_option("--out", options->out, "HDF5 file of the run, written live")->required();
    command->add_option("--weights", options->weights,
                        "HDF5 file with /params/NAME to start from instead of drawn weights");
    command->add_option("--set", options->settings, "KEY=VALUE of the recipe, e.g. stack.depth=24")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command->add_option(
        "--set-json", options->json_settings,
        "FILE, or - for standard input: an object of keys and values, nested or dotted; before "
        "--set");
    command->add_option("--steps", options->steps, "steps, also the length of the schedule")
        ->check(CLI::Range(0, 1'000'000'000));
    command
        ->add_option("--watch", options->watch,
                     "\"QUANTITY > VALUE\" or <: reports the steps at which it begins to hold; grad_norm, "
                     "grad_ratio, loss, hidden_rms, non_finite, entropy")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command->add_flag("--stop-at-watch", options->stop_at_watch,
                      "stop with a checkpoint where a watchpoint triggers; --resume continues");
    std::vector<std::string> presets(words_of<ProbesPreset>().begin(), words_of<ProbesPreset>().end());
    command->add_option("--probes", options->probes, "economy, standard or full instead of the recipe's")
        ->check(CLI::IsMember(presets));
    command->add_option(
        "--only", options->only,
        "PATTERNS of places, e.g. \"blocks.0, blocks.*.norm_in\": probes measure these alone");
    add_backend_option(*command, options->backend);
    command->add_flag("--resume", options->resume, "continue the run in --out");
    command->add_flag("--json", options->json,
                      "progress as one JSON object a line; the last line is the result");
    command
        ->add_option("--report-every", options->report_every,
                     "progress of every N-th step; 0: of every step in JSON, once a second in text")
        ->check(CLI::Range(0, 1'000'000'000));
    command->add_flag("--diverged-ok", options->diverged_ok,
                      "exit code 0 instead of 3 for a run that diverges");
    add_max_seconds_option(*command, options->max_seconds);
    add_threads_option(*command, options->threads);
    command->callback([options, &task] { task = [options] { return run_train(*options); }; });
}

}  // namespace normscope::app
