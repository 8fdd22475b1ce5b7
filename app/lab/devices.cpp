// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lab/devices.h"

#include "app/lab/state/lab_state.h"
#include "core/base/error.h"

#include <algorithm>
#include <utility>

namespace normscope::app {

namespace {

const KnownDevice* found(const std::vector<KnownDevice>& devices, const std::string& backend) {
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&](const KnownDevice& known) { return known.backend == backend; });
    return device == devices.end() ? nullptr : &*device;
}

/// The first device of a place that is available; null where there is none, or it is not known yet.
const KnownDevice* bestThere(const std::vector<KnownDevice>& devices, const std::string& place) {
    const auto device = std::find_if(devices.begin(), devices.end(), [&](const KnownDevice& known) {
        return known.missing.empty() && known.backend.rfind(place + " ", 0) == 0;
    });
    return device == devices.end() ? nullptr : &*device;
}

}  // namespace

Devices::Devices(LabState& state, std::string backend) : state_(state), chosen_(std::move(backend)) {
    state_.onReply(state_.engine(), &Engine::devicesFound, this, &Devices::apply);
    if (!is_remote(chosen_)) return;
    try {
        state_.engine()->use(chosen_);
    } catch (const InputError& error) {  // of settings that were written by hand
        chosen_ = "cpu";
        not_understood_ = QString::fromUtf8(error.what());
    }
}

void Devices::find() {
    state_.engine()->findDevices();
}

QString Devices::waits(const std::string& backend) const {
    return state_.engine()->waits(backend);
}

int Devices::engineThreads() const {
    return state_.engine()->threads();
}

void Devices::apply(const DevicesPtr& devices) {
    known_ = *devices;
    if (!not_understood_.isEmpty()) Q_EMIT state_.problem(std::exchange(not_understood_, {}));
    if (chosen_ == "auto") {
        const auto best = std::find_if(known_.begin(), known_.end(), [](const KnownDevice& device) {
            return device.missing.empty() && !is_remote(device.backend);
        });
        chosen_ = best == known_.end() ? "cpu" : best->backend;
    }
    const KnownDevice* chosen = resolved();
    const bool listed_later = !chosen && is_remote(chosen_);
    if (!listed_later && (!chosen || !chosen->missing.empty())) {
        // A second card that is gone is missing for the reason of the first one.
        const KnownDevice* row = chosen ? chosen : found(known_, chosen_.substr(0, chosen_.find(':')));
        const std::string why = row && !row->missing.empty() ? ": " + row->missing : "";
        Q_EMIT state_.problem(
            is_remote(chosen_)
                ? tr("%1; training is on cpu").arg(QString::fromStdString(row ? row->missing : chosen_))
                : tr("%1 is not available%2; training is on cpu")
                      .arg(QString::fromStdString(chosen_), QString::fromStdString(why)));
        chosen_ = "cpu";
        state_.engine()->use(chosen_);
    }
    Q_EMIT changed();
}

/// The row of the chosen device: of another machine the best one there, where no word was given; the
/// machine's own row while it is being connected, or where it cannot be.
const KnownDevice* Devices::resolved() {
    const KnownDevice* chosen = found(known_, chosen_);
    if (chosen || !is_remote(chosen_)) return chosen;
    const std::string place = parse_remote(chosen_).first.text();
    chosen = bestThere(known_, place);
    if (chosen) chosen_ = chosen->backend;
    return chosen ? chosen : found(known_, place);
}

void Devices::choose(const QString& backend) {
    const std::string word = backend.toStdString();
    if (word == chosen_) return;
    const KnownDevice* device = found(known_, word);
    if (!is_remote(word) && (!device || !device->missing.empty())) return;
    try {
        if (is_remote(word)) parse_remote(word);
    } catch (const InputError& error) {
        Q_EMIT state_.problem(QString::fromUtf8(error.what()));
        return;
    }
    chosen_ = word;
    state_.engine()->use(word);
    resolved();
    Q_EMIT changed();
}

}  // namespace normscope::app
