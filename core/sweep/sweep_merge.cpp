// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/sweep_merge.h"

#include "core/base/error.h"
#include "core/session/replacing_file.h"
#include "core/sweep/sweep_choice.h"
#include "core/sweep/sweep_folder.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

namespace normscope {

namespace fs = std::filesystem;

namespace {

struct Found {
    SweepRow row;
    std::string folder;
};

/// Equal, NaN included; a missing value too.
bool same_number(const std::optional<double>& a, const std::optional<double>& b) {
    return a.has_value() == b.has_value() && (!a || *a == *b || (std::isnan(*a) && std::isnan(*b)));
}

/// The same results; the time is measured, and an earlier version took no held-out loss.
bool agree(const SweepRow& a, const SweepRow& b) {
    const bool comparable = a.held_out_loss && b.held_out_loss;
    return (!comparable || same_number(a.held_out_loss, b.held_out_loss)) && a.state == b.state &&
           a.steps == b.steps && same_number(a.final_loss, b.final_loss) &&
           same_number(a.best_loss, b.best_loss) && a.diverged_at == b.diverged_at;
}

/// A second name of the file; a copy on another disk. What `to` names is replaced when the new one is
/// complete, not before.
void link_or_copy(const std::string& from, const std::string& to) {
    std::error_code error;
    if (fs::equivalent(from, to, error)) return;
    require_replaceable(to, std::nullopt);
    // No ReplacingFile: where it fails it empties its temporary, which would be the source here.
    const std::string link = to + ".linking-" + std::to_string(::getpid());
    fs::remove(link, error);
    fs::create_hard_link(from, link, error);
    if (!error) {
        fs::rename(link, to, error);
        if (!error) return;
        std::error_code ignored;
        fs::remove(link, ignored);
        throw SystemError(to + ": cannot be written: " + error.message());
    }
    ReplacingFile place(to);
    fs::copy_file(from, place.temporary(), fs::copy_options::overwrite_existing, error);
    if (error) throw SystemError(to + ": cannot be written: " + error.message());
    place.commit();
}

}  // namespace

SweepMerge merge_sweeps(const std::vector<std::string>& folders, const std::string& out) {
    if (folders.empty()) throw InputError("--merge", "has no folders", "one or more");
    const SweepSpec spec = read_sweep_spec(folders.front());
    std::error_code error;
    std::vector<std::string> sources = folders;
    if (fs::exists(out + "/sweep.json", error)) sources.push_back(out);
    std::map<std::size_t, Found> found;
    std::map<std::size_t, std::string> deleted;
    std::vector<SweepRun> runs = expand_sweep(spec);
    for (const std::string& folder : sources) {
        require_same_sweep(spec, folder, folders.front());
        for (const SweepRow& row : read_results(spec, runs, folder)) {
            const SweepRun& run = runs[row.run];
            if (!row.recording.empty() && !fs::exists(folder + "/" + row.recording, error)) {
                deleted[row.run] = folder + "/" + row.recording;
                continue;
            }
            const auto known = found.find(row.run);
            if (known == found.end() || known->second.row.state == RunState::Failed)
                found[row.run] = {row, folder};
            else if (row.state != RunState::Failed && !agree(known->second.row, row))
                throw InputError(
                    folder + "/results.csv",
                    settings_text(spec, run) + " has other results than in " + known->second.folder,
                    "shards of one sweep, trained on one kind of device");
        }
    }
    const SweepFolder folder(out, spec);
    SweepMerge merged{{spec, std::move(runs), {}}, {}, {}};
    bool timed = false;
    for (const auto& [index, entry] : found) {
        if (!entry.row.recording.empty())
            link_or_copy(entry.folder + "/" + entry.row.recording, out + "/" + entry.row.recording);
        timed = timed || entry.row.seconds;
        merged.results.rows.push_back(entry.row);
    }
    folder.write_results(results_csv(spec, merged.results.runs, merged.results.rows, timed));
    const auto chosen = chosen_values(merged.results);
    const auto wanted = [&](const SweepRun& run) {
        return spec.choice.keys.empty() || chooses(spec, run) || (chosen && is_scored(spec, run, *chosen));
    };
    for (const SweepRun& run : merged.results.runs)
        if (wanted(run) && !found.contains(run.index)) merged.missing.push_back(run.index);
    for (auto& [index, recording] : deleted)
        if (!found.contains(index)) merged.deleted.emplace(index, std::move(recording));
    return merged;
}

}  // namespace normscope
