// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>
#include <QString>

namespace normscope::app {

class MainWindow;

/// `normscope --screenshot OUT.png`: shows the window, waits until it is ready, saves a screenshot and quits.
struct ScreenshotOrder {
    QString out;
    QString session;  ///< opened first; empty = the default comparison
    QSize size{1440, 900};
    int train_steps = 0;   ///< trains until every run has so many steps, or ended
    double after = 0;      ///< seconds to wait then
    qint64 step = -1;      ///< scrubbed to afterwards; -1 = the newest
    bool measure = false;  ///< missing samples of that step are measured
    QString story;         ///< shown instead of the default comparison; empty = none
    int story_step = 1;    ///< shown at the end, from 1
    bool present = false;  ///< in presentation mode
};

/// Takes the screenshot once the window is ready; quits the application with 0, or 1 when the file cannot be
/// written.
void takeScreenshot(MainWindow& window, const ScreenshotOrder& order);

}  // namespace normscope::app
