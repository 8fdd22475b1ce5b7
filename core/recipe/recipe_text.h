// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace normscope {

/// The JSON text of a recipe's file, or of a preset, with settings (with_settings); not parsed as a recipe.
/// Throws InputError where there is no such file, and where it is not JSON.
std::string recipe_text(const std::string& file_or_preset, const std::vector<std::string>& settings = {});

}  // namespace normscope
