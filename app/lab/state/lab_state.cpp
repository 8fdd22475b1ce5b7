// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/state/lab_state.h"

#include <utility>

namespace normscope::app {

std::vector<LabRun> Drag::undone(std::vector<LabRun> runs) const {
    for (LabRun& run : runs)
        if (const auto recipe = before.find(run.id); recipe != before.end()) run.recipe = recipe->second;
    return runs;
}

LabState::LabState(int threads, const QString& recordings_folder, Deliver deliver)
    : deliver_(std::move(deliver)), workers_(std::make_unique<Workers>(threads, recordings_folder)) {
    // Data to record does not pass through the interface thread, which may be busy.
    connect(engine(), &Engine::recordingWaits, io(),
            [io = io()](const std::shared_ptr<RecordingQueue>& queue) { io->record(queue); });
    connect(io(), &IoWorker::problem, this, &LabState::problem);
}

LabState::~LabState() = default;

void LabState::stopWorkers() {
    engine()->shutDown();
    engine()->stop();
    workers_->engine.drain();
    workers_->io.drain();
    workers_.reset();
}

std::string LabState::newId() {
    for (int i = 0;; ++i) {
        std::string id;
        for (int n = i; n >= 0; n = n / 26 - 1) id.insert(id.begin(), static_cast<char>('a' + n % 26));
        if (!now.find(id) && used_ids.insert(id).second) return id;
    }
}

void LabState::selectRun(int index) {
    if (index < 0 || index >= static_cast<int>(now.runs.size()) || index == now.selected) return;
    now.selected = index;
    Q_EMIT runsChanged();
    Q_EMIT viewChanged();
}

void LabState::requestExplore() {
    auto request = exploration.request(now);
    if (!request) return;
    request->dragging = drag.has_value();
    Q_EMIT explorationRequested(request->generation);
    engine()->explore(std::move(*request));
}

}  // namespace normscope::app
