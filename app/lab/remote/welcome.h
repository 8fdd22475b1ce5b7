// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>

namespace normscope::app {

/// The first line from another machine: an engine that can be talked to, or why there is none.
struct Welcome {
    std::string failed;  ///< one line; empty: what follows is of a Channel
};

/// The line of an engine of this version.
std::string welcome_line();
/// The line that states why there is none.
std::string welcome_failed(const std::string& why);
/// What a line states; nullopt for one that is neither (a shell there may print others). An engine of another
/// version or protocol is a failure.
std::optional<Welcome> welcome_of(const std::string& line);

}  // namespace normscope::app
