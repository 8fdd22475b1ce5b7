// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/remedies.h"

#include "app/cli/command.h"
#include "app/cli/files.h"
#include "core/backend/devices/devices.h"
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/strict_json.h"
#include "core/findings/headline.h"
#include "core/run/checkpoints/replay.h"
#include "core/run/complete_run.h"
#include "core/run/draft.h"
#include "core/run/shown_remedies.h"
#include "core/session/session.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace normscope::app {

namespace {

using nlohmann::json;

struct RemediesOptions {
    std::string target, run, backend = "auto";
    std::vector<std::string> settings;
    int threads = 0;
    bool json = false, try_all = false;
};

/// A remedy, its draft, and of --try-all its whole run.
struct Trial {
    Remedy remedy;
    DraftResult draft;
    std::optional<RunData> whole;
    std::string failed;  ///< why there is no whole run, in one line
};

RunData recorded_run(const RemediesOptions& options) {
    if (!options.settings.empty())
        throw InputError(options.target, "is a recorded run, --set has no effect", "a recipe, or no --set");
    std::string ids;
    for (RunData& run : open_session(options.target).runs) {
        if (options.run.empty() ? has_failed(run.outcome) : run.id == options.run) return std::move(run);
        ids += (ids.empty() ? "" : ", ") + run.id + " (" + run_state_word(run.outcome.state) + ")";
    }
    throw InputError(options.target,
                     options.run.empty() ? "has no run that diverged, collapsed or stalled"
                                         : "has no run \"" + options.run + "\"",
                     "one of " + ids);
}

/// JSON has no NaN.
json finite(double value) {
    return std::isfinite(value) ? json(value) : json(number_text(value));
}

json list(const std::vector<double>& values) {
    json all = json::array();
    for (const double v : values) all.push_back(finite(v));
    return all;
}

json trial_json(const Trial& trial, bool shown) {
    const DraftResult& draft = trial.draft;
    json line = {{"id", trial.remedy.id},
                 {"name", trial.remedy.name},
                 {"kind", remedy_kind_word(trial.remedy.kind)},
                 {"change", trial.remedy.sentence},
                 {"reason", trial.remedy.reason},
                 {"enough", draft.enough},
                 {"shown", shown},
                 {"why_not", draft.why_not},
                 {"gain", finite(draft.gain)},
                 {"gain_error", finite(draft.error)},
                 {"steps", draft.first.loss.size()},
                 {"loss", finite(draft.loss)},
                 {"gradient", finite(draft.gradient)},
                 {"losses", list(draft.first.loss)},
                 {"gradients", list(draft.first.gradient)}};
    if (!trial.failed.empty()) line["whole"] = {{"error", trial.failed}};
    if (trial.whole) {
        const FinalValues values = final_values(*trial.whole);
        line["whole"] = {{"state", run_state_word(trial.whole->outcome.state)},
                         {"text", trial.whole->outcome.text},
                         {"steps", values.rows},
                         {"loss", finite(values.loss)},
                         {"loss_error", finite(values.loss_error)},
                         {"gradient", finite(values.gradient)}};
    }
    return line;
}

/// Without remedies. `control`: null for a run that did not fail, and has none.
json json_of(const RunData& run, const char* control) {
    const Headline title = headline(run);
    const FirstSteps own = first_steps(run, draft_steps(*run.recipe.get()));
    return {{"run", run.name},
            {"state", run_state_word(run.outcome.state)},
            {"headline", title.title},
            {"measured", title.measured},
            {"began", title.began},
            {"gradient", title.gradient},
            {"control", control ? json(control) : json(nullptr)},
            {"losses", list(own.loss)},
            {"gradients", list(own.gradient)},
            {"remedies", json::array()}};
}

/// A cell of a table, filled up to a width in characters, not bytes.
std::string cell(const std::string& text, std::size_t width) {
    std::size_t characters = 0;
    for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return text + std::string(characters < width ? width - characters : 1, ' ');
}

void print_draft(const Trial& trial, bool shown) {
    const DraftResult& draft = trial.draft;
    std::cout << "  " << cell(shown ? "*" : "", 2) << cell(trial.remedy.name, 16);
    if (draft.first.loss.empty()) {
        std::cout << draft.why_not << "\n";
        return;
    }
    std::cout << cell(std::to_string(draft.first.loss.size()), 7) << cell(number_text(draft.gain), 10)
              << cell(number_text(draft.loss, 3), 8) << cell(number_text(draft.gradient), 10)
              << trial.remedy.sentence << (draft.enough ? "" : ": " + draft.why_not) << "\n";
    if (draft.enough && !trial.remedy.reason.empty())
        std::cout << "    measured: " << trial.remedy.reason << "\n";
}

void print_run(const Trial& trial) {
    std::cout << "  " << cell(trial.remedy.name, 19);
    if (!trial.whole) {
        std::cout << trial.failed << "\n";
        return;
    }
    const FinalValues values = final_values(*trial.whole);
    std::cout << cell(run_state_word(trial.whole->outcome.state), 11)
              << cell(number_text(values.loss, 3) + " ± " + number_text(values.loss_error, 1), 16)
              << number_text(values.gradient) << "\n";
}

/// What the gains are over, a sentence.
const char* control_sentence(const DraftControl& control) {
    const DraftControl::Kind kind = control.kind;
    if (!control.loss_can_fall())
        return "No loss falls in so few steps of this text, where frequencies give no more than a uniform "
               "guess: the gradient alone decides";
    if (kind == DraftControl::Kind::Slow)
        return "Gain: by how much more the loss dropped in the draft than in the run itself, and at most by "
               "how much "
               "below a uniform guess";
    if (kind == DraftControl::Kind::Later)
        return "The run failed after these steps: the drafts end before that, and no gain over it is "
               "required";
    return "Gain: how much lower the loss ends than that of the run itself in the same steps, and at most by "
           "how "
           "much it dropped in the draft";
}

void print(const RunData& run, const DraftControl& control, const std::vector<Trial>& trials,
           const std::set<std::size_t>& shown) {
    const Headline title = headline(run);
    std::cout << run.name << ": " << title.title << "\n  " << title.measured << "\n";
    for (const std::string& sentence : {title.began, title.gradient})
        if (!sentence.empty()) std::cout << "  " << sentence << "\n";
    const std::string layers = "gradient, layer 1 over " + std::to_string(run.recipe.get()->stack.depth);
    std::cout << "Drafts, not ranked: steps, gain in nat, loss in nat, " << layers << "\n"
              << "  " << control_sentence(control) << "\n";
    bool enough = false;
    for (std::size_t i = 0; i < trials.size(); ++i)
        if (trials[i].draft.enough) {
            print_draft(trials[i], shown.count(i) > 0);
            enough = true;
        }
    if (enough) std::cout << "  * shown in the window: of each kind of change the largest gain\n";
    if (std::any_of(trials.begin(), trials.end(), [](const Trial& trial) { return !trial.draft.enough; }))
        std::cout << "Not enough\n";
    for (const Trial& trial : trials)
        if (!trial.draft.enough) print_draft(trial, false);
    if (trials.empty() || !(trials.front().whole || !trials.front().failed.empty())) return;
    std::cout << "Whole runs: outcome, loss of the last 20 steps ± its standard error, " << layers << "\n";
    for (const bool first : {true, false})
        for (const Trial& trial : trials)
            if (trial.draft.enough == first) print_run(trial);
}

int run_remedies(const RemediesOptions& options) {
    require_backend(options.backend);
    ThreadPool pool(options.threads);
    Corpora corpora;
    const bool recorded = is_hdf5(options.target);
    Device& device = device_named(options.backend);
    const RunData run = [&] {
        if (recorded) return recorded_run(options);
        const Recipe recipe = read_recipe(options.target, options.settings);
        return complete_run(recipe, default_run_name(recipe), pool, &corpora, device);
    }();
    if (!has_failed(run.outcome)) {
        if (options.json)
            std::cout << json_text(json_of(run, nullptr), 2) << "\n";
        else
            std::cout << run.name << " " << run_state_word(run.outcome.state) << ": " << run.outcome.text
                      << "; remedies are for runs that diverged, collapsed or stalled\n";
        return kDone;
    }
    const std::string obstacle = remedies_obstacle(run);
    if (!obstacle.empty()) throw InputError(options.target + ": remedies cannot be tried: " + obstacle);

    std::vector<Remedy> tried = remedies(*run.recipe.get(), run);
    std::int64_t longest = draft_steps(*run.recipe.get());
    for (const Remedy& remedy : tried) longest = std::max(longest, draft_steps(remedy.recipe));
    const DraftControl control = control_of(run, longest);
    std::vector<std::optional<DraftResult>> drafts;
    for (const Remedy& remedy : tried)
        drafts.emplace_back(draft(remedy.recipe, control, pool, &corpora, device));
    const std::vector<std::size_t> indices = shown_remedies(tried, drafts);
    const std::set<std::size_t> shown(indices.begin(), indices.end());
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < tried.size(); ++i)
        trials.push_back({std::move(tried[i]), std::move(*drafts[i]), {}, {}});
    for (Trial& trial : trials) {
        if (!options.try_all) break;
        Recipe recipe = trial.remedy.recipe;
        recipe.probes = {{"gradients", recipe.train.steps + 1}};  // the table needs the steps alone
        try {
            trial.whole = complete_run(recipe, trial.remedy.name, pool, &corpora, device);
        } catch (const InputError& error) {
            trial.failed = error.what();
        }
    }
    if (!options.json) {
        print(run, control, trials, shown);
        return kDone;
    }
    json out = json_of(run, control_word(control.kind));
    for (std::size_t i = 0; i < trials.size(); ++i)
        out["remedies"].push_back(trial_json(trials[i], shown.count(i) > 0));
    std::cout << json_text(out, 2) << "\n";
    return kDone;
}

}  // namespace

void add_remedies(CLI::App& program, Task& task) {
    auto options = std::make_shared<RemediesOptions>();
    auto* command = program.add_subcommand("remedies",
                                           "why a run failed, and changes of its recipe whose drafts of 16 "
                                           "steps or more gain over it, not ranked");
    command
        ->add_option("TARGET", options->target,
                     "a recipe's path or a preset's name, which is trained first; or a recorded run")
        ->required();
    command->add_option("--run", options->run,
                        "of a session: the id of the run; default: the first that failed");
    command->add_option("--set", options->settings, "KEY=VALUE of the recipe, e.g. stack.depth=24")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command->add_flag("--try-all", options->try_all, "train every remedy to its end and print the outcomes");
    command->add_flag("--json", options->json, "one JSON object, with the curves of the drafts");
    add_backend_option(*command, options->backend);
    add_threads_option(*command, options->threads);
    command->callback([options, &task] { task = [options] { return run_remedies(*options); }; });
}

}  // namespace normscope::app
