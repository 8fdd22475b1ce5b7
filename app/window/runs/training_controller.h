// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/files/io_worker.h"
#include "widgets/common/throttle.h"

#include <QObject>

namespace normscope::widgets {
class Banner;
class Presentation;
class TransportBar;
}  // namespace normscope::widgets

namespace normscope::app {

class FilesController;
class Lab;

/// Training in the window: the transport bar and what the presentation has of it, the devices, and the offers
/// to resume runs. Interface thread.
class TrainingController : public QObject {
    Q_OBJECT
  public:
    struct Views {
        widgets::TransportBar* transport;
        widgets::Presentation* presentation;
        widgets::Banner* banner;
    };
    TrainingController(Lab& lab, FilesController& files, const Views& views, QObject* parent);

    /// Steps, lanes, rates and buttons, as they are now.
    void show();
    void chooseDevice(const QString& backend);
    /// Asks for another machine, whose best device is chosen then.
    void chooseMachine();
    /// Opens the menu of devices.
    void showDevices();
    /// Continues the selected run, which failed or was stopped, on the chosen device.
    void resumeSelected();
    /// Forks the selected run at the shown step, or cancels the replay of a fork. Of a run that has ended at
    /// its last step, asks for how many more.
    void forkHere();

  private:
    void connectTransport();
    void connectPresentation();
    void showDeviceChoice();
    void offerResumption();
    void offerInterruptedRuns(const QList<InterruptedRun>& found);

    Lab& lab_;
    FilesController& files_;
    const Views views_;
    widgets::Throttle later_;  ///< updates what training changes
};

}  // namespace normscope::app
