// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/watch_spec.h"

#include "core/base/error.h"
#include "core/base/trimmed.h"

#include <charconv>
#include <cmath>

namespace normscope {

namespace {

constexpr const char* kQuantities[] = {"grad_norm",  "grad_ratio", "loss",
                                       "hidden_rms", "non_finite", "entropy"};
constexpr const char* kComparators[] = {">", "<"};
constexpr const char* kWatchSpecForm = "QUANTITY > VALUE or QUANTITY < VALUE";

}  // namespace

template <>
std::span<const char* const> words_of<WatchQuantity>() {
    return kQuantities;
}
template <>
std::span<const char* const> words_of<WatchComparator>() {
    return kComparators;
}

void list_fields(Fields& f, WatchSpec& s) {
    f.choice("quantity", s.quantity, observes());
    f.choice("is", s.is, observes());
    f.real("value", s.value, {}, observes());
}

std::string watch_text(const WatchSpec& spec) {
    char value[32];
    const auto end = std::to_chars(value, value + sizeof value, spec.value);
    return std::string(word_of(spec.quantity)) + " " + word_of(spec.is) + " " + std::string(value, end.ptr);
}

std::string watch_text(const std::vector<WatchSpec>& watch) {
    std::string text;
    for (const WatchSpec& spec : watch) text += (text.empty() ? "" : "; ") + watch_text(spec);
    return text.empty() ? "nothing" : text;
}

WatchSpec parse_watch(const std::string& text, const std::string& where) {
    WatchSpec spec;
    const auto at = text.find_first_of("<>");
    const std::string quantity = trimmed(text.substr(0, at));
    bool known = false;
    std::string allowed;
    for (std::size_t i = 0; i < std::size(kQuantities); ++i) {
        allowed += (allowed.empty() ? "" : ", ") + std::string(kQuantities[i]);
        if (quantity != kQuantities[i]) continue;
        spec.quantity = static_cast<WatchQuantity>(i);
        known = true;
    }
    if (!known) throw InputError(where, "\"" + quantity + "\" is not known", allowed);
    if (at == std::string::npos) {
        if (spec.quantity == WatchQuantity::NonFinite) return spec;
        throw InputError(where, "\"" + text + "\" compares with nothing", kWatchSpecForm);
    }
    spec.is = text[at] == '>' ? WatchComparator::Above : WatchComparator::Below;
    const std::string value = trimmed(text.substr(at + 1));
    const char* const last = value.data() + value.size();
    const auto [end, error] = std::from_chars(value.data(), last, spec.value);
    if (error != std::errc() || end != last || !std::isfinite(spec.value))
        throw InputError(where, "\"" + value + "\" is not a number", kWatchSpecForm);
    if (!RealRange().contains(spec.value))
        throw InputError(where, value + " is out of range", RealRange().text());
    return spec;
}

}  // namespace normscope
