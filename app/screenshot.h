// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>
#include <QString>

namespace normscope::app {

class MainWindow;

/// `normscope --screenshot OUT.png`: shows the window, waits for what was asked, saves a picture of it and
/// quits.
struct ScreenshotOrder {
    QString out;
    QString session;  ///< opened first; empty = the default comparison
    QSize size{1440, 900};
    int train_steps = 0;  ///< trains until every run has so many steps, or ended
    double after = 0;     ///< seconds to wait then
    qint64 step = -1;     ///< scrubbed to afterwards; -1 = the newest
    bool measure = false;  ///< what that step lacks is measured
};

/// Takes the picture once the window runs; quits the application with 0, or 1 when the file can not be
/// written.
void takeScreenshot(MainWindow& window, const ScreenshotOrder& order);

}  // namespace normscope::app
