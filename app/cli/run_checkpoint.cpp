// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_checkpoint.h"

#include "app/cli/files.h"
#include "core/base/error.h"
#include "core/session/describe.h"

#include <algorithm>
#include <vector>

namespace normscope::app {

namespace {

/// A checkpoint in the session, or next to the recording; the newest where no step is given.
Checkpoint find_checkpoint(const std::string& path, const std::string& run,
                           std::optional<std::int64_t> step) {
    std::vector<std::pair<std::int64_t, std::string>> embedded;  // step, run
    std::string runs;
    for (const RunSummary& summary : summarize_session(path)) {
        runs += (runs.empty() ? "" : ", ") + summary.id;
        if (!run.empty() && summary.id != run) continue;
        for (const std::string& at : summary.checkpoints) embedded.emplace_back(std::stoll(at), summary.id);
    }
    if (run.empty() && runs.find(',') != std::string::npos)
        throw InputError(path, "holds several runs", "--run with one of " + runs);
    std::string known;
    std::optional<Checkpoint> best = CheckpointPair(path).newest();
    if (best) known = std::to_string(best->step);
    if (best && step && best->step != *step) best.reset();
    for (const auto& [at, id] : embedded) {
        known += (known.empty() ? "" : ", ") + std::to_string(at);
        if (step ? at == *step : !best || at > best->step) best = load_checkpoint(path, id, at);
    }
    if (!best)
        throw InputError(
            path, step ? "holds no checkpoint of step " + std::to_string(*step) : "holds no checkpoint",
            known.empty() ? "a run with checkpoints" : "@ and one of " + known);
    return *best;
}

}  // namespace

std::pair<std::string, std::optional<std::int64_t>> split_step(const std::string& text) {
    const auto at = text.rfind('@');
    if (at == std::string::npos || is_hdf5(text)) return {text, std::nullopt};
    const std::string digits = text.substr(at + 1);
    if (digits.empty() || digits.size() > 18 ||
        !std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return c >= '0' && c <= '9'; }))
        return {text, std::nullopt};
    return {text.substr(0, at), std::stoll(digits)};
}

RunCheckpoint read_run_checkpoint(const std::string& path, const std::string& run,
                                  std::optional<std::int64_t> step) {
    return at_checkpoint(find_checkpoint(path, run, step), path);
}

}  // namespace normscope::app
