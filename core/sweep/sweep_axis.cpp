// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/sweep_axis.h"

#include "core/base/error.h"
#include "core/base/strict_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace normscope {

using nlohmann::json;

namespace {

std::optional<double> finite_number(const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

std::optional<std::uint64_t> whole_number(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::vector<std::string> parts_at(const std::string& text, char separator) {
    std::vector<std::string> parts{""};
    for (const char c : text) {
        if (c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

/// The entries of a list; a comma inside brackets or quotes is part of its entry.
std::vector<std::string> entries_of(const std::string& text) {
    std::vector<std::string> entries{""};
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '\\' && i + 1 < text.size()) {
            entries.back() += c;
            entries.back() += text[++i];
            continue;
        }
        if (c == '"') quoted = !quoted;
        if (!quoted && (c == '[' || c == '{')) ++depth;
        if (!quoted && (c == ']' || c == '}')) --depth;
        if (c == ',' && depth == 0 && !quoted)
            entries.emplace_back();
        else
            entries.back() += c;
    }
    return entries;
}

double six_digits(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.5e", value);
    return std::strtod(text, nullptr);
}

/// "log:A:B:N" or "lin:A:B:N"; the ends exactly as given.
std::vector<std::string> range_values(const std::string& where, const std::string& text) {
    const std::vector<std::string> parts = parts_at(text, ':');
    const bool log = parts[0] == "log";
    const std::string form = log ? "log:FIRST:LAST:COUNT with positive ends and 2 or more values"
                                 : "lin:FIRST:LAST:COUNT with different ends and 2 or more values";
    const auto reject = [&](const std::string& what) { throw InputError(where, what, form); };
    if (parts.size() != 4) reject(normscope::quoted(text) + " is no range");
    const auto first = finite_number(parts[1]), last = finite_number(parts[2]);
    if (!first) reject(normscope::quoted(parts[1]) + " is no number");
    if (!last) reject(normscope::quoted(parts[2]) + " is no number");
    const auto count = whole_number(parts[3]);
    if (!count) reject(normscope::quoted(parts[3]) + " is no count");
    if (*count < 2) reject("the range is empty: " + printable(parts[3]) + " values");
    if (*count > kMaxSweepRuns)
        throw InputError(where, printable(parts[3]) + " values are too many",
                         "at most " + std::to_string(kMaxSweepRuns));
    if (*first == *last) reject("the range is empty: both ends are " + printable(parts[1]));
    if (log && (*first <= 0 || *last <= 0)) reject("an end of the range is not positive");
    std::vector<std::string> values;
    for (std::uint64_t i = 0; i < *count; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(*count - 1);
        double value = log ? *first * std::pow(*last / *first, share) : *first + (*last - *first) * share;
        value = i == 0 ? *first : i + 1 == *count ? *last : six_digits(value);
        values.push_back(short_number_text(value));
    }
    return values;
}

}  // namespace

std::string short_number_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    char text[40];
    if (value == std::floor(value) && std::abs(value) < 1e15) {
        std::snprintf(text, sizeof text, "%.0f", value == 0 ? 0.0 : value);
        return text;
    }
    const double size = std::abs(value);
    const auto form = size >= 1e-4 && size < 1e15 ? std::chars_format::fixed : std::chars_format::scientific;
    const auto shortest = std::to_chars(text, text + sizeof text, value, form);
    std::string number(text, shortest.ptr);
    // "3e-05" -> "3e-5"
    if (const auto e = number.find('e'); e != std::string::npos) {
        std::size_t digits = e + 2;
        while (digits + 1 < number.size() && number[digits] == '0') number.erase(digits, 1);
    }
    return number;
}

std::string sweep_value_text(const std::string& text, const std::string& where) {
    if (text.empty()) return text;
    const json value = json_or_word(text, where);
    if (value.is_number_float()) return short_number_text(value.get<double>());
    if (value.is_string()) {
        // Without quotes where the word cannot be read as other JSON.
        const auto& word = value.get_ref<const std::string&>();
        if (!word.empty() && json_or_word(word, where) == value) return word;
    }
    return json_text(value);
}

SweepAxis parse_sweep_axis(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
        throw InputError("--grid " + printable(text), "has no values",
                         "KEY=VALUES, such as optimizer.lr=1e-3,3e-3");
    SweepAxis axis{text.substr(0, equals), {}};
    const std::string where = "--grid " + printable(axis.key), given = text.substr(equals + 1);
    if (given.rfind("log:", 0) == 0 || given.rfind("lin:", 0) == 0) {
        axis.values = range_values(where, given);
    } else {
        for (const std::string& entry : entries_of(given)) {
            if (entry.empty())
                throw InputError(where, normscope::quoted(given) + " has an empty value",
                                 "values separated by commas");
            axis.values.push_back(sweep_value_text(entry, where));
        }
    }
    for (std::size_t i = 0; i < axis.values.size(); ++i)
        if (std::find(axis.values.begin(), axis.values.begin() + static_cast<std::ptrdiff_t>(i),
                      axis.values[i]) != axis.values.begin() + static_cast<std::ptrdiff_t>(i))
            throw InputError(where, printable(axis.values[i]) + " is given twice", "each value once");
    return axis;
}

std::vector<std::uint64_t> parse_seeds(const std::string& text) {
    const std::vector<std::string> ends = parts_at(text, ':');
    const auto first = whole_number(ends.front()), last = whole_number(ends.back());
    if (ends.size() > 2 || !first || !last)
        throw InputError("--seeds", normscope::quoted(text) + " is no range of seeds",
                         "FIRST:LAST, such as 42:44");
    if (*last < *first)
        throw InputError("--seeds", normscope::quoted(text) + " is empty",
                         "FIRST:LAST with LAST at least FIRST");
    if (*last - *first >= kMaxSweepRuns)
        throw InputError("--seeds", normscope::quoted(text) + " has too many seeds",
                         "at most " + std::to_string(kMaxSweepRuns));
    std::vector<std::uint64_t> seeds;
    for (std::uint64_t i = 0; i <= *last - *first; ++i) seeds.push_back(*first + i);
    return seeds;
}

}  // namespace normscope
