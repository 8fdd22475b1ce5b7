// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

namespace normscope::app {

/// `normscope docs --out DIR`: the pages of the reference that need Qt, which `normscope-cli docs` asks for.
/// `window` has the options of the window. Returns the exit code.
int runDocsCommand(int argc, char** argv, const CLI::App& window);

}  // namespace normscope::app
