// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/sweep_shard.h"

#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/strict_json.h"
#include "core/sweep/sweep_folder.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

namespace normscope {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPrefix = "shard-";

const char* const kLaunchers = "a Slurm array or step, Open MPI or PMI; or I/N";

/// Of a variable; nullopt where it is not set. InputError where it is no number.
std::optional<std::size_t> number_of(const Environment& environment, const char* name) {
    const char* const text = environment(name);
    if (!text || !*text) return std::nullopt;
    std::size_t number = 0;
    const auto end = text + std::strlen(text);
    const auto read = std::from_chars(text, end, number);
    if (read.ec != std::errc() || read.ptr != end)
        throw InputError(std::string("--shard auto: ") + name, quoted(text) + " is no number", kLaunchers);
    return number;
}

/// Rank and size, from 0.
std::optional<SweepShard> rank_of(const Environment& environment, const char* rank, const char* size) {
    const auto index = number_of(environment, rank), count = number_of(environment, size);
    if (!index || !count) return std::nullopt;
    if (*index >= *count)
        throw InputError(std::string("--shard auto: ") + rank,
                         std::to_string(*index) + " is not below " + size + ", " + std::to_string(*count),
                         kLaunchers);
    return SweepShard{*index + 1, *count};
}

std::optional<SweepShard> array_task(const Environment& environment) {
    const auto task = number_of(environment, "SLURM_ARRAY_TASK_ID"),
               first = number_of(environment, "SLURM_ARRAY_TASK_MIN"),
               last = number_of(environment, "SLURM_ARRAY_TASK_MAX"),
               count = number_of(environment, "SLURM_ARRAY_TASK_COUNT");
    if (!task || !first || !last) return std::nullopt;
    const std::size_t step =
        std::max<std::size_t>(1, number_of(environment, "SLURM_ARRAY_TASK_STEP").value_or(1));
    const bool even = *first <= *task && *task <= *last && (*task - *first) % step == 0;
    const std::size_t tasks = even ? (*last - *first) / step + 1 : 0;
    if (!even || (count && *count != tasks))
        throw InputError("--shard auto: the Slurm array", "has gaps", "an array such as 1-8; or I/N");
    return SweepShard{(*task - *first) / step + 1, tasks};
}

}  // namespace

SweepShard parse_shard(const std::string& text) {
    SweepShard shard{0, 0};
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, shard.index);
    const bool divided = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
    const auto second = divided ? std::from_chars(first.ptr + 1, end, shard.count) : first;
    if (!divided || second.ec != std::errc() || second.ptr != end || shard.index < 1 ||
        shard.index > shard.count)
        throw InputError("--shard", "\"" + text + "\" is no shard",
                         "auto, or I/N with I from 1 to N, such as 1/3");
    return shard;
}

SweepShard launched_shard(const Environment& environment) {
    if (const auto task = array_task(environment)) return *task;
    const std::pair<const char*, const char*> ranks[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                         {"PMI_RANK", "PMI_SIZE"},
                                                         {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    for (const auto& [rank, size] : ranks)
        if (const auto found = rank_of(environment, rank, size)) return *found;
    throw InputError("--shard auto", "no launcher has set a rank", kLaunchers);
}

std::string shard_folder(const std::string& out, const SweepShard& shard) {
    return out + "/" + kPrefix + std::to_string(shard.index) + "-of-" + std::to_string(shard.count);
}

std::vector<std::string> sweep_folders(const std::string& folder) {
    std::error_code error;
    if (fs::exists(folder + "/sweep.json", error)) return {folder};
    std::vector<std::string> found;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().filename().string().starts_with(kPrefix) &&
            fs::exists(entry->path() / "sweep.json", error))
            found.push_back(entry->path().string());
    std::sort(found.begin(), found.end());
    return found.empty() ? std::vector{folder} : found;
}

SweepResults read_shards(const std::string& folder, std::vector<std::string>& problems) {
    const std::vector<std::string> folders = sweep_folders(folder);
    SweepResults results;
    results.spec = read_sweep_spec(folders.front());
    results.runs = expand_sweep(results.spec);
    std::map<std::size_t, SweepRow> rows;
    for (const std::string& each : folders) {
        require_same_sweep(results.spec, each, folders.front());
        try {
            for (SweepRow& row : read_results(results.spec, results.runs, each)) {
                if (!row.recording.empty() && each != folder)
                    row.recording = fs::path(each).filename().string() + "/" + row.recording;
                const auto [known, is_new] = rows.emplace(row.run, row);
                if (!is_new && known->second.state == RunState::Failed) known->second = row;
            }
        } catch (const InputError& error) {
            problems.emplace_back(error.what());
        }
    }
    for (auto& [run, row] : rows) results.rows.push_back(std::move(row));
    return results;
}

}  // namespace normscope
