// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/state/outlines.h"

#include "app/lab/state/lab_state.h"

#include <utility>

namespace normscope::app {

Outlines::Outlines(LabState& state)
    : state_(state),
      rests_(state.requests, "rest", Pending<RemainderRequestPtr>::Replies::OfEach,
             PendingKind::Owner::Session, [](RemainderRequestPtr& request) { request->cancelled = true; }) {
    state_.onReply(state_.io(), &IoWorker::remainderRead, this, &Outlines::apply);
}

void Outlines::read() {
    auto request = std::make_shared<RemainderRequest>();
    for (const LabRun& run : state_.now.runs)
        if (run.data->unread && requested_.insert(run.data->unread).second)
            request->runs.push_back(run.data->unread);
    if (request->runs.empty()) return;
    request->token = rests_.ask(request);
    QMetaObject::invokeMethod(state_.io(), [io = state_.io(), request] { io->readRemainder(request); });
}

void Outlines::apply(const RemainderReplyPtr& reply) {
    if (!rests_.take(reply->request->token)) return;
    for (std::size_t i = 0; i < reply->rests.size(); ++i) {
        if (!reply->rests[i]) continue;  // it stays asked for: what cannot be read is reported once
        const auto unread = reply->request->runs[i];
        std::vector<RunData*> outlines;
        for (const LabRun& run : state_.now.runs)
            if (run.data->unread == unread) outlines.push_back(run.data.get());
        // In place: an undo entry may hold the same data.
        for (std::size_t k = 0; k + 1 < outlines.size(); ++k) complete(*outlines[k], *reply->rests[i]);
        if (!outlines.empty()) complete(*outlines.back(), std::move(*reply->rests[i]));
        requested_.erase(unread);
    }
    reply->request->runs.clear();
    QMetaObject::invokeMethod(state_.io(), [] { close_unused_files(); });
    if (!reply->problem.isEmpty()) Q_EMIT state_.problem(reply->problem);
    Q_EMIT state_.runsChanged();
    Q_EMIT state_.trainingChanged();
    Q_EMIT state_.viewChanged();
}

void Outlines::cancel() {
    rests_.drop();
    requested_.clear();
}

}  // namespace normscope::app
