// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/sweep.h"

#include "app/cli/command.h"
#include "app/cli/stop.h"
#include "app/cli/sweep_lines.h"
#include "app/cli/sweep_queries.h"
#include "core/backend/devices/devices.h"
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/statistics.h"
#include "core/recipe/recipe_text.h"
#include "core/sweep/sweep_folder.h"
#include "core/sweep/sweep_map.h"
#include "core/sweep/sweep_merge.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>

namespace normscope::app {

namespace {

struct SweepArguments {
    std::string recipe, out, seeds, choose_seeds, shard, backend = "auto";
    std::vector<std::string> grid, settings, merge, status, list, ties, choose;
    int trials = 0, steps = -1, jobs = 0, threads = 0;
    double max_seconds = 0;
    bool untimed = false, weights = false, lists = false, json = false, replicas = false;
};

constexpr const char* kHelp =
    "  DIR/sweep.json     the whole specification\n"
    "  DIR/results.csv    a row a run: its values, seed, state, steps, final_loss (mean of the last 20 "
    "training\n"
    "                     losses), best_loss (lowest mean of 20 in a row), held_out_loss (the last one), "
    "diverged_at,\n"
    "                     seconds, recording\n"
    "  DIR/runs/*.h5      the recordings\n"
    "VALUES: a list (post,pre,peri), log:1e-4:1e-1:8 or lin:0:1:5 (first, last, count). Each run is what "
    "`train\n"
    "RECIPE --set KEY=VALUE …` gives: stack.scheme in a grid changes the scheme alone, the initialisation\n"
    "(stack.init) stays that of RECIPE, not that of the scheme's preset.\n"
    "The same command again resumes: runs with a result are not trained again, an interrupted one continues\n"
    "from its checkpoint, a failed one is tried again. A run that diverges, stalls or fails is a row. All "
    "columns\n"
    "but `seconds`, which is measured, are the same bytes for any --jobs, --threads, shards and "
    "interruptions;\n"
    "--untimed leaves `seconds` empty, and the whole file is. Exit code 0: every row is there; 4: stopped by "
    "a\n"
    "signal or by --max-seconds, the same command resumes.";

/// "post" or "stack.block=llama post": without the key where there is one.
std::string values_text(const SweepSpec& spec, const std::vector<std::size_t>& keys,
                        const std::vector<std::size_t>& values) {
    std::string text;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const SweepAxis& axis = spec.grid[keys[i]];
        text += (i > 0 ? " " : "") + axis.key + "=" + axis.values[values[i]];
    }
    return text;
}

/// What each arm chose, and what its other seeds gave there.
void print_chosen(const SweepResults& results) {
    const auto chosen = chosen_values(results);
    if (!chosen) return;
    std::vector<std::string> keys;
    for (const SweepAxis& axis : results.spec.grid)
        if (!is_chosen(results.spec, axis.key)) keys.push_back(axis.key);
    std::cout << "chosen by the median of final_loss over " << results.spec.choice.seeds
              << " seeds, and the median over the others:\n";
    for (const ChosenValues& one : *chosen) {
        std::vector<double> losses;
        for (const SweepRow& row : results.rows)
            if (is_scored(results.spec, results.runs[row.run], {one}))
                if (const auto loss = compared_loss(row)) losses.push_back(*loss);
        std::cout << "  ";
        for (std::size_t i = 0; i < keys.size(); ++i)
            std::cout << keys[i] << "=" << one.arm[i] << (i + 1 < keys.size() ? " " : ": ");
        std::cout << chosen_text(results.spec, one) << ", loss " << plain_number(one.loss) << ", "
                  << (losses.empty() ? std::string("none") : plain_number(median(losses))) << " of "
                  << losses.size() << "\n";
    }
}

/// The best learning rate, or the best value of the last key, for each combination of the others.
void print_best(const SweepResults& results) {
    const SweepSpec& spec = results.spec;
    if (spec.grid.empty()) return;
    if (!spec.choice.keys.empty()) return print_chosen(results);
    std::size_t key = spec.grid.size() - 1;
    for (std::size_t i = 0; i < spec.grid.size(); ++i)
        if (spec.grid[i].key == "optimizer.lr") key = i;
    if (spec.grid[key].values.size() < 2) return;
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < spec.grid.size(); ++i)
        if (i != key) others.push_back(i);
    std::cout << "best " << spec.grid[key].key << " by the median of final_loss over "
              << (spec.seeds.size() == 1 ? "one seed" : std::to_string(spec.seeds.size()) + " seeds")
              << ":\n";
    for (const BestValue& best : best_values(results, key)) {
        const std::string where = values_text(spec, others, best.others);
        std::cout << "  " << where << (where.empty() ? "" : ": ") << spec.grid[key].values[best.value]
                  << ", loss " << plain_number(*best.cell.median_loss) << " (" << best.cell.outcomes_text()
                  << "; of all its " << best.all.runs.size() << ": " << best.all.outcomes_text() << ")"
                  << (is_edge(spec.grid[key], spec.grid[key].values[best.value])
                          ? "; at the edge of its grid: extend it\n"
                          : "\n");
    }
}

