// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/files.h"
#include "app/cli/replayed.h"
#include "core/base/error.h"
#include "core/run/checkpoints/replay.h"
#include "core/run/interventions/interventions.h"
#include "core/run/known_series.h"
#include "core/run/watchpoints.h"
#include "core/session/run_header.h"
#include "core/session/session.h"
#include "core/train/overflow_event.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

namespace normscope::app {

namespace {

struct CaptureOptions {
    std::string file, run, event, out;
    std::vector<std::string> probes;
    std::int64_t step = -1, around = 20;
    int threads = 0;
};

/// What is an event of the training rather than of its recording.
const std::set<std::string>& kinds_of_training() {
    static const std::set<std::string> kinds{"spike", kOverflowEvent, kWatchEvent, kInterventionEvent,
                                             "knob",  "outcome"};
    return kinds;
}

/// The step that is asked for: stated, or that of the first event of a kind.
std::int64_t centre(const RunData& run, const CaptureOptions& options) {
    if (options.step >= 0) return options.step;
    std::set<std::string> kinds;
    for (const RunEvent& event : run.events) {
        if (!kinds_of_training().count(event.kind)) continue;
        kinds.insert(event.kind);
        if (event.kind == options.event) return std::min(event.step, run.steps.step.back());
    }
    std::string had;
    for (const std::string& kind : kinds) had += (had.empty() ? "" : ", ") + kind;
    throw InputError(options.file, "has no event \"" + options.event + "\"",
                     had.empty() ? "--step: the run has no event" : had + ", or --step");
}

std::vector<std::string> probes_of(const RunData& run, const CaptureOptions& options) {
    if (!options.probes.empty()) return options.probes;
    std::vector<std::string> probes;
    for (const ProbePlan& probe : run.recipe.value(options.file).probes) probes.push_back(probe.id);
    if (probes.empty()) throw InputError(options.file, "has a recipe without probes", "--probes");
    return probes;
}

int capture(const CaptureOptions& options) {
    const FileIdentity before = require_writable(options.out, {options.file});
    Session session = open_session(options.file);
    RunData& run = chosen_run(session, options.file, options.run);
    if (run.steps.step.empty()) throw InputError(options.file, "has no step", "a run that was trained");
    const std::int64_t at = centre(run, options), end = run.steps.step.back(),
                       first = std::max<std::int64_t>(0, at - options.around),
                       last = std::min(end, at + options.around);
    if (at > end)
        throw InputError("--step", std::to_string(at) + " is after the run's end",
                         "up to " + std::to_string(end));
    ThreadPool pool(options.threads);
    RunData header = run_header(run);
    header.id = run.id;
    header.events = run.events;
    std::vector<ProbeResult> results;
    try {
        Replay replay({std::move(header), nearest_checkpoint(session, run, options.file, first), first,
                       probes_of(run, options), last},
                      replay_device(run));
        while (!replay.finished())
            if (!replay.arrived())
                replay.advance(pool);
            else
                for (ProbeResult& result : replay.measure(pool)) results.push_back(std::move(result));
    } catch (const InputError& error) {
        throw InputError(options.file + ": " + error.what());
    }
    KnownSeries known(run);
    std::size_t added = 0;
    for (ProbeResult& result : results) {
        known.fit(result, run.events);
        added += insert_sample(run, std::move(result));
    }
    std::vector<CheckpointSource> checkpoints;
    for (const EmbeddedCheckpoint& checkpoint : session.checkpoints)
        checkpoints.push_back({checkpoint.run_id, checkpoint});
    save_session(options.out, session.runs, session.view_json, checkpoints, before);
    std::cout << options.out << ": " << added << " samples at steps " << first << " to " << last
              << ", replayed bit for bit\n";
    return kDone;
}

}  // namespace

void add_capture(CLI::App& program, Task& task) {
    auto options = std::make_shared<CaptureOptions>();
    auto* command = program.add_subcommand(
        "capture", "measures every step around an event of a run, by replay, and writes a session with them");
    command->add_option("RUN.h5", options->file, "a recording or a session")->required();
    auto* step =
        command->add_option("--step", options->step, "around this step")->check(CLI::NonNegativeNumber);
    command
        ->add_option(
            "--event", options->event,
            "around the first event of this kind: spike, overflow, watch, intervention, knob, outcome")
        ->excludes(step);
    command->add_option("--around", options->around, "steps before it and after it; default 20")
        ->check(CLI::NonNegativeNumber);
    command
        ->add_option("--probes", options->probes, "which, separated by commas; default those of the recipe")
        ->delimiter(',');
    command->add_option("--run", options->run, "which run of a session that holds several");
    command->add_option("--out", options->out, "the session to write")->required();
    add_threads_option(*command, options->threads);
    command->callback([options, &task] {
        if (options->step < 0 && options->event.empty()) throw CLI::RequiredError("--step or --event");
        task = [options] { return capture(*options); };
    });
}

}  // namespace normscope::app
