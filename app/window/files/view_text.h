// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>

namespace normscope::app {

/// How the window's state becomes a session's /view, and is restored from it, for those who keep it.
struct ViewText {
    std::function<std::string()> keep;
    /// Of the window as it was left, its theme included; throws InputError.
    std::function<void(const std::string&)> restore;
    std::function<void(const std::string&)> open;  ///< of a session: without the theme
};

}  // namespace normscope::app
