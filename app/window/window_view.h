// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope::app {

class MainWindow;

/// The state of the window as the JSON text of a session's /view: size, theme, panels with their options,
/// zoom and log switches, scrubbed step, selections, link, and knobs that differ from the data.
std::string viewJson(const MainWindow& window);

/// Restores the window from such a text. Missing keys change nothing; throws InputError on invalid ones.
void applyViewJson(MainWindow& window, const std::string& json);

}  // namespace normscope::app
