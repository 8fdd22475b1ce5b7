// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope::test {

/// Puts another text in the place of every recipe of a file: of its runs and their checkpoints. Throws where
/// it cannot.
void replace_recipe(const std::string& path, const std::string& text);

}  // namespace normscope::test
