// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QMenu;

namespace normscope::app {

class MainWindow;

/// Adds every command of the window as an action with its shortcut, for Ctrl+K and Ctrl+/.
void addWindowActions(MainWindow& window);
/// Fills the window's menu with these actions, by what they are about.
void fillWindowMenu(MainWindow& window, QMenu& menu);
/// Updates the actions of the recent files, Ctrl+1 … Ctrl+9.
void updateRecentFiles(MainWindow& window);

}  // namespace normscope::app
