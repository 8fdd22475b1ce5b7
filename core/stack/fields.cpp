// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/fields.h"

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

template <class T>
FieldValue of_optional(const std::optional<T>* value) {
    return *value ? FieldValue(**value) : FieldValue();
}

std::optional<Rejection> set_integer(const FieldType& type, int& at, const FieldValue& value) {
    const auto* word = std::get_if<std::string>(&value);
    if (type.automatic && word && *word == "auto") {
        at = 0;
        return std::nullopt;
    }
    const auto low = static_cast<std::int64_t>(type.range.low),
               high = static_cast<std::int64_t>(type.range.high);
    const std::string allowed = std::to_string(low) + " … " + std::to_string(high);
    std::int64_t v = 0;
    if (const auto* negative = std::get_if<std::int64_t>(&value))
        v = *negative;
    else if (const auto* whole = std::get_if<std::uint64_t>(&value))
        v = *whole > static_cast<std::uint64_t>(high) ? high + 1 : static_cast<std::int64_t>(*whole);
    else
        return Rejection{" is not a whole number", allowed};
    if (v < low || v > high) return Rejection{" is out of range", allowed};
    at = static_cast<int>(v);
    return std::nullopt;
}

std::optional<Rejection> set_whole(std::uint64_t& at, const FieldValue& value) {
    const auto* whole = std::get_if<std::uint64_t>(&value);
    const auto* small = std::get_if<std::int64_t>(&value);
    if (!whole && !(small && *small >= 0)) return Rejection{" is not a whole number", "0 … 2^64 − 1"};
    at = whole ? *whole : static_cast<std::uint64_t>(*small);
    return std::nullopt;
}

}  // namespace

std::string RealRange::text() const {
    return std::string(low_open || std::isinf(low) ? "(" : "[") + number_text(low) + ", " +
           number_text(high) + (std::isinf(high) ? ")" : "]");
}

std::optional<double> number_of(const FieldValue& value) {
    if (const auto* v = std::get_if<double>(&value)) return *v;
    if (const auto* v = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*v);
    if (const auto* v = std::get_if<std::int64_t>(&value)) return static_cast<double>(*v);
    return std::nullopt;
}

bool is_absent(const FieldValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return std::holds_alternative<std::monostate>(value) || (text && text->empty());
}

FieldValue FieldType::get(const void* at) const {
    switch (kind) {
        case Kind::Integer: {
            const int value = *static_cast<const int*>(at);
            if (automatic && value == 0) return std::string("auto");
            if (value < 0) return std::int64_t{value};
            return static_cast<std::uint64_t>(value);
        }
        case Kind::Whole:
            return *static_cast<const std::uint64_t*>(at);
        case Kind::Real:
            if (optional) return of_optional(static_cast<const std::optional<double>*>(at));
            return *static_cast<const double*>(at);
        case Kind::Reals: {
            const auto* values = static_cast<const double*>(at);
            return std::vector<double>(values, values + count);
        }
        case Kind::Flag:
            if (optional) return of_optional(static_cast<const std::optional<bool>*>(at));
            return *static_cast<const bool*>(at);
        case Kind::Text:
            return *static_cast<const std::string*>(at);
        case Kind::Word:
            return std::string(words[static_cast<std::size_t>(word(at))]);
        case Kind::List:
            break;
    }
    return {};
}

std::optional<Rejection> FieldType::set(void* at, const FieldValue& value) const {
    switch (kind) {
        case Kind::Integer:
            return set_integer(*this, *static_cast<int*>(at), value);
        case Kind::Whole:
            return set_whole(*static_cast<std::uint64_t*>(at), value);
        case Kind::Real: {
            const auto v = number_of(value);
            if (!v) return Rejection{" is not a number", range.text()};
            if (!std::isfinite(*v) || !range.contains(*v)) return Rejection{" is out of range", range.text()};
            if (optional)
                *static_cast<std::optional<double>*>(at) = *v;
            else
                *static_cast<double*>(at) = *v;
            return std::nullopt;
        }
        case Kind::Reals: {
            const std::string allowed = std::to_string(count) + " numbers in " + range.text();
            const auto* given = std::get_if<std::vector<double>>(&value);
            if (!given || given->size() != count) return Rejection{" has the wrong form", allowed};
            if (!std::all_of(given->begin(), given->end(), [&](double v) { return range.contains(v); }))
                return Rejection{" is out of range", allowed};
            std::copy(given->begin(), given->end(), static_cast<double*>(at));
            return std::nullopt;
        }
        case Kind::Flag: {
            const auto* v = std::get_if<bool>(&value);
            if (!v) return Rejection{" is not a switch", "true, false"};
            if (optional)
                *static_cast<std::optional<bool>*>(at) = *v;
            else
                *static_cast<bool*>(at) = *v;
            return std::nullopt;
        }
        case Kind::Text: {
            const auto* v = std::get_if<std::string>(&value);
            if (!v) return Rejection{" is not a text", "\"…\""};
            *static_cast<std::string*>(at) = *v;
            return std::nullopt;
        }
        case Kind::Word: {
            const auto* v = std::get_if<std::string>(&value);
            const auto it = v ? std::find(words.begin(), words.end(), *v) : words.end();
            if (it == words.end()) return Rejection{" is not known", joined(words)};
            choose(at, static_cast<int>(it - words.begin()));
            return std::nullopt;
        }
        case Kind::List:
            break;
    }
    return Rejection{" is not a list", "[{…}, …]"};
}

}  // namespace normscope
