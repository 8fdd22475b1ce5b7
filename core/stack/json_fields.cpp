// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/json_fields.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/stack/error.h"

namespace normscope {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

std::string number_text(double v) {
    if (std::isinf(v)) return v > 0 ? "∞" : "−∞";
    std::ostringstream out;
    out << v;
    return out.str();
}

std::string joined(std::span<const char* const> words) {
    std::string text;
    for (const char* word : words) text += (text.empty() ? "" : ", ") + std::string(word);
    return text;
}

std::string range_text(int low, int high) { return std::to_string(low) + " … " + std::to_string(high); }

// One line, even where the value is a whole object.
std::string shown(const json& value) {
    std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

}  // namespace

std::string RealRange::text() const {
    return std::string(low_open || std::isinf(low) ? "(" : "[") + number_text(low) + ", " +
           number_text(high) + (std::isinf(high) ? ")" : "]");
}

JsonReader::JsonReader(const json& object, std::string path) {
    if (!object.is_object()) throw InputError(path, shown(object) + " is not an object", "{…}");
    levels_.push_back({&object, std::move(path), {}});
}

std::string JsonReader::path_of(const char* key) const {
    const std::string& path = levels_.back().path;
    return path.empty() ? key : path + "." + key;
}

const json* JsonReader::find(const char* key) {
    Level& level = levels_.back();
    level.known.emplace_back(key);
    const auto it = level.object->find(key);
    return it == level.object->end() ? nullptr : &*it;
}

void JsonReader::reject_unknown_keys(const Level& level) {
    for (const auto& [key, value] : level.object->items()) {
        if (std::find(level.known.begin(), level.known.end(), key) != level.known.end()) continue;
        std::string allowed;
        for (const auto& known : level.known) allowed += (allowed.empty() ? "" : ", ") + known;
        throw InputError(level.path.empty() ? key : level.path + "." + key, "unknown key", allowed);
    }
}

void JsonReader::reject_unknown_keys() const { reject_unknown_keys(levels_.back()); }

void JsonReader::integer(const char* key, int& value, int low, int high) {
    const json* j = find(key);
    if (!j) return;
    if (!j->is_number_integer())
        throw InputError(path_of(key), shown(*j) + " is not a whole number", range_text(low, high));
    const auto v = j->is_number_unsigned() && j->get<std::uint64_t>() > static_cast<std::uint64_t>(high)
                       ? static_cast<std::int64_t>(high) + 1
                       : j->get<std::int64_t>();
    if (v < low || v > high)
        throw InputError(path_of(key), shown(*j) + " is out of range", range_text(low, high));
    value = static_cast<int>(v);
}

void JsonReader::integer_or_auto(const char* key, int& value, int low, int high) {
    const auto it = levels_.back().object->find(key);
    if (it != levels_.back().object->end() && it->is_string() && it->get<std::string>() == "auto") {
        find(key);
        value = 0;
        return;
    }
    integer(key, value, low, high);
}

void JsonReader::whole(const char* key, std::uint64_t& value) {
    const json* j = find(key);
    if (!j) return;
    if (!j->is_number_unsigned())
        throw InputError(path_of(key), shown(*j) + " is not a whole number", "0 … 2^64 − 1");
    value = j->get<std::uint64_t>();
}

void JsonReader::real(const char* key, double& value, RealRange range) {
    const json* j = find(key);
    if (!j) return;
    if (!j->is_number()) throw InputError(path_of(key), shown(*j) + " is not a number", range.text());
    const double v = j->get<double>();
    if (!std::isfinite(v) || !range.contains(v))
        throw InputError(path_of(key), shown(*j) + " is out of range", range.text());
    value = v;
}

void JsonReader::reals(const char* key, std::span<double> values, RealRange range) {
    const json* j = find(key);
    if (!j) return;
    const std::string allowed = std::to_string(values.size()) + " numbers in " + range.text();
    if (!j->is_array() || j->size() != values.size())
        throw InputError(path_of(key), shown(*j) + " has the wrong form", allowed);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!(*j)[i].is_number() || !range.contains((*j)[i].get<double>()))
            throw InputError(path_of(key), shown(*j) + " is out of range", allowed);
        values[i] = (*j)[i].get<double>();
    }
}

