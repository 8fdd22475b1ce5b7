// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/strict_json.h"
#include "core/stack/fields.h"

#include <functional>
#include <string>
#include <vector>

namespace normscope {

/// Reads a spec from JSON: missing keys keep their value, unknown keys and values out of range throw
/// InputError with the path of the key ("stack.norm.eps") and the allowed set.
class JsonReader final : public Fields {
  public:
    /// `path` names `object` in messages, e.g. "stack". The object must outlive the reader.
    JsonReader(const nlohmann::json& object, std::string path);

    /// Throws for a key of the object that no field read.
    void reject_unknown_keys() const;

  private:
    struct Level {
        const nlohmann::json* object;
        std::string path;
        std::vector<std::string> known;
    };
    void visit(const char* key, void* at, const FieldType& type, const Role& role) override;
    void visit_group(const char* key, const std::function<void()>& inside) override;
    void visit_list(const char* key, void* list, const FieldType& type, const Role& role,
                    const std::function<void(std::size_t)>& item) override;
    std::string path_of(const char* key) const;
    const nlohmann::json* find(const char* key);
    void enter(const nlohmann::json& object, std::string path, const std::function<void()>& inside);
    static void reject_unknown_keys(const Level& level);

    std::vector<Level> levels_;
};

/// Writes every field of a spec, in the order of list_fields.
class JsonWriter final : public Fields {
  public:
    nlohmann::ordered_json take() { return std::move(levels_.front()); }

  private:
    void visit(const char* key, void* at, const FieldType& type, const Role& role) override;
    void visit_group(const char* key, const std::function<void()>& inside) override;
    void visit_list(const char* key, void* list, const FieldType& type, const Role& role,
                    const std::function<void(std::size_t)>& item) override;
    nlohmann::ordered_json& top() { return levels_.back(); }

    std::vector<nlohmann::ordered_json> levels_{nlohmann::ordered_json::object()};
};

}  // namespace normscope
