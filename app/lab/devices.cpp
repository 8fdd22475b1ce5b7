// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/devices.h"

#include "app/lab/state/lab_state.h"

#include <algorithm>
#include <utility>

namespace normscope::app {

namespace {

const KnownDevice* found(const std::vector<KnownDevice>& devices, const std::string& backend) {
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&](const KnownDevice& known) { return known.backend == backend; });
    return device == devices.end() ? nullptr : &*device;
}

}  // namespace

Devices::Devices(LabState& state, std::string backend) : state_(state), chosen_(std::move(backend)) {
    state_.onReply(state_.engine(), &EngineWorker::devicesFound, this, &Devices::apply);
}

void Devices::find() {
    state_.engine()->findDevices();
}

int Devices::engineThreads() const {
    return state_.engine()->threads();
}

void Devices::apply(const DevicesPtr& devices) {
    known_ = *devices;
    if (chosen_ == "auto") {
        const auto best = std::find_if(known_.begin(), known_.end(),
                                       [](const KnownDevice& device) { return device.missing.empty(); });
        chosen_ = best == known_.end() ? "cpu" : best->backend;
    }
    const KnownDevice* chosen = found(known_, chosen_);
    if (!chosen || !chosen->missing.empty()) {
        // A second card that is gone is missing for the reason of the first one.
        const KnownDevice* row = chosen ? chosen : found(known_, chosen_.substr(0, chosen_.find(':')));
        const std::string why = row && !row->missing.empty() ? ": " + row->missing : "";
        Q_EMIT state_.problem(tr("%1 is not available%2; training is on cpu")
                                  .arg(QString::fromStdString(chosen_), QString::fromStdString(why)));
        chosen_ = "cpu";
    }
    Q_EMIT changed();
}

void Devices::choose(const QString& backend) {
    const KnownDevice* device = found(known_, backend.toStdString());
    if (!device || !device->missing.empty() || device->backend == chosen_) return;
    chosen_ = device->backend;
    Q_EMIT changed();
}

}  // namespace normscope::app
