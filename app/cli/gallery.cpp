// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/gallery/gallery.h"

#include "app/cli/command.h"
#include "app/cli/json_number.h"
#include "app/cli/stop.h"
#include "app/cli/sweep_lines.h"
#include "core/backend/devices/devices.h"
#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/strict_json.h"
#include "core/gallery/findings.h"
#include "core/gallery/recipe_distance.h"
#include "core/gallery/thorough.h"
#include "core/run/draft.h"
#include "core/sweep/sweep.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

namespace normscope::app {

namespace {

struct GalleryArguments {
    std::vector<std::string> ids;
    std::string out, backend = "auto";
    bool all = false, json = false, dry = false, thorough = false;
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
    "runs that DIR has.\n"
    "--thorough trains each entry at 200, 600 and 2000 steps, and at 600 with twice the depth and twice the "
    "width,\n"
    "each arm at its own best of five rates and three warm-ups, chosen on seeds that do not judge. It "
    "states\n"
    "first how long that takes; without --out it only states it. The same command resumes it.";

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
                  << entry.sweep.trained_runs() << " runs)\n";
}

void print_entry(const GalleryEntry& entry) {
    std::cout << entry.id << ": " << entry.title << "\n  " << entry.paper() << ", " << entry.place << ": "
              << entry.statement << "\n  " << entry.sweep.trained_runs() << " runs:";
    for (const SweepAxis& axis : entry.sweep.grid) {
        std::cout << " " << axis.key << "=";
        for (std::size_t i = 0; i < axis.values.size(); ++i)
            std::cout << (i > 0 ? "," : "") << axis.values[i];
    }
    const SweepChoice& choice = entry.sweep.choice;
    std::cout << " seeds " << entry.sweep.seeds[choice.seeds] << ":" << entry.sweep.seeds.back();
    for (std::size_t i = 0; i < choice.keys.size(); ++i)
        std::cout << (i == 0 ? "; each arm chooses " : ", ") << choice.keys[i];
    if (choice.seeds > 0)
        std::cout << " on seeds " << entry.sweep.seeds.front() << ":" << entry.sweep.seeds[choice.seeds - 1];
    std::cout << "\n";
}

void print_distance(const GalleryEntry& entry) {
    for (const RecipeDistance& row : recipe_distance(entry))
        std::cout << "  " << row.what << ": paper " << row.theirs << "; here " << row.ours << "\n";
}

std::string arm_text(const GalleryArm& arm) {
    std::string text = arm.name.empty() ? "the runs" : arm.name;
    if (!arm.chosen.empty()) text += " at " + arm.chosen;
    if (!arm.loss) return text + ": not trained";
    text += ": median final loss " + plain_number(*arm.loss) + " nat, " + std::to_string(arm.ended) +
            (arm.ended == 1 ? " seed" : " seeds");
    if (arm.learned_known) text += ", " + std::to_string(arm.learned) + " below the entropy of token pairs";
    return text;
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
    nlohmann::ordered_json distance = nlohmann::ordered_json::array(), arms = distance;
    for (const RecipeDistance& row : recipe_distance(entry))
        distance.push_back({{"what", row.what}, {"theirs", row.theirs}, {"ours", row.ours}});
    for (const GalleryArm& arm : result.arms)
        arms.push_back({{"name", arm.name},
                        {"chosen", arm.chosen},
                        {"median_loss", arm.loss ? json_number(*arm.loss) : nlohmann::ordered_json()},
                        {"seeds", arm.ended},
                        {"learned", arm.learned_known ? nlohmann::ordered_json(arm.learned)
                                                      : nlohmann::ordered_json()}});
    const auto first = entry.sweep.seeds.begin(),
               judging = first + static_cast<std::ptrdiff_t>(entry.sweep.choice.seeds);
    return {{"id", entry.id},
            {"paper", entry.paper()},
            {"place", entry.place},
            {"title", entry.title},
            {"statement", entry.statement},
            {"runs_ended", result.ended},
            {"runs", result.total},
            {"choosing_seeds", std::vector<std::uint64_t>(first, judging)},
            {"seeds", std::vector<std::uint64_t>(judging, entry.sweep.seeds.end())},
            {"arms", arms},
            {"distance", distance},
            {"measures", measures}};
}

void print_findings(const GalleryEntry& entry, const GalleryResult& result) {
    for (const GalleryArm& arm : result.arms) std::cout << "  " << arm_text(arm) << "\n";
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
    options.stop = stop_wanted;
    const SweepEnd end = run_sweep(entry.sweep, device_named(arguments.backend), options, watcher);
    return end.count.ended == end.count.total;
}

/// Seconds of a training operation on this device, of the steps of a draft.
double seconds_of_operation(const GalleryEntry& entry, const GalleryArguments& arguments) {
    const Recipe recipe = recipe_of(entry.sweep, expand_sweep(entry.sweep).front());
    GalleryEntry single = entry;
    single.sweep.grid.clear();
    single.sweep.ties.clear();
    single.sweep.choice = {};
    single.sweep.recipe = recipe_json(recipe);
    single.sweep.seeds = {recipe.train.seed};
    ThreadPool pool(arguments.threads);
    const auto start = std::chrono::steady_clock::now();
    Draft drafted(recipe, pool.threads(), nullptr, device_named(arguments.backend));
    while (!drafted.ended()) drafted.advance(pool);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, drafted.steps_done()));
    return seconds / steps / (training_operations(single) / std::max(1, recipe.train.steps));
}

