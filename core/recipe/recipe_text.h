// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace normscope {

/// The JSON text of a recipe's file, or of a preset, with settings (with_settings); not parsed as a recipe.
/// Throws InputError where there is no such file, and where it is not JSON.
std::string recipe_text(const std::string& file_or_preset, const std::vector<std::string>& settings = {});

/// Settings "KEY=VALUE" of a JSON object: {"stack": {"depth": 6}, "optimizer.lr": 1e-3}. Throws InputError,
/// which begins with `where`, for what is no object of values.
std::vector<std::string> settings_of_json(const std::string& text, const std::string& where);

}  // namespace normscope
