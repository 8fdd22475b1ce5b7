// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/json_fields.h"

#include "core/base/error.h"
#include "core/base/strict_json.h"

#include <algorithm>

namespace normscope {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

// One line, even where the value is a whole object.
std::string text_of(const json& value) {
    std::string text = json_text(value);
    if (text.size() > 60) text.replace(57, std::string::npos, "...");
    return text;
}

FieldValue converted(const json& value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    const bool numbers = value.is_array() && std::all_of(value.begin(), value.end(),
                                                         [](const json& entry) { return entry.is_number(); });
    if (numbers) return value.get<std::vector<double>>();
    return {};
}

}  // namespace

JsonReader::JsonReader(const json& object, std::string path) {
    if (!object.is_object()) throw InputError(path, text_of(object) + " is not an object", "{…}");
    levels_.push_back({&object, std::move(path), {}});
}

std::string JsonReader::path_of(const char* key) const {
    const std::string& path = levels_.back().path;
    return path.empty() ? key : path + "." + key;
}

const json* JsonReader::find(const char* key) {
    Level& level = levels_.back();
    if (std::find(level.known.begin(), level.known.end(), key) == level.known.end())
        level.known.emplace_back(key);
    const auto it = level.object->find(key);
    return it == level.object->end() ? nullptr : &*it;
}

void JsonReader::reject_unknown_keys(const Level& level) {
    for (const auto& [key, value] : level.object->items()) {
        if (std::find(level.known.begin(), level.known.end(), key) != level.known.end()) continue;
        std::string allowed;
        for (const auto& known : level.known) allowed += (allowed.empty() ? "" : ", ") + known;
        throw InputError((level.path.empty() ? "" : level.path + ".") + printable(key), "unknown key",
                         allowed);
    }
}

void JsonReader::reject_unknown_keys() const {
    reject_unknown_keys(levels_.back());
}

void JsonReader::visit(const char* key, void* at, const FieldType& type, const Role&) {
    const json* j = find(key);
    if (!j) return;
    if (const auto rejection = type.set(at, converted(*j)))
        throw InputError(path_of(key), text_of(*j) + rejection->reason, rejection->allowed);
}

void JsonReader::enter(const json& object, std::string path, const std::function<void()>& inside) {
    if (!object.is_object()) throw InputError(path, text_of(object) + " is not an object", "{…}");
    levels_.push_back({&object, std::move(path), {}});
    inside();
    reject_unknown_keys();
    levels_.pop_back();
}

void JsonReader::visit_group(const char* key, const std::function<void()>& inside) {
    if (const json* j = find(key)) enter(*j, path_of(key), inside);
}

void JsonReader::visit_list(const char* key, void* list, const FieldType& type, const Role&,
                            const std::function<void(std::size_t)>& item) {
    const json* j = find(key);
    if (!j) return;
    if (!j->is_array()) throw InputError(path_of(key), text_of(*j) + " is not a list", "[{…}, …]");
    type.list->reset(list, j->size());
    for (std::size_t i = 0; i < j->size(); ++i)
        enter((*j)[i], path_of(key) + "[" + std::to_string(i) + "]", [&] { item(i); });
}

void JsonWriter::visit(const char* key, void* at, const FieldType& type, const Role&) {
    const FieldValue value = type.get(at);
    if (is_absent(value)) return;
    std::visit(
        [&](const auto& v) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) top()[key] = v;
        },
        value);
}

void JsonWriter::visit_group(const char* key, const std::function<void()>& inside) {
    levels_.push_back(ordered_json::object());
    inside();
    ordered_json object = std::move(levels_.back());
    levels_.pop_back();
    top()[key] = std::move(object);
}

void JsonWriter::visit_list(const char* key, void* list, const FieldType& type, const Role&,
                            const std::function<void(std::size_t)>& item) {
    ordered_json array = ordered_json::array();
    for (std::size_t i = 0; i < type.list->size(list); ++i) {
        levels_.push_back(ordered_json::object());
        item(i);
        array.push_back(std::move(levels_.back()));
        levels_.pop_back();
    }
    top()[key] = std::move(array);
}

}  // namespace normscope
