// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/files.h"
#include "app/cli/json_number.h"
#include "app/cli/replayed.h"
#include "app/cli/run_checkpoint.h"
#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/claims/claims.h"
#include "core/claims/initial_input.h"
#include "core/session/session.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

namespace normscope::app {

namespace {

struct CheckOptions {
    std::string subject, run;
    std::vector<std::string> only, settings;
    bool json = false;
    int threads = 0;
};

/// What is checked, and the recording that it comes from.
struct Checked {
    std::optional<RunData> run;
    std::unique_ptr<ClaimInput> input;
};

RunData chosen_run(const std::string& path, const std::string& id) {
    Session session = open_session(path);
    for (RunData& run : session.runs)
        if (id.empty() || run.id == id) return std::move(run);
    throw InputError(path, "holds no run \"" + id + "\"", "--run with one of its runs");
}

Checked opened(const CheckOptions& options, ThreadPool& pool) {
    const auto [path, step] = split_step(options.subject);
    Checked checked;
    if (!is_hdf5(path)) {
        checked.input = initial_claim_input(read_recipe(options.subject, options.settings), pool);
        return checked;
    }
    if (!options.settings.empty())
        throw InputError("--set", "is given, but a run has its own recipe", "only with a recipe");
    std::ostream none(nullptr);  // JSON is alone on stdout
    std::ostream& progress = options.json ? none : std::cout;
    const RunCheckpoint at = step ? run_at_step(path, options.run, *step, pool, progress)
                                  : newest_run_checkpoint(path, options.run);
    checked.run = chosen_run(path, options.run);
    checked.input = recorded_claim_input(at, path, pool, *checked.run);
    return checked;
}

nlohmann::ordered_json json_row(const Claim& claim, const ClaimResult& result) {
    return {{"id", claim.id},
            {"paper", claim_paper(claim)},
            {"number", claim.number},
            {"claim", claim.statement},
            {"verdict", claim_verdict_word(result.verdict)},
            {"expected", claim_verdict_word(claim.expected)},
            {"value", json_number(result.value)},
            {"bound", json_number(result.bound)},
            {"residual", json_number(result.residual)},
            {"samples", result.samples},
            {"knob", claim.knob},
            {"detail", result.detail}};
}

std::string table_row(const Claim& claim, const ClaimResult& result) {
    char value[32] = "-", row[96];
    if (!std::isnan(result.value)) std::snprintf(value, sizeof value, "%.4g", result.value);
    std::snprintf(row, sizeof row, "%-4s %-14s %-14s %11s  ", claim.id, claim_verdict_word(result.verdict),
                  claim_verdict_word(claim.expected), value);
    return row + std::string(claim.statement) + " | " + result.detail;
}

int check(const CheckOptions& options) {
    const auto selected = selected_claims(options.only, "--only");
    ThreadPool pool(options.threads);
    const Checked checked = opened(options, pool);
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    std::map<std::string, int> counts;
    if (!options.json) std::cout << "id   verdict        expected             value  claim | detail\n";
    for (const Claim* claim : selected) {
        const ClaimResult result = check_claim(*claim, *checked.input);
        ++counts[claim_verdict_word(result.verdict)];
        if (options.json)
            rows.push_back(json_row(*claim, result));
        else
            std::cout << table_row(*claim, result) << std::endl;
    }
    if (options.json) {
        std::cout << json_text(rows, 2) << "\n";
        return kDone;
    }
    std::string summary;
    for (const auto& [verdict, count] : counts)
        summary += (summary.empty() ? "" : ", ") + std::to_string(count) + " " + verdict;
    std::cout << options.subject << ": " << selected.size() << " claims, " << summary << "\n";
    return kDone;
}

}  // namespace

void add_check(CLI::App& program, Task& task) {
    auto options = std::make_shared<CheckOptions>();
    auto* command = program.add_subcommand(
        "check", "measures the statements of the papers on a stack: a verdict and numbers for each");
    command
        ->add_option(
            "RECIPE|RUN.h5[@STEP]", options->subject,
            "a recipe or a preset's name, at its initial weights; or a run at its newest checkpoint or "
            "at a step. Statements about another scheme are measured on the same stack with that "
            "scheme, at step 0")
        ->capture_default_str();
    command
        ->add_option("--only", options->only,
                     "ids and papers' letters, separated by commas: E01,N. E Emadi, N the null-space note, G "
                     "GPAS, B Baek, K Kan et al.")
        ->delimiter(',');
    command->add_flag(
        "--json", options->json,
        "a list of {id, paper, number, claim, verdict, expected, value, bound, residual, samples, "
        "knob, detail}; null where a claim has no such number");
    command->add_option("--set", options->settings, "KEY=VALUE of the recipe, e.g. stack.depth=24")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command->add_option("--run", options->run, "which run of a session that holds several");
    add_threads_option(*command, options->threads);
    options->subject = "pre-ln";
    command->callback([options, &task] { task = [options] { return check(*options); }; });
}

}  // namespace normscope::app