/// Trains and measures the parts of the thorough protocol; at the end each measure over the sizes.
int run_thorough(const std::vector<const GalleryEntry*>& entries, const GalleryArguments& arguments) {
    if (arguments.json) throw InputError("--json", "is combined with --thorough", "one of them");
    double seconds = 0;
    std::size_t runs = 0;
    for (const GalleryEntry* entry : entries) {
        const double each = seconds_of_operation(*entry, arguments);
        for (const ThoroughPart& part : thorough_parts(*entry)) {
            seconds += each * training_operations(part.entry);
            runs += part.entry.sweep.trained_runs();
        }
    }
    std::cout << runs << " runs, about " << duration_text(seconds)
              << " on this machine by the first steps of each entry, probes not counted\n"
              << std::flush;
    if (arguments.out.empty()) return kDone;
    for (const GalleryEntry* entry : entries) {
        print_entry(*entry);
        print_distance(*entry);
        const std::vector<ThoroughPart> parts = thorough_parts(*entry);
        std::vector<GalleryResult> results;
        const std::string above = arguments.out + "/" + entry->id + "-thorough";
        for (const ThoroughPart& part : parts) {
            const std::string folder = above + "/" + part.folder;
            std::filesystem::create_directories(above);
            SweepLines lines(folder);
            if (!arguments.dry && !trained(part.entry, folder, arguments, lines)) {
                print_error(folder + ": " + stopped_by() + "; the same command resumes");
                return kInterrupted;
            }
            results.push_back(read_gallery_result(part.entry, folder, [](const auto& work) { work(); }));
        }
        for (std::size_t i = 0; i < entry->measures.size(); ++i) {
            const GalleryMeasure& measure = entry->measures[i];
            std::cout << "  " << measure.name << ": paper " << gallery_paper_text(measure) << "\n";
            for (std::size_t p = 0; p < parts.size(); ++p)
                std::cout << "    " << parts[p].name << ": "
                          << gallery_verdict_text(results[p].findings[i].verdict) << ": "
                          << gallery_effect_text(measure, results[p].findings[i]) << "\n";
        }
        for (std::size_t p = 0; p < parts.size(); ++p)
            for (const GalleryArm& arm : results[p].arms)
                std::cout << "  " << parts[p].name << ", " << arm_text(arm) << "\n";
        std::cout << std::flush;
    }
    return kDone;
}

int run_gallery(const GalleryArguments& arguments) {
    std::vector<std::unique_ptr<GalleryEntry>> own;
    const auto entries = chosen(arguments, own);
    if (arguments.json && arguments.out.empty())
        throw InputError("--json", "prints results, which are in a folder", "with --out DIR");
    if (entries.empty()) {
        print_list();
        return kDone;
    }
    if (arguments.thorough) {
        require_backend(arguments.backend);
        listen_for_signals();
        return run_thorough(entries, arguments);
    }
    if (arguments.out.empty()) {
        for (const GalleryEntry* entry : entries) {
            print_entry(*entry);
            print_distance(*entry);
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
            return kInterrupted;
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
    command->add_flag("--thorough", arguments->thorough,
                      "lengths, depths, widths and each arm's own rate; hours: they are stated first");
    command->add_flag("--no-training", arguments->dry, "measure the runs that --out has");
    command->add_option("--jobs", arguments->jobs, "runs at a time; 0: as many as there are threads")
        ->check(CLI::Range(0, 1024));
    add_backend_option(*command, arguments->backend);
    add_threads_option(*command, arguments->threads);
    command->callback([arguments, &task] { task = [arguments] { return run_gallery(*arguments); }; });
}

}  // namespace normscope::app
