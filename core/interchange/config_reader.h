// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/strict_json.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace normscope {

/// A configuration (config.json) that tracks which keys were read. The others are judged by finish().
class ConfigReader {
  public:
    /// InputError unless it is an object.
    ConfigReader(const nlohmann::json& object, std::string where);

    /// nullptr where the key is missing or null.
    const nlohmann::json* find(const std::string& key);
    bool has(const std::string& key) { return find(key) != nullptr; }
    /// Whether the key is there, null or not.
    bool states(const std::string& key) const { return object_.contains(key); }
    // Of the type asked for, else InputError; `otherwise` where the key is missing or null.
    int integer(const std::string& key, std::optional<int> otherwise = std::nullopt);
    double real(const std::string& key, double otherwise);
    bool flag(const std::string& key, bool otherwise);
    std::string text(const std::string& key, const std::string& otherwise);
    /// The key must be missing, null or exactly this.
    void only(const std::string& key, const nlohmann::json& allowed);
    [[noreturn]] void reject(const std::string& key, const std::string& allowed) const;
    [[noreturn]] void reject(const std::string& key, const std::string& what,
                             const std::string& allowed) const;

    /// What is left: keys known to change nothing (known_config_keys) and unknown ones are named in `notes`.
    /// InputError, all at once, for unknown ones that may change what the model computes: by their names
    /// (rope, norm, attn, act, scal, bias, window, cap, …) and a value that is not neutral.
    void finish(std::vector<std::string>& notes) const;

    /// InputError, all at once, for keys that were not read: of an object whose every key computes.
    void only_read(const std::string& allowed) const;

    const std::string& where() const { return where_; }

  private:
    const nlohmann::json& object_;
    std::string where_;
    std::set<std::string> read_;
};

/// A key of configurations that changes nothing between tokens and logits, and what it is.
struct KnownConfigKey {
    const char* key;
    const char* meaning;
};
const std::vector<KnownConfigKey>& known_config_keys();

}  // namespace normscope
