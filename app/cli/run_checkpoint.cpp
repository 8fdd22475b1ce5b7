// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_checkpoint.h"

#include "app/cli/files.h"
#include "core/base/error.h"
#include "core/session/describe.h"

#include <algorithm>
#include <vector>

namespace normscope::app {

namespace {

Checkpoint find_checkpoint(const std::string& path, const std::string& run) {
    std::vector<std::pair<std::int64_t, std::string>> embedded;  // step, run
    std::string runs;
    for (const RunSummary& summary : summarize_session(path)) {
        runs += (runs.empty() ? "" : ", ") + summary.id;
        if (!run.empty() && summary.id != run) continue;
        for (const std::string& at : summary.checkpoints) embedded.emplace_back(std::stoll(at), summary.id);
    }
    if (run.empty() && runs.find(',') != std::string::npos)
        throw InputError(path, "holds several runs", "--run with one of " + runs);
    std::optional<Checkpoint> best = CheckpointPair(path).newest();
    const auto newest = std::max_element(embedded.begin(), embedded.end());
    if (newest != embedded.end() && (!best || newest->first > best->step))
        best = load_checkpoint(path, newest->second, newest->first);
    if (!best) throw InputError(path, "holds no checkpoint", "a run with checkpoints");
    return std::move(*best);
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

RunCheckpoint newest_run_checkpoint(const std::string& path, const std::string& run) {
    return at_checkpoint(find_checkpoint(path, run), path);
}

}  // namespace normscope::app
