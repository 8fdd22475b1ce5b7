// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/json_number.h"
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/strict_json.h"
#include "core/findings/healthy_band.h"
#include "core/findings/healthy_runs.h"
#include "core/sweep/statistics/interval.h"

#include <iostream>
#include <memory>

namespace normscope::app {

namespace {

using nlohmann::ordered_json;

struct BandOptions {
    std::vector<std::string> healthy, runs;
    double rate = 0.05;
    bool json = false;
};

ordered_json outside_json(const std::optional<OutsideBand>& outside) {
    if (!outside) return nullptr;
    return {{"step", outside->step},   {"series", outside->series},
            {"place", outside->place}, {"value", json_number(outside->value)},
            {"low", outside->low},     {"middle", outside->middle},
            {"high", outside->high},   {"score", json_number(outside->score)}};
}

std::string outside_text(const OutsideBand& outside) {
    return "outside since step " + std::to_string(outside.step) + ": " + outside.series +
           (outside.place.empty() ? "" : ", " + outside.place) + ", is " + number_text(outside.value) +
           ", healthy " + number_text(outside.low) + " to " + number_text(outside.high);
}

int run_bands(const BandOptions& options) {
    const HealthyBand band(healthy_runs(options.healthy), options.rate);
    const std::string shares = number_text(100 * band.false_alarm_rate()) + " %";
    ordered_json json{{"version", 1},
                      {"healthy_runs", band.runs()},
                      {"steps", band.steps()},
                      {"numbers", band.numbers()},
                      {"false_alarm_rate", band.false_alarm_rate()},
                      {"runs", ordered_json::array()}};
    if (!options.json)
        std::cout << "band of " << band.runs() << " healthy runs: " << band.numbers() << " numbers at "
                  << band.steps() << " steps; of further runs of the same recipe about " << shares
                  << " would be outside\n";
    std::vector<double> leads;
    std::size_t outside = 0;
    const std::vector<NamedRun> judged = runs_of_files(options.runs);
    for (const auto& [where, run] : judged) {
        if (band.compared(run) == 0)
            throw InputError(where, "has no step in common with the healthy runs", "runs of the same steps");
        const auto first = band.outside(run), loss = band.loss_outside(run);
        outside += first.has_value();
        if (first && loss) leads.push_back(static_cast<double>(loss->step - first->step));
        if (options.json) {
            json["runs"].push_back({{"run", where},
                                    {"steps_compared", band.compared(run)},
                                    {"outside", outside_json(first)},
                                    {"loss_outside", outside_json(loss)}});
            continue;
        }
        std::cout << where << ": " << (first ? outside_text(*first) : "inside") << "\n";
        if (loss) std::cout << "  loss " << outside_text(*loss) << "\n";
    }
    std::optional<Interval> lead;
    if (leads.size() > 1) lead = student_interval(leads);
    json["outside"] = outside;
    json["lead"] = lead ? ordered_json{{"runs", leads.size()},
                                       {"mean", lead->mean},
                                       {"low", lead->low},
                                       {"high", lead->high}}
                        : ordered_json(nullptr);
    if (options.json) {
        std::cout << json_text(json) << "\n";
        return kDone;
    }
    std::cout << outside << " of " << judged.size() << " runs outside\n";
    if (lead)
        std::cout << "steps before the loss left its own band: " << number_text(lead->mean)
                  << " in the mean, 95 % interval " << number_text(lead->low) << " to "
                  << number_text(lead->high) << " (" << leads.size() << " runs)\n";
    return kDone;
}

}  // namespace

void add_bands(CLI::App& program, Task& task) {
    auto options = std::make_shared<BandOptions>();
    auto* command = program.add_subcommand(
        "bands",
        "whether the values of runs are those of a group of runs that finished, and since which step not");
    command->add_option("RUNS", options->runs, "sessions, recordings, or folders of them")->required();
    command
        ->add_option(
            "--healthy", options->healthy,
            "the group: 8 runs or more that finished, as files or folders; runs of the same steps and probes")
        ->required();
    command
        ->add_option(
            "--rate", options->rate,
            "the share of healthy runs that may be called outside; default 0.05, at least 1 in n + 1")
        ->check(CLI::Range(0.0, 0.5));
    command->add_flag("--json", options->json, "one JSON object");
    command->callback([options, &task] { task = [options] { return run_bands(*options); }; });
}

}  // namespace normscope::app
