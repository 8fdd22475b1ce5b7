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

/// Ids may be those of an earlier session's runs: only the start distinguishes them.
void Lab::applyRecordingBegun(quint64 training, const QString& id, const QString& path) {
    if (LabRun* run = now_.find(id.toStdString()); run && run->training == training) {
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
    auto resumption = std::make_shared<Resumption>();
    resumption->backend = backend;
    for (const std::string& id : ids) {
        const LabRun* run = now_.find(id);
        if (!run || !run->resumable()) continue;
        if (resumptions_.any([&](const ResumedRun& resumed) { return resumed.id == id; })) continue;
        if (run->data->unread) {
            Q_EMIT problem(notReadYet());
            continue;
        }
        const auto newest = std::max_element(run->checkpoints.begin(), run->checkpoints.end(),
                                             [](const auto& a, const auto& b) { return a.step < b.step; });
        if (newest != run->checkpoints.end() && newest->step > 0) {
            ++resumption->unread;
            QMetaObject::invokeMethod(io_.get(),
                                      [io = io_.get(), token = resumptions_.ask({id, resumption}),
                                       source = newest->source] { io->loadCheckpoint(token, source); });
        } else {
            resumption->runs.emplace_back(id, nullptr);
        }
    }
    if (resumption->unread == 0) beginResumed(*resumption);
}

void Lab::beginResumed(const Resumption& resumption) {
    std::vector<RunPlan> plans;
    Training::Data before;
    for (const auto& [id, checkpoint] : resumption.runs) {
        LabRun* run = now_.find(id);
        if (!run || !run->resumable()) continue;  // removed or resumed since
        before[id] = run->data;
        RunPlan plan = planOf(*run);
        if (checkpoint) {
            auto history = std::make_shared<RunData>(*run->data);
            cut_after(*history, checkpoint->step - 1);
            run->data = history;
            plan.recipe = history->recipe.value("run " + id);
            plan.recipe.watch = run->live.watch;
            plan.history = std::make_shared<const RunData>(*history);
            plan.start = checkpoint;
            plan.knobs = hot_knobs(run->live);
        } else {
            run->data = makeRun(id, run->live).data;
            run->data->name = before[id]->name;
            plan.recipe = run->live;
        }
        plan.recording = run->recording;
        plan.backend = resumption.backend;
        plans.push_back(std::move(plan));
    }
    if (!plans.empty()) begin(std::move(plans), std::move(before));
}

}  // namespace normscope::app
