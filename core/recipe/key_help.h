// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string_view>

namespace normscope {

/// What a key of a recipe does, with its formula and source: the text of the knob's tooltip and of the
/// reference. Keys of the entries of a list are without their number: "stack.layers.attn.in".
struct KeyHelp {
    const char* key;
    const char* text;  ///< one or several lines
};

/// Of every key, in the order in which a recipe writes them. The window translates them in the context
/// "KnobTable".
std::span<const KeyHelp> key_helps();

/// The text of one key; nullptr where there is no such key.
const char* key_help(std::string_view key);

}  // namespace normscope
