// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>

namespace normscope::app {

/// How the window's state becomes a session's /view, and is restored from it, for those who keep it.
struct ViewText {
    std::function<std::string()> keep;
    std::function<void(const std::string&)> restore;  ///< throws InputError
};

}  // namespace normscope::app
