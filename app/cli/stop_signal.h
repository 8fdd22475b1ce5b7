// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope::app {

/// From now on the first SIGINT or SIGTERM is kept for stop_signal(), a second one kills the program.
void listen_for_signals();

/// The signal that was received; 0: none. Any thread.
int stop_signal();

/// "stopped by SIGINT"
const char* stopped_by();

}  // namespace normscope::app
