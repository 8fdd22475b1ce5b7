// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/window/commands.h"

namespace normscope::app {

class MainWindow;

/// Every command of the window with its place, text, keys and slot, in the order of menus and of Ctrl+K.
std::vector<CommandRow> commandTable(MainWindow& window);

}  // namespace normscope::app
