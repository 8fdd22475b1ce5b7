// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the laboratory for devices: the chosen one, and runs that are resumed after one failed.
#include "app/lab/lab.h"
#include "core/recipe/hot_knobs.h"
#include "core/session/recovery.h"

#include <algorithm>

namespace normscope::app {

namespace {

const KnownDevice* found(const std::vector<KnownDevice>& devices, const std::string& backend) {
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&](const KnownDevice& known) { return known.backend == backend; });
    return device == devices.end() ? nullptr : &*device;
}

}  // namespace

void Lab::applyDevices(const DevicesPtr& devices) {
    devices_ = *devices;
    if (backend_ == "auto") {
        const auto best = std::find_if(devices_.begin(), devices_.end(),
                                       [](const KnownDevice& device) { return device.missing.empty(); });
        backend_ = best == devices_.end() ? "cpu" : best->backend;
    }
    const KnownDevice* chosen = found(devices_, backend_);
    if (!chosen || !chosen->missing.empty()) {
        // A second card that is gone is missing for the reason of the first one.
        const KnownDevice* row = chosen ? chosen : found(devices_, backend_.substr(0, backend_.find(':')));
        const std::string why = row && !row->missing.empty() ? ": " + row->missing : "";
        Q_EMIT problem(tr("%1 is not available%2; training is on cpu")
                           .arg(QString::fromStdString(backend_), QString::fromStdString(why)));
        backend_ = "cpu";
    }
    Q_EMIT devicesChanged();
}

void Lab::chooseDevice(const QString& backend) {
    const KnownDevice* device = found(devices_, backend.toStdString());
    if (!device || !device->missing.empty() || device->backend == backend_) return;
    backend_ = device->backend;
    Q_EMIT devicesChanged();
}

// --- runs that failed

void Lab::applyRecordingBegun(const QString& id, const QString& path) {
    if (LabRun* run = now_.find(id.toStdString())) {
        run->recording = path.toStdString();
        run->session.clear();
    }
}

std::vector<std::pair<std::string, QString>> Lab::failedRuns() const {
    std::vector<std::pair<std::string, QString>> failed;
    for (const LabRun& run : now_.runs)
        if (run.data->outcome.state == RunState::Failed && run.resumable())
            failed.emplace_back(run.id, tr("%1 failed at step %2: %3")
                                            .arg(QString::fromStdString(run.data->name))
                                            .arg(run.data->outcome.step)
                                            .arg(QString::fromStdString(run.data->outcome.text)));
    return failed;
}

void Lab::resumeRuns(const std::vector<std::string>& ids, const std::string& backend) {
    std::vector<RunPlan> from_start;
    for (const std::string& id : ids) {
        LabRun* run = now_.find(id);
        if (!run || !run->resumable()) continue;
        if (run->data->unread) {
            Q_EMIT problem(notReadYet());
            continue;
        }
        const auto newest = std::max_element(run->checkpoints.begin(), run->checkpoints.end(),
                                             [](const auto& a, const auto& b) { return a.step < b.step; });
        if (newest != run->checkpoints.end() && newest->step > 0) {
            resumptions_[++fork_token_] = {id, backend};
            QMetaObject::invokeMethod(io_.get(),
                                      [io = io_.get(), token = fork_token_, source = newest->source] {
                                          io->loadCheckpoint(token, source);
                                      });
            continue;
        }
        const std::string name = run->data->name;
        run->data = makeRun(id, run->live).data;
        run->data->name = name;
        RunPlan plan = planOf(*run);
        plan.recipe = run->live;
        plan.recording = run->recording;
        plan.backend = backend;
        from_start.push_back(std::move(plan));
    }
    if (!from_start.empty()) begin(std::move(from_start));
}

void Lab::applyResumption(quint64 token, const CheckpointPtr& checkpoint) {
    const auto waiting = resumptions_.extract(token);
    if (!checkpoint) return;  // unreadable, which was reported
    LabRun* run = now_.find(waiting.mapped().id);
    if (!run || !run->resumable()) return;
    auto history = std::make_shared<RunData>(*run->data);
    cut_after(*history, checkpoint->step - 1);
    run->data = history;
    RunPlan plan = planOf(*run);
    plan.recipe = history->recipe.value("run " + run->id);
    plan.recipe.watch = run->live.watch;
    plan.history = std::make_shared<const RunData>(*history);
    plan.start = checkpoint;
    plan.knobs = hot_knobs(run->live);
    plan.recording = run->recording;
    plan.backend = waiting.mapped().backend;
    begin({std::move(plan)});
}

}  // namespace normscope::app
