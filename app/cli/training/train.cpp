// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/files.h"
#include "app/cli/stop.h"
#include "app/cli/training/progress.h"
#include "app/cli/training/rank_group.h"
#include "app/cli/training/run_result.h"
#include "app/cli/training/train_options.h"
#include "app/cli/warn.h"
#include "core/backend/devices/devices.h"
#include "core/base/error.h"
#include "core/run/checkpoints/kept_checkpoints.h"
#include "core/run/checkpoints/run_file.h"
#include "core/run/interventions/interventions.h"
#include "core/run/memory_need.h"
#include "core/run/probe_steps.h"
#include "core/run/probes_preset.h"
#include "core/run/recording.h"
#include "core/run/watched_step.h"
#include "core/run/watchpoints.h"
#include "core/session/named_arrays.h"
#include "core/session/session.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace normscope::app {

namespace {

using namespace std::chrono_literals;

constexpr auto kCheckpointInterval = 5s;
constexpr auto kPatience = 30s;  ///< of a rank with the leader's last checkpoint

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

/// Runs until the end, a signal or, where it is to stop there, a watchpoint: of any rank.
void drive(Run& run, ThreadPool& pool, RankGroup& ranks, const std::function<std::string()>& watched) {
    run.begin();
    try {
        do {
            run.advance(pool, run.experiment().steps_a_call());
            const std::string at_watch = watched();
            const bool stops = stop_wanted();
            const RankGroup::Wanted wanted =
                ranks.agree({stops || !at_watch.empty(), ranks.shards_optimizer() && run.checkpoint_due()});
            if (!wanted.stops) {
                if (wanted.checkpoint && !run.ended()) run.save();
                continue;
            }
            const std::string why = stops              ? stopped_by()
                                    : at_watch.empty() ? "stopped by another rank"
                                                       : "watch: " + at_watch;
            run.interrupt(why, why);
        } while (!run.ended());
    } catch (const LostRank& lost) {
        run.interrupt(lost.what(), lost.what());
        throw;
    }
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

/// What is ready before a run starts.
struct Prepared {
    std::optional<Resumption> resumed;
    std::unique_ptr<ThreadPool> pool;
    std::unique_ptr<Experiment> experiment;  ///< null where the run has ended
    RunStart start;
    std::shared_ptr<const RunData> header;
    std::string recipe;  ///< as text, before another rank's probes are removed
};

/// Of the rank that records, or of another one, which measures nothing and writes no file.
Prepared prepared(const TrainOptions& options, Progress& progress, RankGroup& ranks) {
    Prepared made;
    const bool leads = ranks.leads();
    require_backend(options.backend);
    if (leads) require_writable(options.out, {options.recipe, options.weights});
    Recipe recipe = read_options(options);
    auto corpus = complete_and_validate(recipe);
    if (leads) require_free_for_run(options.out);
    made.recipe = recipe_json(recipe);
    progress.set_steps(recipe.train.steps);
    if (!options.probes.empty() || !options.only.empty())
        use_probes(recipe, options.probes, options.only, progress);

    auto& resumed = made.resumed;
    if (options.resume) resumed = find_resumption(options.out, recipe);
    if (resumed && resumed->ended) return made;
    const bool resumes = resumed && resumed->checkpoint;
    if (options.resume && !resumes)
        progress.note(options.out + ": no checkpoint to resume from, starting at step 0");

    made.pool = std::make_unique<ThreadPool>(options.threads);
    const std::string backend = ranks.backend(options.backend);
    Device& device = device_named(backend);
    require_device(recipe, made.pool->threads(), device, ranks.share());
    if (!leads) {
        // It takes part where the first measures an update with the state of all.
        std::erase_if(recipe.probes, [&](const ProbePlan& plan) {
            return !ranks.shards_optimizer() || plan.id != kUpdatesProbe;
        });
        recipe.watch.clear();
        recipe.train.validate_every = recipe.train.checkpoint_every = 0;
    }
    made.experiment =
        std::make_unique<Experiment>(recipe, "a", default_run_name(recipe), std::move(corpus), device);
    Experiment& built = *made.experiment;
    if (Communicator* const together = ranks.communicator(backend))
        built.join(*together, {ranks.shards_optimizer() ? OptimizerState::InParts : OptimizerState::Whole,
                               options.sum_by_rank ? RankSum::ByRank : RankSum::ByShard});
    RunStart& start = made.start;
    start.asked_for_checkpoints = ranks.shards_optimizer();
    if (resumes) {
        start.checkpoint = std::make_shared<const Checkpoint>(std::move(*resumed->checkpoint));
        start.events.push_back({start.checkpoint->step, "resume",
                                "from the checkpoint of this step" +
                                    change_of_device(resumed->history, device.capabilities().backend)});
        const RunData now = built.header();
        resumed->history.backend = now.backend;
        resumed->history.device = now.device;
        made.header = start.history = std::make_shared<const RunData>(std::move(resumed->history));
        progress.recorded(*made.header);
        return made;
    }
    if (!options.weights.empty()) {
        built.load_weights(read_named_arrays(options.weights, "/params"), options.weights + ": /params");
        start.events.push_back({0, "weights", "from " + options.weights});
        start.given_weights = true;
    }
    made.header = std::make_shared<const RunData>(built.header());
    return made;
}

/// What the ranks of a run have in common.
std::string common_words(const Prepared& made, const std::string& rules) {
    const Resumption* const resumed = made.resumed ? &*made.resumed : nullptr;
    const std::string from = made.start.checkpoint       ? std::to_string(made.start.checkpoint->step)
                             : resumed && resumed->ended ? "ended"
                                                         : "new";
    const bool on_cpu = !made.experiment || made.experiment->device().capabilities().host_readable;
    return std::string(NORMSCOPE_VERSION) + (on_cpu ? " cpu " : " card ") + rules + from + " " + made.recipe;
}

/// A run that had ended: what it has is printed, in the form of a session.
int show_ended(const TrainOptions& options, Progress& progress, Resumption& resumed) {
    if (!resumed.saved) save_as_session(options.out, resumed.view_json, std::move(resumed.checkpoint));
    CheckpointPair(options.out).remove();
    progress.recorded(resumed.history);
    const Outcome& outcome = resumed.history.outcome;
    progress.end(outcome, static_cast<std::int64_t>(resumed.history.steps.rows()), options.out,
                 result_of(options, outcome));
    return exit_code(outcome.state, options);
}

/// A rank that another one leads: the same steps, of which nothing is kept.
int follow(const TrainOptions& options, const Prepared& made, RankGroup& ranks) {
    Experiment& experiment = *made.experiment;
    if (made.start.checkpoint) experiment.restore(*made.start.checkpoint);
    const bool has_steps = experiment.recipe().train.steps > 0;
    for (bool ended = false; !ended;) {
        if (has_steps) experiment.advance(*made.pool, experiment.steps_a_call());
        ended = !has_steps || experiment.ended();
        // The first rank saves at the end, where one of them stops, and where it is due.
        if (ended) experiment.collect_state();
        const RankGroup::Wanted wanted = ranks.agree({stop_wanted(), false});
        if (ended) break;
        if (wanted.stops || wanted.checkpoint) experiment.collect_state();
        if (wanted.stops) return kInterrupted;
    }
    return exit_code(experiment.outcome().state, options);
}

int lead(const TrainOptions& options, Progress& progress, Prepared made, RankGroup& ranks) {
    // Checkpoints of an earlier run must not be mistaken for this one's.
    if (!made.start.checkpoint) CheckpointPair(options.out).remove();
    const Device& device = made.experiment->device();
    const std::string name = default_run_name(made.experiment->recipe());
    Recording recording(options.out, std::move(made.header));
    Outlet outlet(recording, progress, made.experiment->recipe().train);
    Run run(std::move(made.experiment), std::move(made.start), outlet, kCheckpointInterval);
    const Experiment& experiment = run.experiment();
    progress.begin(name, options.out, experiment.steps_done());
    Warner warner;
    warner.show(experiment.warnings());

    bool lost = false;
    try {
        drive(run, *made.pool, ranks,
              [&] { return options.stop_at_watch ? outlet.watched() : std::string(); });
        recording.close();
    } catch (const LostRank&) {
        recording.close();
        lost = true;
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
        print_error(options.out + ": " + (lost ? outcome.text + ", " : "") + "interrupted at step " +
                    std::to_string(outcome.step) + ", --resume continues" +
                    (lost && ranks.shards_optimizer() ? " from the last checkpoint" : ""));
        if (lost) ranks.abort(kInterrupted);
        return kInterrupted;
    }
    save_as_session(options.out, made.resumed ? made.resumed->view_json : "", experiment.checkpoint(),
                    outlet.kept().all());
    progress.end(outcome, experiment.steps_done(), options.out, result_of(options, outcome));
    const int code = exit_code(outcome.state, options);
    if (lost) ranks.abort(code);  // after the last step: the others end by themselves, but not together
    return code;
}

int train(const TrainOptions& options, Progress& progress, RankGroup& ranks) {
    Prepared made;
    ranks.prepare([&] {
        made = prepared(options, progress, ranks);
        return common_words(made, std::string(ranks.shards_optimizer() ? "in parts " : "") +
                                      (options.sum_by_rank ? "by rank " : ""));
    });
    if (!made.experiment) {
        if (ranks.leads()) return show_ended(options, progress, *made.resumed);
        return exit_code(made.resumed->history.outcome.state, options);
    }
    if (ranks.any(stop_wanted())) {  // what was recorded is as it was
        if (!ranks.leads()) return kInterrupted;
        const Outcome outcome{RunState::Interrupted, 0, stopped_by(), -1};
        progress.end(outcome, 0, options.out, result_of(options, outcome));
        print_error(options.out + ": " + stopped_by() + " before a step was made; the same command resumes");
        return kInterrupted;
    }
    ranks.connect();
    return ranks.leads() ? lead(options, progress, std::move(made), ranks) : follow(options, made, ranks);
}

/// The last line of --json of a run that failed.
void show_failure(const TrainOptions& options, Progress& progress, const std::exception& error) {
    if (!options.json) return;
    const Outcome failed{RunState::Failed, 0, error.what(), -1};
    progress.end(failed, 0, options.out, result_of(options, failed));
}

int train_in_ranks(const TrainOptions& options, Progress& progress, RankGroup& ranks) {
    try {
        const int code = train(options, progress, ranks);
        ranks.close();
        return code;
    } catch (const std::exception& error) {
        const int code = dynamic_cast<const InputError*>(&error) ? kWrongInput : kFailed;
        if (ranks.alone()) {  // all have it, and one reports it
            if (ranks.leads()) throw;
            return code;
        }
        if (!ranks.leads() && dynamic_cast<const LostRank*>(&error)) {
            // A launcher kills all ranks soon after one has ended: the leader has its checkpoint to write,
            // and ends this one then.
            std::this_thread::sleep_for(kPatience);
            std::_Exit(kInterrupted);
        }
        if (ranks.leads() && code != kWrongInput) show_failure(options, progress, error);
        print_error(ranks.name() + error.what());
        ranks.abort(code);
    }
}

int run_train(const TrainOptions& options) {
    listen_for_signals();
    stop_after(options.max_seconds);
    Progress progress(options.json, options.report_every);
    try {
        if (options.sum_by_rank && options.ranks.empty())
            throw InputError("--sum-by-rank", "there is one process", "with --ranks");
        RankGroup ranks(options.ranks, options.shard_optimizer);
        if (!ranks.leads()) progress.mute();
        return ranks.alone() ? train(options, progress, ranks) : train_in_ranks(options, progress, ranks);
    } catch (const InputError&) {
        throw;  // nothing ran: exit code 2 and one line
    } catch (const std::exception& error) {
        show_failure(options, progress, error);
        throw;
    }
}

}  // namespace

void add_train(CLI::App& program, Task& task) {
    auto options = std::make_shared<TrainOptions>();
    auto* command = program.add_subcommand("train", "trains a recipe and records the run");
    add_train_options(*command, *options);
    command->callback([options, &task] { task = [options] { return run_train(*options); }; });
}

}  // namespace normscope::app
