// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope::app {

class MainWindow;

/// The state of the window as the JSON text of a session's /view: size, theme, panels with their options,
/// zoom and log switches, scrubbed step, selections, link, notes, and knobs that differ from the data.
std::string viewJson(const MainWindow& window);

/// Restores the window from such a text. Missing keys change nothing; throws InputError on invalid ones.
/// `with_theme`: light or dark too, as for a window that was left; a session of another person leaves it.
void applyViewJson(MainWindow& window, const std::string& json, bool with_theme);

}  // namespace normscope::app
