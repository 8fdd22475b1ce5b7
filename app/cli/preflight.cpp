// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/preflight/preflight.h"

#include "app/cli/json_number.h"
#include "app/cli/preflight.h"
#include "app/cli/window_program.h"
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/strict_json.h"
#include "core/preflight/report_ending.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>

namespace normscope::app {

namespace {

struct PreflightOptions {
    std::string recipe, out;
    std::vector<std::string> settings;
    bool json = false;
    int threads = 0;
};

nlohmann::ordered_json json_of(const Preflight& preflight) {
    const Recipe& recipe = preflight.run.recipe.value("preflight");
    nlohmann::ordered_json sections = nlohmann::ordered_json::array();
    for (const PreflightSection& section : preflight.sections) {
        nlohmann::ordered_json rows = nlohmann::ordered_json::array();
        for (const PreflightRow& row : section.rows)
            rows.push_back({{"name", row.name},
                            {"value", json_number(row.value)},
                            {"theory", preflight_theory_word(row.theory)},
                            {"bound", json_number(row.bound)},
                            {"unit", row.unit},
                            {"word", row.word},
                            {"validity", row.validity},
                            {"sentence", row.sentence}});
        sections.push_back({{"id", section.id}, {"title", section.title}, {"rows", std::move(rows)}});
    }
    return {{"name", preflight.run.name},
            {"seed", preflight.run.seed},
            {"scheme", scheme_row(recipe.stack.scheme).word},
            {"depth", recipe.stack.depth},
            {"width", recipe.stack.d_model},
            {"parameters", preflight.parameters},
            {"sampled", preflight.sampled},
            {"sections", std::move(sections)}};
}

void print_row(const PreflightRow& row) {
    std::string value = row.word;
    if (!std::isnan(row.value)) {
        value += (value.empty() ? "" : ", ") + plain_number(row.value);
        if (row.unit != "1") value += " " + row.unit;
    }
    if (!std::isnan(row.bound))
        value += ", " + std::string(preflight_theory_word(row.theory)) + " " + plain_number(row.bound);
    std::cout << "  " << row.name << ": " << (value.empty() ? "-" : value) << "\n";
    std::string note = row.sentence;
    if (!row.validity.empty()) note += (note.empty() ? "(" : " (") + row.validity + ")";
    if (!note.empty()) std::cout << "      " << note << "\n";
}

void print(const Preflight& preflight) {
    const Recipe& recipe = preflight.run.recipe.value("preflight");
    std::cout << preflight.run.name << ", seed " << preflight.run.seed << ": scheme "
              << scheme_row(recipe.stack.scheme).word << ", depth " << recipe.stack.depth << ", width "
              << recipe.stack.d_model << ", " << preflight.parameters << " parameters\n"
              << "step 0, no training; held out: " << preflight.sampled << "\n";
    int number = 0;
    for (const PreflightSection& section : preflight.sections) {
        std::cout << "\n" << ++number << " " << section.title << "\n";
        for (const PreflightRow& row : section.rows) print_row(row);
    }
}

/// A report has figures, which the window's program draws; it checks the ending first of all.
int write_report(const PreflightOptions& options) {
    std::vector<std::string> words{"preflight", options.recipe, "--out",
                                   options.out, "--threads",    std::to_string(options.threads)};
    for (const std::string& setting : options.settings) words.insert(words.end(), {"--set", setting});
    return run_window_program("preflight: --out", words);
}

int preflight_command(const PreflightOptions& options) {
    if (!options.out.empty()) {
        if (options.json) throw InputError("--json", "is given with --out", "one of them");
        report_format(options.out);
        return write_report(options);
    }
    ThreadPool pool(options.threads);
    const Preflight result = preflight(read_recipe(options.recipe, options.settings), pool);
    if (options.json)
        std::cout << json_text(json_of(result), 2) << "\n";
    else
        print(result);
    return kDone;
}

}  // namespace

void add_preflight(CLI::App& program, Task& task) {
    auto options = std::make_shared<PreflightOptions>();
    auto* command = program.add_subcommand(
        "preflight", "what theory and one measurement at step 0 give for a stack, without training");
    command
        ->add_option("RECIPE", options->recipe,
                     "a recipe or a preset's name, measured at its initial weights")
        ->capture_default_str();
    command->add_option("--set", options->settings, "KEY=VALUE of the recipe, e.g. stack.depth=24")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command->add_flag(
        "--json", options->json,
        "{name, seed, scheme, depth, width, parameters, sampled, sections: [{id, title, rows: [{name, "
        "value, theory, bound, unit, word, validity, sentence}]}]}; null where there is no number");
    command->add_option(
        "--out", options->out,
        "instead of text, a page with figures: REPORT.pdf or REPORT.html, drawn by the program "
        "normscope in the same folder or the one above");
    add_threads_option(*command, options->threads);
    options->recipe = "pre-ln";
    command->callback([options, &task] { task = [options] { return preflight_command(*options); }; });
}

}  // namespace normscope::app
