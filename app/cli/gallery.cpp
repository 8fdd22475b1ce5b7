// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gallery/gallery.h"

#include "app/cli/command.h"
#include "app/cli/json_number.h"
#include "app/cli/stop_signal.h"
#include "app/cli/sweep_lines.h"
#include "core/backend/devices/devices.h"
#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/gallery/findings.h"
#include "core/sweep/sweep.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

namespace normscope::app {

namespace {

struct GalleryArguments {
    std::vector<std::string> ids;
    std::string out, backend = "auto";
    bool all = false, json = false, dry = false;
    int jobs = 0, threads = 0;
};

constexpr const char* kHelp =
    "Without ID: the list. With IDs and --out each entry is a sweep that is trained into DIR/ID, as `sweep`\n"
    "does; the same command resumes it. Then its measures: the effect with its 95 % interval over the "
    "seeds,\n"
    "next to the paper's. Verdicts: `as the paper` and `opposite`, where the interval lies on one side of "
    "the\n"
    "paper's limit; `smaller than of interest`, where it lies within the smallest effect of interest; `not "
    "seen`,\n"
    "where it has both sides; `cannot tell`, where an arm did not learn more than pairs of tokens; `not "
    "measured`.\n"
    "--no-training measures the\n"
    "runs that DIR has.";

/// `own` keeps the entries that are read from files.
std::vector<const GalleryEntry*> chosen(const GalleryArguments& arguments,
                                        std::vector<std::unique_ptr<GalleryEntry>>& own) {
    std::vector<const GalleryEntry*> entries;
    if (arguments.all)
        for (const GalleryEntry& entry : gallery()) entries.push_back(&entry);
    for (const std::string& id : arguments.ids) {
        if (id.ends_with(".json")) {
            own.push_back(std::make_unique<GalleryEntry>(load_gallery_entry(id)));
            entries.push_back(own.back().get());
            continue;
        }
        const GalleryEntry* entry = find_gallery_entry(id);
        if (!entry) throw InputError("ID", "\"" + id + "\" is unknown", "`gallery` lists them");
        entries.push_back(entry);
    }
    return entries;
}

void print_list() {
    for (const GalleryEntry& entry : gallery())
        std::cout << entry.id << ": " << entry.title << " (" << entry.paper() << ", " << entry.place << "; "
                  << entry.sweep.runs() << " runs)\n";
}

void print_entry(const GalleryEntry& entry) {
    std::cout << entry.id << ": " << entry.title << "\n  " << entry.paper() << ", " << entry.place << ": "
              << entry.statement << "\n  " << entry.sweep.runs() << " runs:";
    for (const SweepAxis& axis : entry.sweep.grid) {
        std::cout << " " << axis.key << "=";
        for (std::size_t i = 0; i < axis.values.size(); ++i)
            std::cout << (i > 0 ? "," : "") << axis.values[i];
    }
    std::cout << " seeds " << entry.sweep.seeds.front() << ":" << entry.sweep.seeds.back() << "\n";
}

nlohmann::ordered_json json_entry(const GalleryEntry& entry, const GalleryResult& result) {
    nlohmann::ordered_json measures = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < entry.measures.size(); ++i) {
        const GalleryMeasure& measure = entry.measures[i];
        const GalleryFinding& finding = result.findings[i];
        measures.push_back({{"name", measure.name},
                            {"paper", gallery_paper_text(measure)},
                            {"verdict", gallery_verdict_text(finding.verdict)},
                            {"effect", json_number(finding.effect.mean)},
                            {"low", json_number(finding.effect.low)},
                            {"high", json_number(finding.effect.high)},
                            {"unit", measure.unit},
                            {"seeds", finding.seeds},
                            {"order", finding.order},
                            {"note", finding.note}});
    }
    return {{"id", entry.id},       {"paper", entry.paper()},       {"place", entry.place},
            {"title", entry.title}, {"statement", entry.statement}, {"runs_ended", result.ended},
            {"runs", result.total}, {"measures", measures}};
}

void print_findings(const GalleryEntry& entry, const GalleryResult& result) {
    for (std::size_t i = 0; i < entry.measures.size(); ++i) {
        const GalleryMeasure& measure = entry.measures[i];
        const GalleryFinding& finding = result.findings[i];
        std::cout << "  " << gallery_verdict_text(finding.verdict) << ": " << measure.name << ": "
                  << gallery_effect_text(measure, finding) << "; paper " << gallery_paper_text(measure);
        if (!finding.order.empty()) std::cout << "; order " << finding.order;
        std::cout << "\n";
    }
    std::cout << std::flush;
}

/// Trains what is missing. False: interrupted.
bool trained(const GalleryEntry& entry, const std::string& folder, const GalleryArguments& arguments,
             SweepWatcher& watcher) {
    SweepOptions options;
    options.folder = folder;
    options.jobs = arguments.jobs;
    options.threads = arguments.threads;
    options.stop = [] { return stop_signal() != 0; };
    const SweepEnd end = run_sweep(entry.sweep, device_named(arguments.backend), options, watcher);
    return end.count.ended == end.count.total;
}

int run_gallery(const GalleryArguments& arguments) {
    std::vector<std::unique_ptr<GalleryEntry>> own;
    const auto entries = chosen(arguments, own);
    if (entries.empty()) {
        print_list();
        return kDone;
    }
    if (arguments.out.empty()) {
        for (const GalleryEntry* entry : entries) {
            print_entry(*entry);
            for (const GalleryMeasure& measure : entry->measures)
                std::cout << "  " << measure.name << ": paper " << gallery_paper_text(measure) << "\n";
        }
        return kDone;
    }
    require_backend(arguments.backend);
    listen_for_signals();
    std::filesystem::create_directories(arguments.out);
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    SweepWatcher silent;  // JSON is alone on stdout
    for (const GalleryEntry* entry : entries) {
        const std::string folder = arguments.out + "/" + entry->id;
        if (!arguments.json) print_entry(*entry);
        SweepLines lines(folder);
        if (!arguments.dry && !trained(*entry, folder, arguments,
                                       arguments.json ? silent : static_cast<SweepWatcher&>(lines))) {
            print_error(folder + ": " + stopped_by() + "; the same command resumes");
            return kFailed;
        }
        const GalleryResult result = read_gallery_result(*entry, folder, [](const auto& work) { work(); });
        if (arguments.json)
            rows.push_back(json_entry(*entry, result));
        else
            print_findings(*entry, result);
    }
    if (arguments.json) std::cout << json_text(rows, 2) << "\n";
    return kDone;
}

}  // namespace

void add_gallery(CLI::App& program, Task& task) {
    auto arguments = std::make_shared<GalleryArguments>();
    auto* command = program.add_subcommand(
        "gallery",
        "the papers' figures and tables at the scale of a laboratory: their statement, our measurement");
    command->footer(kHelp);
    command->add_option(
        "ID", arguments->ids,
        "entries; `gallery` alone lists them. FILE.json: one's own, as those in resources/gallery");
    command->add_flag("--all", arguments->all, "all entries");
    command->add_option("--out", arguments->out, "folder with a sweep's folder for each entry; it is made");
    command->add_flag("--json", arguments->json, "the findings as JSON");
    command->add_flag("--no-training", arguments->dry, "measure the runs that --out has");
    command->add_option("--jobs", arguments->jobs, "runs at a time; 0: as many as there are threads")
        ->check(CLI::Range(0, 1024));
    add_backend_option(*command, arguments->backend);
    add_threads_option(*command, arguments->threads);
    command->callback([arguments, &task] { task = [arguments] { return run_gallery(*arguments); }; });
}

}  // namespace normscope::app
