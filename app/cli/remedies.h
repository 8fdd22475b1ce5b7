// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

namespace normscope::app {

/// `remedies`: as the other commands of command.h.
void add_remedies(CLI::App& program, Task& task);

}  // namespace normscope::app
