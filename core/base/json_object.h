// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/strict_json.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace normscope {

/// Reads one JSON object of a file of ours, each value checked against its type and range. `at` begins each
/// message and names the object ("story s: steps.0"). Throws InputError of one line: the key, what is wrong
/// with it, what is allowed. Refers to the value, which must outlive it.
class JsonObject {
  public:
    JsonObject(const nlohmann::json& value, std::string at);
    /// Other keys than these are rejected.
    JsonObject(const nlohmann::json& value, std::string at, const std::set<std::string>& keys);

    /// The object's place, and that of one of its keys.
    const std::string& at() const { return at_; }
    std::string at(const std::string& key) const { return at_ + ": " + printable(key); }
    const nlohmann::json& value() const { return value_; }

    bool has(const char* key) const { return value_.contains(key); }
    /// Rejects a missing key, as all below without `otherwise`.
    const nlohmann::json& of(const char* key) const;
    JsonObject object(const char* key) const { return {of(key), at(key)}; }
    /// A text with a character at least.
    std::string text(const char* key) const;
    std::string text(const char* key, const std::string& otherwise) const;
    double number(const char* key) const;
    std::int64_t whole(const char* key, std::int64_t low, std::int64_t high) const;
    bool flag(const char* key) const;
    bool flag(const char* key, bool otherwise) const { return has(key) ? flag(key) : otherwise; }
    /// The index of one of `words`.
    std::size_t word(const char* key, const std::vector<std::string>& words) const;
    /// A list; empty where the key is missing.
    const nlohmann::json& list(const char* key) const;
    std::vector<std::string> texts(const char* key) const;

  private:
    const nlohmann::json& value_;
    std::string at_;
};

/// A number of JSON as a whole number in [low, high]; none where it is not one.
std::optional<std::int64_t> whole_in_range(const nlohmann::json& value, std::int64_t low, std::int64_t high);

/// A value for a message: in one line, truncated where long.
std::string shown(const nlohmann::json& value);

/// "a, b, c": what is allowed.
std::string joined(const std::vector<std::string>& words);

}  // namespace normscope
