// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope::test {

/// Puts another text in the place of the recipe of a file's first run, without NULs. Throws where it cannot.
void replace_recipe(const std::string& path, const std::string& text);

}  // namespace normscope::test
