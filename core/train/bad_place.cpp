// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/bad_place.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

namespace normscope {

namespace {

constexpr std::string_view kBetween = " · ", kLossScale = "at the lowest loss scale ";

std::string digits(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

std::vector<std::string_view> parts_of(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t at; (at = text.find(kBetween)) != std::string_view::npos;) {
        parts.push_back(text.substr(0, at));
        text.remove_prefix(at + kBetween.size());
    }
    parts.push_back(text);
    return parts;
}

/// "WORD 12" at the start of the text, which it shortens.
template <class Number>
bool take(std::string_view& text, std::string_view word, Number& number) {
    if (!text.starts_with(word)) return false;
    const char* const first = text.data() + word.size();
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), number);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

/// "70130 > 65504" or "|-70130| > 65504".
bool read_comparison(std::string_view text, BadPlace& place) {
    const std::string_view bar = text.starts_with('|') ? "|" : "";
    double value = 0, limit = 0;
    if (!take(text, bar, value)) return false;
    if (!bar.empty()) {
        if (!text.starts_with(bar)) return false;
        text.remove_prefix(bar.size());
    }
    if (!take(text, " > ", limit) || !text.empty()) return false;
    place.value = value;
    place.limit = limit;
    return true;
}

}  // namespace

std::string bad_place_text(const BadPlace& place) {
    std::string text = "step " + std::to_string(place.step) + std::string(kBetween);
    if (place.layer >= 0) text += "layer " + std::to_string(place.layer + 1) + " ";
    text += place.operation;
    if (place.row >= 0) {
        text += std::string(kBetween) + "row " + std::to_string(place.row);
        if (!place.detail.empty()) text += ", " + place.detail;
        if (std::isfinite(place.value)) {
            const std::string value = digits(place.value);
            text += ": " + (place.value < 0 ? "|" + value + "|" : value) + " > " + digits(place.limit);
        }
    }
    if (std::isfinite(place.loss_scale))
        text += std::string(kBetween) + std::string(kLossScale) + digits(place.loss_scale);
    return text + std::string(kBetween) + place.result;
}

std::optional<BadPlace> read_bad_place(const std::string& text) {
    std::vector<std::string_view> parts = parts_of(text);
    if (parts.size() < 3 || parts.size() > 5) return std::nullopt;
    BadPlace place;
    if (std::string_view scale = parts[parts.size() - 2]; parts.size() > 3 && scale.starts_with(kLossScale)) {
        if (!take(scale, kLossScale, place.loss_scale) || !scale.empty()) return std::nullopt;
        parts.erase(parts.end() - 2);
    }
    std::string_view step = parts[0], where = parts[1];
    if (!take(step, "step ", place.step) || !step.empty()) return std::nullopt;
    place.result = parts.back();
    if (place.result != "inf" && place.result != "-inf" && place.result != "nan") return std::nullopt;
    int layer = 0;
    if (take(where, "layer ", layer) || take(where, "L", layer)) {
        if (layer < 1 || !where.starts_with(' ')) return std::nullopt;
        where.remove_prefix(1);
        place.layer = layer - 1;
    }
    place.operation = where;
    if (parts.size() == 3) return place;
    if (parts.size() > 4) return std::nullopt;
    std::string_view row = parts[2];
    if (!take(row, "row ", place.row)) return std::nullopt;
    const std::size_t colon = row.rfind(": ");
    if (colon != std::string_view::npos) {
        if (!read_comparison(row.substr(colon + 2), place)) return std::nullopt;
        row = row.substr(0, colon);
    }
    if (row.starts_with(", ")) place.detail = row.substr(2);
    return place;
}

}  // namespace normscope
