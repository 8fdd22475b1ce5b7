// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/strict_json.h"
#include "core/stack/value_reader.h"

#include <functional>
#include <string>
#include <vector>

namespace normscope {

/// Reads a spec from JSON: missing keys keep their value, unknown keys and values out of range throw
/// InputError with the path of the key ("stack.norm.eps") and the allowed set.
class JsonReader final : public ValueReader {
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
    const FieldValue* value_of(const char* key) override;
    std::string path_of(const char* key) const override;
    std::string shown(const char* key) const override;
    void visit_group(const char* key, const std::function<void()>& inside) override;
    void visit_list(const char* key, std::size_t count, const std::function<void(std::size_t)>& resize,
                    const std::function<void(std::size_t)>& item) override;
    const nlohmann::json* find(const char* key);
    void enter(const nlohmann::json& object, std::string path, const std::function<void()>& inside);
    static void reject_unknown_keys(const Level& level);

    std::vector<Level> levels_;
    FieldValue value_;  ///< of the key last asked for
};

/// Writes every field of a spec, in the order of list_fields.
class JsonWriter final : public Fields {
  public:
    nlohmann::ordered_json take() { return std::move(levels_.front()); }

  private:
    void visit_integer(const char* key, int& value, int low, int high) override;
    void visit_whole(const char* key, std::uint64_t& value) override;
    void visit_real(const char* key, double& value, RealRange range) override;
    void visit_reals(const char* key, std::span<double> values, RealRange range) override;
    void visit_flag(const char* key, bool& value) override;
    void visit_text(const char* key, std::string& value) override;
    void visit_optional_flag(const char* key, std::optional<bool>& value) override;
    void visit_optional_real(const char* key, std::optional<double>& value, RealRange range) override;
    void visit_integer_or_auto(const char* key, int& value, int low, int high) override;
    void visit_word(const char* key, int& index, std::span<const char* const> allowed) override;
    void visit_group(const char* key, const std::function<void()>& inside) override;
    void visit_list(const char* key, std::size_t count, const std::function<void(std::size_t)>& resize,
                    const std::function<void(std::size_t)>& item) override;
    nlohmann::ordered_json& top() { return levels_.back(); }

    std::vector<nlohmann::ordered_json> levels_{nlohmann::ordered_json::object()};
};

}  // namespace normscope
