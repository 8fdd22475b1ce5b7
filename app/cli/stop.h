// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope::app {

/// From now on the first of the signals INT, TERM, HUP, USR1, USR2 and XCPU asks the command to stop, also
/// where the program was started with them ignored or blocked. A second one ends the program at once (but for
/// XCPU, which the system repeats every second).
void listen_for_signals();

/// The command is asked to stop this many seconds from now; 0: never.
void stop_after(double seconds);

/// Whether it is to stop. Any thread.
bool stop_wanted();

/// "stopped by SIGTERM", "stopped by --max-seconds"; where stop_wanted().
std::string stopped_by();

}  // namespace normscope::app
