// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/frame.h"

#include <QObject>
#include <QString>
#include <string>
#include <vector>

namespace normscope::app {

class LabState;

/// The devices of trainings: those that there are, and the chosen one. Interface thread.
class Devices : public QObject {
    Q_OBJECT
  public:
    /// `backend`: the chosen one, the CPU where it is not available; "auto": the best one, once it is found.
    Devices(LabState& state, std::string backend);

    /// Those of this build and machine, best first; empty until they are found (changed()).
    const std::vector<KnownDevice>& known() const { return known_; }
    /// The word of the device that the next start, fork or resumption trains on; a run in training keeps its
    /// own. "auto" until the devices are found.
    const std::string& chosen() const { return chosen_; }
    /// Ignored where it is not available; "ssh://host" connects to another machine, and is its best device.
    /// A line is a problem() where it is not understood.
    void choose(const QString& backend);
    /// "connecting", "reconnecting": its machine is not connected now; else empty.
    QString waits(const std::string& backend) const;
    /// Measures their free memory again.
    void find();
    /// Threads of the engine.
    int engineThreads() const;

  Q_SIGNALS:
    void changed();  ///< found, chosen, or their memory

  private:
    void apply(const DevicesPtr& devices);
    const KnownDevice* resolved();

    LabState& state_;
    std::vector<KnownDevice> known_;
    std::string chosen_;
    QString not_understood_;  ///< why the first choice is not one, until that is reported
};

}  // namespace normscope::app
