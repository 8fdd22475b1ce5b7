// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope::app {

/// `normscope preflight RECIPE --out REPORT.pdf|.html`: the report of a stack at step 0, without a window.
/// Needs a QApplication. Returns the exit code: 0, 1 on a system error, 2 for wrong usage or input; one line
/// on stderr for each error.
int runPreflightCommand(int argc, char** argv);

/// Its options as a table of Markdown, for the reference.
std::string preflightOptions();

}  // namespace normscope::app
