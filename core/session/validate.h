// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace normscope {

/// Checks a session or recording against the file format: attributes, data sets, types, ranks and lengths,
/// shapes that fit the recipe's depth, rising steps, known states, and no NaN or infinity but where the
/// contract or a divergence allows it. Returns one line per problem, none for a sound file; a file that
/// cannot be opened at all is one problem too.
std::vector<std::string> validate_session(const std::string& path);

}  // namespace normscope