void print_end(const SweepResults& results, const std::string& folder) {
    const SweepCell all = sweep_cells(results, {}).front();
    std::cout << results.rows.size() << " of " << results.runs.size() << " runs: " << all.outcomes_text()
              << " -> " << folder << "/results.csv\n";
    print_best(results);
}

int merge(const SweepArguments& arguments) {
    if (!arguments.recipe.empty() || !arguments.grid.empty())
        throw InputError("--merge", "is combined with a recipe or a grid", "--merge DIR… --out DIR alone");
    std::vector<std::string> folders;
    for (const std::string& folder : arguments.merge)
        for (std::string& each : sweep_folders(folder)) folders.push_back(std::move(each));
    const SweepMerge merged = merge_sweeps(folders, arguments.out);
    print_end(merged.results, arguments.out);
    if (merged.missing.empty()) return kDone;
    const auto text_of = [&](std::size_t run) {
        const auto deleted = merged.deleted.find(run);
        return settings_text(merged.results.spec, merged.results.runs[run]) +
               (deleted == merged.deleted.end()
                    ? ""
                    : " (" + deleted->second + ", named in results.csv, is not there)");
    };
    const std::size_t more = merged.missing.size() - 1;
    for (const std::size_t run : merged.missing) std::cout << "missing: " << text_of(run) << "\n";
    print_error(arguments.out + ": " + std::to_string(merged.missing.size()) + " of " +
                std::to_string(merged.results.runs.size()) + " runs are missing: " +
                text_of(merged.missing.front()) + (more > 0 ? " and " + std::to_string(more) + " more" : "") +
                "; sweep --out " + arguments.out + " trains them");
    return kFailed;
}

/// `folder`: that of the sweep, or of its shard.
SweepSpec spec_of(const SweepArguments& arguments, const std::string& folder) {
    if (arguments.recipe.empty()) {
        if (!arguments.grid.empty() || !arguments.settings.empty() || !arguments.seeds.empty() ||
            arguments.trials > 0 || arguments.steps >= 0 || !arguments.ties.empty() ||
            !arguments.choose.empty() || !arguments.choose_seeds.empty())
            throw InputError("RECIPE is required", "without it only the sweep in --out continues",
                             "sweep RECIPE --grid … --out DIR");
        return read_sweep_spec(folder);
    }
    std::vector<std::string> settings = arguments.settings;
    if (arguments.steps >= 0) settings.push_back("steps=" + std::to_string(arguments.steps));
    SweepSpec spec{recipe_text(arguments.recipe, settings), {}, {}};
    const Recipe base = parse_recipe(spec.recipe, arguments.recipe);
    for (const std::string& axis : arguments.grid) spec.grid.push_back(parse_sweep_axis(axis));
    if (!arguments.seeds.empty())
        spec.seeds = parse_seeds(arguments.seeds);
    else
        for (int i = 0; i < std::max(1, arguments.trials); ++i)
            spec.seeds.push_back(base.train.seed + static_cast<std::uint64_t>(i));
    for (const std::string& tie : arguments.ties) spec.ties.push_back(parse_sweep_tie(tie));
    spec.choice.keys = arguments.choose;
    if (!arguments.choose_seeds.empty()) {
        const std::vector<std::uint64_t> seeds = parse_seeds(arguments.choose_seeds);
        spec.choice.seeds = seeds.size();
        spec.seeds.insert(spec.seeds.begin(), seeds.begin(), seeds.end());
    }
    return spec;
}

SweepShard shard_of(const SweepArguments& arguments) {
    if (arguments.shard.empty()) return {};
    return arguments.shard == "auto" ? launched_shard([](const char* name) { return std::getenv(name); })
                                     : parse_shard(arguments.shard);
}

