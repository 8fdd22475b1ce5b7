// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>

namespace normscope::app {

class MainWindow;

/// How the window's state becomes a session's /view, and is restored from it, for those who keep it.
struct ViewText {
    std::function<std::string()> keep;
    std::function<void(const std::string&)> restore;  ///< throws InputError
};

/// The state of the window as the JSON text of a session's /view: size, theme, panels with their options,
/// zoom and log switches, scrubbed step, selections, link, and knobs that differ from the data.
std::string viewJson(const MainWindow& window);

/// Restores the window from such a text. Missing keys change nothing; throws InputError on invalid ones.
void applyViewJson(MainWindow& window, const std::string& json);

}  // namespace normscope::app
