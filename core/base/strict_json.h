// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace normscope {

/// The deepest nesting of JSON that is read. What consumes a value (dump, copies) is recursive.
inline constexpr int kDeepestJson = 32;

/// The only reader of JSON text: recipes, sweeps, stories, gallery entries, a session's /view, the kept
/// window, figure specifications, model files. `where` begins each message, the path of the key follows it
/// ("stack.layers[3].attn"). Throws InputError, always one line, for
///  - what is not JSON, with the byte, and for bytes after it;
///  - a NUL byte, a NUL in a text, and bytes that are not UTF-8;
///  - an object that has a key twice, of which a lenient reader would silently drop one;
///  - a key with control characters, unless `keys` allows any;
///  - values nested deeper than kDeepestJson;
///  - numbers beyond the range of a double.
/// The value can therefore be written, copied and (with printable keys) quoted in a message without a further
/// check.
enum class JsonKeys { Printable, Any };  ///< Any: the tokens of a vocabulary, some of which are line breaks
nlohmann::json strict_json(std::string_view text, const std::string& where,
                           JsonKeys keys = JsonKeys::Printable);

/// The same with the keys in the order of the text.
nlohmann::ordered_json strict_ordered_json(std::string_view text, const std::string& where);

/// A value as an argument states it ("--set KEY=VALUE"): JSON, or else the text itself as a string. Throws
/// InputError as above, except for what is not JSON.
nlohmann::json json_or_word(std::string_view text, const std::string& where);

/// JSON as text, `indent` < 0: in one line. Bytes that are not UTF-8 (names out of foreign files) are
/// replaced.
std::string json_text(const nlohmann::json& value, int indent = -1);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

/// A foreign text for a message: quoted, control characters escaped, truncated where long.
std::string quoted(const std::string& text);
/// The same without the quotes.
std::string printable(const std::string& text);

}  // namespace normscope