int sweep(const SweepArguments& arguments) {
    if (arguments.json && arguments.status.empty())
        throw InputError("--json", "is of --status alone", "results.csv has the results");
    if (!arguments.status.empty()) {
        print_status(arguments.status, arguments.json);
        return kDone;
    }
    if (arguments.out.empty()) throw InputError("--out is required", "no folder is given", "--out DIR");
    if (!arguments.merge.empty()) return merge(arguments);
    if (arguments.lists) {
        const auto number = arguments.list.empty() || arguments.list.front().empty()
                                ? std::nullopt
                                : std::optional(arguments.list.front());
        list_commands(spec_of(arguments, arguments.out), arguments.out, shard_of(arguments), number);
        return kDone;
    }
    listen_for_signals();
    stop_after(arguments.max_seconds);
    require_backend(arguments.backend);
    SweepOptions options;
    options.shard = shard_of(arguments);
    options.folder = arguments.shard == "auto" ? shard_folder(arguments.out, options.shard) : arguments.out;
    const SweepSpec spec = spec_of(arguments, options.folder);
    Device& device = device_named(arguments.backend);
    options.jobs = arguments.jobs;
    options.replicas = arguments.replicas;
    options.threads = arguments.threads;
    options.timed = !arguments.untimed;
    options.keep_weights = arguments.weights;
    options.stop = stop_wanted;
    SweepLines lines(options.folder);
    const SweepEnd end = run_sweep(spec, device, options, lines);
    if (end.count.ended < end.count.total) {
        print_error(options.folder + ": " + stopped_by() + ", " + std::to_string(end.count.ended) + " of " +
                    std::to_string(end.count.total) + " runs ended; the same command resumes");
        return kInterrupted;
    }
    print_end({spec, expand_sweep(spec), end.rows}, options.folder);
    return kDone;
}

}  // namespace

void add_sweep(CLI::App& program, Task& task) {
    auto arguments = std::make_shared<SweepArguments>();
    auto* command = program.add_subcommand(
        "sweep", "trains every combination of the values of some keys with every seed");
    command->footer(kHelp);
    const auto repeated = [&](const char* name, std::vector<std::string>& values, const char* text) {
        command->add_option(name, values, text)
            ->expected(1)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    };
    command->add_option("RECIPE", arguments->recipe,
                        "a recipe's path or a preset's name; without it the sweep in --out continues");
    command->add_option("--out", arguments->out, "folder of the sweep");
    repeated("--grid", arguments->grid, "KEY=VALUES, a key that varies; repeat for more keys");
    auto* trials = command->add_option("--trials", arguments->trials,
                                       "number of seeds, counted up from the recipe's (default 1)");
    trials->check(CLI::Range(1, 100'000));
    command->add_option("--seeds", arguments->seeds, "seeds FIRST:LAST, both included")->excludes(trials);
    repeated("--tie", arguments->ties,
             "KEY=VALUE,…: KEY=VALUE; …: settings of the runs with these values of the grid; repeat");
    repeated("--choose", arguments->choose,
             "a key of the grid whose best value each combination of the others chooses; repeat");
    command->add_option(
        "--choose-seeds", arguments->choose_seeds,
        "the seeds that choose, FIRST:LAST; the others are trained at the chosen values alone");
    repeated("--set", arguments->settings, "KEY=VALUE of the recipe, for all runs");
    command->add_option("--steps", arguments->steps, "steps of each run, also the length of the schedule")
        ->check(CLI::Range(0, 1'000'000'000));
    command->add_option(
        "--shard", arguments->shard,
        "I/N: every N-th run from the I-th, for N machines; auto: I and N of the Slurm array, Open "
        "MPI, PMI or Slurm step that starts this process, in OUT/shard-I-of-N");
    command->add_option("--jobs", arguments->jobs, "runs at a time; 0: as many as there are threads")
        ->check(CLI::Range(0, 1024));
    command->add_flag("--replicas", arguments->replicas,
                      "on a card: runs of equal shapes share the launches of their steps");
    add_backend_option(*command, arguments->backend);
    add_threads_option(*command, arguments->threads);
    add_max_seconds_option(*command, arguments->max_seconds);
    command->add_flag("--untimed", arguments->untimed, "leave the measured column `seconds` empty");
    command->add_flag("--weights", arguments->weights, "keep each run's last checkpoint in its session");
    command
        ->add_option("--merge", arguments->merge,
                     "folders of shards, or the folder that has them, put together in --out")
        ->expected(1, 10'000);
    auto* list = command->add_option("--list", arguments->list,
                                     "print the command of run I, or of every run, for another launcher");
    list->type_name("[I]")->expected(0, 1);
    command
        ->add_option("--status", arguments->status, "print what the folders of a sweep or of its shards have")
        ->type_name("DIR…")
        ->expected(1, 10'000);
    command->add_flag("--json", arguments->json, "--status as one JSON object");
    command->callback([arguments, list, &task] {
        arguments->lists = list->count() > 0;
        task = [arguments] { return sweep(*arguments); };
    });
}

}  // namespace normscope::app
