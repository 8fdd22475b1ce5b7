// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace normscope::app {

/// A command's arguments and options as a table, from the parser that reads them: names, values with their
/// allowed range and default, and what each does.
std::string options_table(const CLI::App& command);

}  // namespace normscope::app
