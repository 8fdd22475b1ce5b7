// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/window_options.h"

namespace normscope::app {

class MainWindow;

/// `normscope --screenshot OUT.png`: opens the session or starts the story, trains, scrubs and measures as
/// the options say, waits until the window is ready, saves a screenshot and quits. The application ends with
/// 0, with 1 where the file cannot be written, with 2 where the session cannot be read.
void takeScreenshot(MainWindow& window, const WindowOptions& options);

}  // namespace normscope::app
