// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/json_number.h"
#include "app/cli/replayed.h"
#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/findings/run_difference_text.h"
#include "core/session/session.h"

#include <iostream>
#include <memory>
#include <utility>

namespace normscope::app {

namespace {

using nlohmann::ordered_json;

struct DiffOptions {
    std::string a, b, run_a, run_b;
    double tolerance = 0;  ///< 0: by the precision of the runs
    bool json = false;
};

RunData run_of(const std::string& path, const std::string& id, const char* option) {
    Session session = open_session(path);
    return std::move(chosen_run(session, path, id, option));
}

ordered_json place_json(const std::optional<DifferentPlace>& place) {
    if (!place) return nullptr;
    return {{"step", place->step},
            {"place", place->place},
            {"series", place->series},
            {"layer", place->layer},
            {"a", json_number(place->a)},
            {"b", json_number(place->b)},
            {"relative", json_number(place->relative)}};
}

std::string result_json(const RunDifference& found) {
    ordered_json json{{"version", 1},
                      {"equal", !found.first_bit},
                      {"tolerance", found.tolerance},
                      {"steps_compared", found.steps_compared},
                      {"recipe", ordered_json::array()},
                      {"first_bit", place_json(found.first_bit)},
                      {"first", place_json(found.first)},
                      {"growth", ordered_json::array()},
                      {"not_compared", found.not_compared}};
    for (const auto& key : found.recipe)
        json["recipe"].push_back({{"key", key.key}, {"a", key.a}, {"b", key.b}});
    for (const auto& at : found.growth)
        json["growth"].push_back(
            {{"step", at.step}, {"loss", json_number(at.loss)}, {"stream", json_number(at.stream)}});
    return json_text(json);
}

int run_diff(const DiffOptions& options) {
    const RunData a = run_of(options.a, options.run_a, "--run-a"),
                  b = run_of(options.b, options.run_b, "--run-b");
    const RunDifference found =
        difference_of(a, b, options.tolerance > 0 ? options.tolerance : rounding_tolerance(a, b));
    if (options.json)
        std::cout << result_json(found) << "\n";
    else
        std::cout << difference_text(found);
    return kDone;
}

}  // namespace

void add_diff(CLI::App& program, Task& task) {
    auto options = std::make_shared<DiffOptions>();
    auto* command = program.add_subcommand(
        "diff",
        "the first step and place at which two runs differ, and how far they are apart at later steps");
    command->add_option("A", options->a, "a recording or a session")->required();
    command->add_option("B", options->b, "another, or the same session")->required();
    command->add_option("--run-a", options->run_a, "which run of A, where it holds several");
    command->add_option("--run-b", options->run_b, "which run of B");
    command
        ->add_option("--tolerance", options->tolerance,
                     "relative difference that counts as rounding; by default 1e-12 for runs in FP64, 1e-6 "
                     "in FP32, 1e-2 in "
                     "narrower formats")
        ->check(CLI::PositiveNumber);
    command->add_flag("--json", options->json, "one JSON object");
    command->callback([options, &task] { task = [options] { return run_diff(*options); }; });
}

}  // namespace normscope::app
