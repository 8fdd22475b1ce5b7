// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json_object.h"

#include "core/base/error.h"

#include <algorithm>
#include <utility>

namespace normscope {

using nlohmann::json;

JsonObject::JsonObject(const json& value, std::string at) : value_(value), at_(std::move(at)) {
    if (!value.is_object()) throw InputError(at_, "not an object", "{…}");
}

JsonObject::JsonObject(const json& value, std::string at, const std::set<std::string>& keys)
    : JsonObject(value, std::move(at)) {
    for (const auto& entry : value.items())
        if (!keys.count(entry.key()))
            throw InputError(this->at(printable(entry.key())), "is unknown",
                             joined({keys.begin(), keys.end()}));
}

const json& JsonObject::of(const char* key) const {
    if (!has(key)) throw InputError(at(key), "is missing", "");
    return value_.at(key);
}

std::string JsonObject::text(const char* key) const {
    if (!has(key) || !value_.at(key).is_string() || value_.at(key).get_ref<const std::string&>().empty())
        throw InputError(at(key), "is missing", "a text");
    return value_.at(key);
}

std::string JsonObject::text(const char* key, const std::string& otherwise) const {
    if (!has(key)) return otherwise;
    if (!value_.at(key).is_string())
        throw InputError(at(key), shown(value_.at(key)) + " is not a text", "a text");
    return value_.at(key);
}

double JsonObject::number(const char* key) const {
    if (!has(key) || !value_.at(key).is_number()) throw InputError(at(key), "is missing", "a number");
    return value_.at(key);
}

std::int64_t JsonObject::whole(const char* key, std::int64_t low, std::int64_t high) const {
    const auto number = whole_in_range(of(key), low, high);
    if (!number)
        throw InputError(at(key), shown(of(key)) + " is out of range",
                         "whole numbers " + std::to_string(low) + " … " + std::to_string(high));
    return *number;
}

bool JsonObject::flag(const char* key) const {
    if (!of(key).is_boolean()) throw InputError(at(key), shown(of(key)) + " is not a switch", "true, false");
    return of(key);
}

std::size_t JsonObject::word(const char* key, const std::vector<std::string>& words) const {
    const std::string given = text(key);
    const auto found = std::find(words.begin(), words.end(), given);
    if (found == words.end()) throw InputError(at(key), printable(given) + " is unknown", joined(words));
    return static_cast<std::size_t>(found - words.begin());
}

const json& JsonObject::list(const char* key) const {
    static const json none = json::array();
    if (!has(key)) return none;
    if (!value_.at(key).is_array()) throw InputError(at(key), "not a list", "[…]");
    return value_.at(key);
}

std::vector<std::string> JsonObject::texts(const char* key) const {
    std::vector<std::string> all;
    for (const json& item : list(key)) {
        if (!item.is_string()) throw InputError(at(key), "not a list of texts", "[\"…\", …]");
        all.push_back(item);
    }
    return all;
}

std::optional<std::int64_t> whole_in_range(const json& value, std::int64_t low, std::int64_t high) {
    if (!value.is_number_integer()) return std::nullopt;
    if (value.is_number_unsigned() &&
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::max<std::int64_t>(high, 0)))
        return std::nullopt;
    const auto number = value.get<std::int64_t>();
    return number < low || number > high ? std::nullopt : std::optional(number);
}

std::string shown(const json& value) {
    const std::string text = json_text(value);
    return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

}  // namespace normscope
