// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/training/train_options.h"

#include "app/cli/command.h"
#include "app/cli/files.h"
#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/probe/interface/cadence.h"
#include "core/recipe/recipe_text.h"
#include "core/run/probes_preset.h"
#include "core/run/watchpoints.h"

#include <fstream>
#include <iostream>
#include <iterator>

namespace normscope::app {

namespace {

/// Of a file, or of standard input for "-".
std::string text_of(const std::string& path) {
    std::ifstream file;
    if (path != "-") file.open(path, std::ios::binary);
    std::istream& in = path == "-" ? std::cin : file;
    if (!in)
        throw InputError("--set-json " + quoted(path), "cannot be read", "a file, or - for standard input");
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

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

void add_train_options(CLI::App& command, TrainOptions& options) {
    command.footer(
        std::string(kCadenceHelp) +
        "\nCheckpoints next to the recording: every checkpoint.every steps, which the session keeps "
        "too\n(the newest checkpoint.keep at least); without it every 5 s, less often where they would "
        "take\nmore than 3 % of the time, and the session keeps the last one alone.");
    command.add_option("RECIPE", options.recipe, "a recipe's path or a preset's name")->required();
    command.add_option("--out", options.out, "HDF5 file of the run, written live")->required();
    command.add_option("--weights", options.weights,
                       "HDF5 file with /params/NAME to start from instead of drawn weights");
    command.add_option("--set", options.settings, "KEY=VALUE of the recipe, e.g. stack.depth=24")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command.add_option(
        "--set-json", options.json_settings,
        "FILE, or - for standard input: an object of keys and values, nested or dotted; before "
        "--set");
    command.add_option("--steps", options.steps, "steps, also the length of the schedule")
        ->check(CLI::Range(0, 1'000'000'000));
    command
        .add_option("--watch", options.watch,
                    "\"QUANTITY > VALUE\" or <: reports the steps at which it begins to hold; grad_norm, "
                    "grad_ratio, loss, hidden_rms, non_finite, entropy")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command.add_flag("--stop-at-watch", options.stop_at_watch,
                     "stop with a checkpoint where a watchpoint triggers; --resume continues");
    std::vector<std::string> presets(words_of<ProbesPreset>().begin(), words_of<ProbesPreset>().end());
    command.add_option("--probes", options.probes, "economy, standard or full instead of the recipe's")
        ->check(CLI::IsMember(presets));
    command.add_option("--only", options.only,
                       "PATTERNS of places, e.g. \"blocks.0, blocks.*.norm_in\": probes measure these alone");
    add_backend_option(command, options.backend);
    command
        .add_option("--ranks", options.ranks,
                    "mpi: the processes that its launcher started train one stack together, each a part of "
                    "every batch, with the bits of one process")
        ->check(CLI::IsMember({"mpi"}));
    command.add_flag("--sum-by-rank", options.sum_by_rank,
                     "each rank adds the gradients of its own parts first: fewer bytes, not the bits of one "
                     "process; stated in the run's device");
    command.add_flag("--shard-optimizer", options.shard_optimizer,
                     "each rank keeps the optimizer's state of a part of the weights alone (ZeRO stage 1); "
                     "without a lost rank's part the run resumes from its last checkpoint");
    command.add_flag("--resume", options.resume, "continue the run in --out");
    command.add_flag("--json", options.json,
                     "progress as one JSON object a line; the last line is the result");
    command
        .add_option("--report-every", options.report_every,
                    "progress of every N-th step; 0: of every step in JSON, once a second in text")
        ->check(CLI::Range(0, 1'000'000'000));
    command.add_flag("--diverged-ok", options.diverged_ok,
                     "exit code 0 instead of 3 for a run that diverges");
    add_max_seconds_option(command, options.max_seconds);
    add_threads_option(command, options.threads);
}

}  // namespace normscope::app
