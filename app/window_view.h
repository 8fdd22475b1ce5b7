// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope::app {

class MainWindow;

/// What a person arranged, as the JSON text that a session keeps under /view: size, theme, panels with their
/// options, zoom and log switches, scrubbed step, selections, link, and knobs that moved on from the data.
std::string viewJson(const MainWindow& window);

/// Arranges the window as such a text says. What is missing stays as it is; throws InputError on what is
/// wrong.
void applyViewJson(MainWindow& window, const std::string& json);

}  // namespace normscope::app
