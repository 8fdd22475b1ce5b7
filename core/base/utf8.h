// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace normscope {

/// The length of the UTF-8 character that begins a text, 1 … 4; 0: none does (overlong forms, surrogates and
/// numbers above U+10FFFF are none).
std::size_t character_length(std::string_view text);

}  // namespace normscope
