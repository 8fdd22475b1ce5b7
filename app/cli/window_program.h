// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace normscope::app {

/// Runs the window's program, which is in the folder of this one or in the one above, with these arguments,
/// and returns its exit code. Throws SystemError where it is not there, cannot be started or ends by a
/// signal; `who` begins the message.
int run_window_program(const std::string& who, const std::vector<std::string>& arguments);

}  // namespace normscope::app
