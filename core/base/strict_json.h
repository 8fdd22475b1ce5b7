// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace normscope {

/// JSON from an untrusted file. InputError for what is not JSON, for an object that has a key twice (of which
/// a lenient reader would silently drop one) and for values nested deeper than any model file needs.
nlohmann::json strict_json(std::string_view text, const std::string& where);

/// A string of the file for a message: quoted, control characters escaped, truncated where long.
std::string quoted(const std::string& text);

}  // namespace normscope