void JsonReader::flag(const char* key, bool& value) {
    const json* j = find(key);
    if (!j) return;
    if (!j->is_boolean()) throw InputError(path_of(key), shown(*j) + " is not a switch", "true, false");
    value = j->get<bool>();
}

void JsonReader::text(const char* key, std::string& value) {
    const json* j = find(key);
    if (!j) return;
    if (!j->is_string()) throw InputError(path_of(key), shown(*j) + " is not a text", "\"…\"");
    value = j->get<std::string>();
}

void JsonReader::optional_flag(const char* key, std::optional<bool>& value) {
    bool v = false;
    if (levels_.back().object->contains(key)) {
        flag(key, v);
        value = v;
    } else {
        find(key);
    }
}

void JsonReader::optional_real(const char* key, std::optional<double>& value, RealRange range) {
    double v = 0;
    if (levels_.back().object->contains(key)) {
        real(key, v, range);
        value = v;
    } else {
        find(key);
    }
}

void JsonReader::word(const char* key, int& index, std::span<const char* const> allowed) {
    const json* j = find(key);
    if (!j) return;
    const std::string text = j->is_string() ? j->get<std::string>() : "";
    const auto it = std::find(allowed.begin(), allowed.end(), text);
    if (!j->is_string() || it == allowed.end())
        throw InputError(path_of(key), shown(*j) + " is not known", joined(allowed));
    index = static_cast<int>(it - allowed.begin());
}

void JsonReader::enter(const json& object, std::string path, const std::function<void()>& inside) {
    if (!object.is_object()) throw InputError(path, shown(object) + " is not an object", "{…}");
    levels_.push_back({&object, std::move(path), {}});
    inside();
    reject_unknown_keys();
    levels_.pop_back();
}

void JsonReader::group(const char* key, const std::function<void()>& inside) {
    if (const json* j = find(key)) enter(*j, path_of(key), inside);
}

void JsonReader::list(const char* key, std::size_t, const std::function<void(std::size_t)>& resize,
                      const std::function<void(std::size_t)>& item) {
    const json* j = find(key);
    if (!j) return;
    if (!j->is_array()) throw InputError(path_of(key), shown(*j) + " is not a list", "[{…}, …]");
    resize(j->size());
    for (std::size_t i = 0; i < j->size(); ++i)
        enter((*j)[i], path_of(key) + "[" + std::to_string(i) + "]", [&] { item(i); });
}

void JsonWriter::integer(const char* key, int& value, int, int) { top()[key] = value; }
void JsonWriter::whole(const char* key, std::uint64_t& value) { top()[key] = value; }
void JsonWriter::real(const char* key, double& value, RealRange) { top()[key] = value; }
void JsonWriter::reals(const char* key, std::span<double> values, RealRange) {
    top()[key] = std::vector<double>(values.begin(), values.end());
}
void JsonWriter::flag(const char* key, bool& value) { top()[key] = value; }
void JsonWriter::text(const char* key, std::string& value) {
    if (!value.empty()) top()[key] = value;
}
void JsonWriter::optional_flag(const char* key, std::optional<bool>& value) {
    if (value) top()[key] = *value;
}
void JsonWriter::optional_real(const char* key, std::optional<double>& value, RealRange) {
    if (value) top()[key] = *value;
}
void JsonWriter::integer_or_auto(const char* key, int& value, int, int) {
    if (value == 0)
        top()[key] = "auto";
    else
        top()[key] = value;
}
void JsonWriter::word(const char* key, int& index, std::span<const char* const> allowed) {
    top()[key] = allowed[static_cast<std::size_t>(index)];
}

void JsonWriter::group(const char* key, const std::function<void()>& inside) {
    levels_.push_back(ordered_json::object());
    inside();
    ordered_json object = std::move(levels_.back());
    levels_.pop_back();
    top()[key] = std::move(object);
}

void JsonWriter::list(const char* key, std::size_t count, const std::function<void(std::size_t)>&,
                      const std::function<void(std::size_t)>& item) {
    ordered_json array = ordered_json::array();
    for (std::size_t i = 0; i < count; ++i) {
        levels_.push_back(ordered_json::object());
        item(i);
        array.push_back(std::move(levels_.back()));
        levels_.pop_back();
    }
    top()[key] = std::move(array);
}

}  // namespace normscope
