// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/runs/bar_button.h"

#include <QString>
#include <vector>

namespace normscope::widgets {

/// One row of the menu.
struct DeviceEntry {
    QString backend;  ///< the word: "cuda:1"
    QString name;     ///< and its memory: "NVIDIA H100 80GB HBM3 · 77.1 of 79.2 GiB free"
    QString missing;  ///< why it cannot be chosen, in one line; empty where it can
    QString note;     ///< a second line of its tooltip
    QString waits;    ///< "reconnecting": its machine is not connected now; empty where it is
    bool operator==(const DeviceEntry&) const = default;
};

/// The device of the next training: a button with its word, and a menu of all devices, and of another
/// machine's. Those that are not available are disabled, with the reason.
class DeviceButton : public BarButton {
    Q_OBJECT
  public:
    explicit DeviceButton(QWidget* parent = nullptr);

    // The setters send no signal.
    void setDevices(const std::vector<DeviceEntry>& devices);
    void setChosen(const QString& backend);
    QString chosen() const { return chosen_; }
    /// A run is training: a choice acts on the next one.
    void setTraining(bool training);

  Q_SIGNALS:
    void deviceChosen(const QString& backend);
    void menuOpens();  ///< its texts may be updated while it is open
    void anotherMachineWanted();

  private:
    void showChosen();
    /// A device's word, as the button shows it, or that its machine is not connected.
    QString shortened(const DeviceEntry& device) const;

    std::vector<DeviceEntry> devices_;
    QString chosen_;
    bool training_ = false;
};

}  // namespace normscope::widgets
