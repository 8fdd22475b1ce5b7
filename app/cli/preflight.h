// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

namespace normscope::app {

/// As the functions of command.h.
void add_preflight(CLI::App& program, Task& task);

}  // namespace normscope::app
