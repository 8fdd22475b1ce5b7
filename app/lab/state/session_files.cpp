// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/state/session_files.h"

#include <memory>
#include <utility>

namespace normscope::app {

SessionFiles::SessionFiles(PendingRequests& requests)
    : opening(requests, "open", Pending<Opening>::Replies::OfNewest),
      additions(requests, "add", Pending<Addition>::Replies::OfEach),
      requests_(requests),
      // The file of a session that was left is written all the same, and this is reported.
      saving_(requests, "save", Pending<Saving>::Replies::OfEach, PendingKind::Owner::Window) {}

SaveRequest SessionFiles::save(const Comparison& now, const QString& path, const std::string& view_json,
                               bool dragging, bool on_purpose) {
    Saving saving{requests_.session(), edits_, results_, dragging, {}};
    for (const LabRun& run : now.runs) saving.runs.insert(run.id);
    SaveRequest request{saving_.ask(std::move(saving)), path, {}, view_json, {}, {}, {}};
    if (const auto known = known_.find(path); known != known_.end() && !on_purpose)
        request.as_read = known->second;
    for (const LabRun& run : now.runs) {
        auto copy = std::make_shared<RunData>(*run.data);
        if (run.unfinished())
            copy->outcome = {RunState::Interrupted, run.lastStep(), "saved while it trained", -1};
        const bool only_weights = run.weights && !run.trained();
        if (only_weights) {
            copy->events = {weightsEvent(*run.weights)};
            request.weights[request.runs.size()] = run.weights;
        }
        request.runs.push_back(std::move(copy));
        if (only_weights) continue;
        for (const KnownCheckpoint& known : run.checkpoints) {
            request.checkpoints.push_back(known.source);
            request.checkpoints.back().run_id = run.id;
        }
    }
    return request;
}

std::optional<SessionFiles::Saved> SessionFiles::saved(quint64 token, const QString& path,
                                                       const FileIdentity& file) {
    auto then = saving_.take(token);
    if (!then) return std::nullopt;
    remember(path, file);
    const bool here = then->session == requests_.session();
    if (here) saved_results_ = then->results;
    return Saved{here, here && then->edits == edits_ && !then->dragging, std::move(then->runs)};
}

std::optional<bool> SessionFiles::savingFailed(quint64 token) {
    const auto then = saving_.take(token);
    if (!then) return std::nullopt;
    return then->session == requests_.session();
}

}  // namespace normscope::app
