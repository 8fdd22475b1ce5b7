// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/value_reader.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace normscope {

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

std::string range_text(int low, int high) {
    return std::to_string(low) + " … " + std::to_string(high);
}

std::optional<double> number(const FieldValue& value) {
    if (const auto* v = std::get_if<double>(&value)) return *v;
    if (const auto* v = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*v);
    if (const auto* v = std::get_if<std::int64_t>(&value)) return static_cast<double>(*v);
    return std::nullopt;
}

}  // namespace

std::string RealRange::text() const {
    return std::string(low_open || std::isinf(low) ? "(" : "[") + number_text(low) + ", " +
           number_text(high) + (std::isinf(high) ? ")" : "]");
}

void ValueReader::visit_integer(const char* key, int& value, int low, int high) {
    const FieldValue* given = value_of(key);
    if (!given) return;
    std::int64_t v = 0;
    if (const auto* negative = std::get_if<std::int64_t>(given))
        v = *negative;
    else if (const auto* whole = std::get_if<std::uint64_t>(given))
        v = *whole > static_cast<std::uint64_t>(high) ? static_cast<std::int64_t>(high) + 1
                                                      : static_cast<std::int64_t>(*whole);
    else
        throw InputError(path_of(key), shown(key) + " is not a whole number", range_text(low, high));
    if (v < low || v > high)
        throw InputError(path_of(key), shown(key) + " is out of range", range_text(low, high));
    value = static_cast<int>(v);
}

void ValueReader::visit_integer_or_auto(const char* key, int& value, int low, int high) {
    const FieldValue* given = value_of(key);
    const auto* word = given ? std::get_if<std::string>(given) : nullptr;
    if (word && *word == "auto")
        value = 0;
    else
        visit_integer(key, value, low, high);
}

void ValueReader::visit_whole(const char* key, std::uint64_t& value) {
    const FieldValue* given = value_of(key);
    if (!given) return;
    const auto* whole = std::get_if<std::uint64_t>(given);
    if (!whole) throw InputError(path_of(key), shown(key) + " is not a whole number", "0 … 2^64 − 1");
    value = *whole;
}

void ValueReader::visit_real(const char* key, double& value, RealRange range) {
    const FieldValue* given = value_of(key);
    if (!given) return;
    const auto v = number(*given);
    if (!v) throw InputError(path_of(key), shown(key) + " is not a number", range.text());
    if (!std::isfinite(*v) || !range.contains(*v))
        throw InputError(path_of(key), shown(key) + " is out of range", range.text());
    value = *v;
}

void ValueReader::visit_reals(const char* key, std::span<double> values, RealRange range) {
    const FieldValue* given = value_of(key);
    if (!given) return;
    const std::string allowed = std::to_string(values.size()) + " numbers in " + range.text();
    const auto* list = std::get_if<std::vector<double>>(given);
    if (!list || list->size() != values.size())
        throw InputError(path_of(key), shown(key) + " has the wrong form", allowed);
    if (!std::all_of(list->begin(), list->end(), [&](double v) { return range.contains(v); }))
        throw InputError(path_of(key), shown(key) + " is out of range", allowed);
    std::copy(list->begin(), list->end(), values.begin());
}

void ValueReader::visit_flag(const char* key, bool& value) {
    const FieldValue* given = value_of(key);
    if (!given) return;
    const auto* v = std::get_if<bool>(given);
    if (!v) throw InputError(path_of(key), shown(key) + " is not a switch", "true, false");
    value = *v;
}

void ValueReader::visit_text(const char* key, std::string& value) {
    const FieldValue* given = value_of(key);
    if (!given) return;
    const auto* v = std::get_if<std::string>(given);
    if (!v) throw InputError(path_of(key), shown(key) + " is not a text", "\"…\"");
    value = *v;
}

template <class T, class Read>
void ValueReader::optional(const char* key, std::optional<T>& value, Read&& read) {
    if (!value_of(key)) return;
    T v{};
    read(v);
    value = v;
}

void ValueReader::visit_optional_flag(const char* key, std::optional<bool>& value) {
    optional(key, value, [&](bool& v) { visit_flag(key, v); });
}

void ValueReader::visit_optional_real(const char* key, std::optional<double>& value, RealRange range) {
    optional(key, value, [&](double& v) { visit_real(key, v, range); });
}

void ValueReader::visit_word(const char* key, int& index, std::span<const char* const> allowed) {
    const FieldValue* given = value_of(key);
    if (!given) return;
    const auto* word = std::get_if<std::string>(given);
    const auto it = word ? std::find(allowed.begin(), allowed.end(), *word) : allowed.end();
    if (it == allowed.end()) throw InputError(path_of(key), shown(key) + " is not known", joined(allowed));
    index = static_cast<int>(it - allowed.begin());
}

}  // namespace normscope
