// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/strict_json.h"

#include "core/base/error.h"
#include "core/base/utf8.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace normscope {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr std::size_t kLongest = 80;
constexpr int kOutOfRange = 406;  // nlohmann's id of a number that overflows

void require_text(std::string_view text, const std::string& where) {
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\0')
            throw InputError(where, "has a NUL at byte " + std::to_string(at + 1), "text without it");
        const std::size_t length = character_length(text.substr(at));
        if (length == 0)
            throw InputError(where, "is not valid UTF-8 at byte " + std::to_string(at + 1), "text in UTF-8");
        at += length;
    }
}

bool has_control_character(const std::string& text) {
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// What the parser finds becomes a value, unless a limit is exceeded. The parser itself is not recursive.
template <class Json>
class Builder {
  public:
    explicit Builder(const std::string& where, JsonKeys keys = JsonKeys::Printable)
        : where_(where), keys_(keys) {}
    Json take() { return std::move(root_); }
    const std::string& syntax_error() const { return syntax_error_; }

    bool null() { return add(Json()); }
    bool boolean(bool value) { return add(Json(value)); }
    bool number_integer(std::int64_t value) { return add(Json(value)); }
    bool number_unsigned(std::uint64_t value) { return add(Json(value)); }
    bool number_float(double value, const std::string&) { return add(Json(value)); }
    bool binary(typename Json::binary_t&) { return false; }  // JSON text has none
    bool string(std::string& value) {
        if (value.find('\0') != std::string::npos) reject("has a NUL in its text", "text without it");
        return add(Json(std::move(value)));
    }
    bool start_object(std::size_t) { return open(Json::object()); }
    bool start_array(std::size_t) { return open(Json::array()); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(std::string& name) {
        Level& level = levels_.back();
        level.key.reset();
        if (keys_ == JsonKeys::Printable && has_control_character(name))
            reject("the key " + normscope::quoted(name) + " has control characters", "printable keys");
        if (!level.keys.insert(name).second)
            reject(normscope::quoted(name) + " appears twice", "each key once");
        level.key = std::move(name);
        return true;
    }
    bool parse_error(std::size_t byte, const std::string& token, const json::exception& error) {
        if (error.id == kOutOfRange)
            reject("the number " + printable(token) + " is out of range", "magnitudes up to 1.8e308");
        const std::string at = path();
        syntax_error_ =
            where_ + ": not valid JSON at byte " + std::to_string(byte) + (at.empty() ? "" : ", in " + at);
        return false;
    }

  private:
    struct Level {
        Json* value;
        std::optional<std::string> key{};  ///< of the member that is read, in an object
        std::set<std::string> keys{};      ///< read so far, in an object
    };

    std::string path() const {
        std::string text;
        for (const Level& level : levels_)
            if (level.value->is_array())
                text += "[" + std::to_string(level.value->size() - (&level == &levels_.back() ? 0 : 1)) + "]";
            else if (level.key)
                text += (text.empty() ? "" : ".") + printable(*level.key);
        return text;
    }
    [[noreturn]] void reject(const std::string& what, const std::string& allowed) const {
        const std::string at = path();
        throw InputError(where_ + (at.empty() ? "" : ": " + at), what, allowed);
    }

    Json& put(Json value) {
        if (levels_.empty()) return root_ = std::move(value);
        Level& level = levels_.back();
        if (level.value->is_array()) {
            level.value->push_back(std::move(value));
            return level.value->back();
        }
        auto& object = level.value->template get_ref<typename Json::object_t&>();
        if constexpr (std::is_same_v<Json, ordered_json>) {
            object.emplace_back(*level.key, std::move(value));  // emplace would search all keys
            return object.back().second;
        } else {
            return object.emplace(*level.key, std::move(value)).first->second;
        }
    }
    bool add(Json value) {
        put(std::move(value));
        return true;
    }
    bool open(Json value) {
        if (levels_.size() == kDeepestJson)
            reject("is nested deeper than " + std::to_string(kDeepestJson) + " levels",
                   "at most " + std::to_string(kDeepestJson));
        levels_.push_back({&put(std::move(value))});
        return true;
    }
    bool close() {
        levels_.pop_back();
        return true;
    }

    const std::string& where_;
    JsonKeys keys_;
    Json root_;
    std::vector<Level> levels_;  ///< the open objects and arrays
    std::string syntax_error_;
};

/// None where the text is not JSON; why, in `problem`.
template <class Json>
std::optional<Json> read(std::string_view text, const std::string& where, std::string& problem,
                         JsonKeys keys = JsonKeys::Printable) {
    require_text(text, where);
    Builder<Json> builder(where, keys);
    if (Json::sax_parse(text, &builder)) return builder.take();
    problem = builder.syntax_error();
    return std::nullopt;
}

template <class Json>
Json required(std::string_view text, const std::string& where, JsonKeys keys = JsonKeys::Printable) {
    std::string problem;
    std::optional<Json> value = read<Json>(text, where, problem, keys);
    if (!value) throw InputError(problem);
    return std::move(*value);
}

template <class Json>
std::string dumped(const Json& value, int indent) {
    return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string quoted(const std::string& text) {
    return dumped(json(text.size() > kLongest ? text.substr(0, kLongest) + "…" : text), -1);
}

std::string printable(const std::string& text) {
    const std::string all = quoted(text);
    return all.substr(1, all.size() - 2);
}

json strict_json(std::string_view text, const std::string& where, JsonKeys keys) {
    return required<json>(text, where, keys);
}

ordered_json strict_ordered_json(std::string_view text, const std::string& where) {
    return required<ordered_json>(text, where);
}

json json_or_word(std::string_view text, const std::string& where) {
    std::string problem;
    std::optional<json> value = read<json>(text, where, problem);
    return value ? std::move(*value) : json(std::string(text));
}

std::string json_text(const json& value, int indent) {
    return dumped(value, indent);
}
std::string json_text(const ordered_json& value, int indent) {
    return dumped(value, indent);
}

}  // namespace normscope
