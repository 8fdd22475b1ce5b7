// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/sweep_status.h"

#include "core/base/error.h"
#include "core/run/checkpoints/run_file.h"
#include "core/session/session.h"
#include "core/sweep/sweep_folder.h"
#include "core/sweep/sweep_results.h"

#include <optional>
#include <set>

namespace normscope {

namespace {

/// The more it is, the further the run is.
int progress_of(RunState state) {
    if (is_result(state)) return 4;
    if (state == RunState::Running || state == RunState::Paused) return 3;
    return state == RunState::Interrupted ? 2 : 1;
}

/// Of a recording; nullopt where there is none that can be read: the run is not started, or is trained again.
std::optional<RunState> recorded_state(const std::string& path) {
    if (!is_recorded(path)) return std::nullopt;
    try {
        const Session session = open_session(path);
        if (session.runs.size() == 1) return session.runs.front().outcome.state;
    } catch (const InputError&) {  // as SweepFolder::ended
    }
    return std::nullopt;
}

}  // namespace

std::size_t SweepStatus::not_started() const {
    std::size_t started = 0;
    for (const auto& [state, count] : states) started += count;
    return total > started ? total - started : 0;
}

bool SweepStatus::complete() const {
    std::size_t results = 0;
    for (const auto& [state, count] : states)
        if (is_result(state)) results += count;
    return results >= total;
}

std::string SweepStatus::text() const {
    std::string text = std::to_string(total) + " runs: ";
    for (const auto& [state, count] : states)
        text += std::to_string(count) + " " + run_state_word(state) + ", ";
    return text + std::to_string(not_started()) + " not started";
}

SweepStatus sweep_status(const std::vector<std::string>& folders) {
    if (folders.empty()) throw InputError("--status", "has no folders", "one or more");
    const SweepSpec spec = read_sweep_spec(folders.front());
    std::map<std::size_t, RunState> known;
    const auto add = [&](std::size_t run, RunState state) {
        const auto [at, is_new] = known.emplace(run, state);
        if (!is_new && progress_of(state) > progress_of(at->second)) at->second = state;
    };
    const std::vector<SweepRun> runs = expand_sweep(spec);
    for (const std::string& folder : folders) {
        require_same_sweep(spec, folder, folders.front());
        std::set<std::size_t> ended;
        for (const SweepRow& row : read_results(spec, runs, folder)) {
            add(row.run, row.state);
            if (is_result(row.state)) ended.insert(row.run);
        }
        for (const SweepRun& run : runs) {
            if (ended.contains(run.index)) continue;
            if (const auto state = recorded_state(folder + "/" + run.recording)) add(run.index, *state);
        }
    }
    SweepStatus status{spec.trained_runs(), {}};
    for (const auto& [run, state] : known) ++status.states[state];
    return status;
}

}  // namespace normscope
