// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace normscope::app {

class MainWindow;

/// Adds every command of the window as an action with its shortcut: what Ctrl+K finds and Ctrl+/ lists.
void addWindowActions(MainWindow& window);
/// The recent files, Ctrl+1 … Ctrl+9, as they are now.
void updateRecentFiles(MainWindow& window);

}  // namespace normscope::app
