// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope::app {

/// `normscope figure SESSION.h5… --panel growth --out fig.svg …`: one figure, without a window. Needs a
/// QApplication. Returns the exit code: 0, 1 on a system error, 2 for wrong usage or input; one line on
/// stderr for each error.
int runFigureCommand(int argc, char** argv);

/// Its options as a table of Markdown, for the reference.
std::string figureOptions();

}  // namespace normscope::app
