// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/findings/in_words.h"

#include "core/base/number_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace normscope {

namespace {

constexpr double kSame = 1.05;  // a ratio nearer to 1 is read as the same

std::string digits(double value, int decimals) {
    char text[48];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

/// "3.1", "120", "12 thousand", "1.7 million", of a number from 1 on.
std::string count_in_words(double times) {
    constexpr const char* kNames[] = {"", " thousand", " million", " billion", " trillion"};
    std::size_t power = 0;
    while (times >= 999.5 && power + 1 < std::size(kNames)) {
        times /= 1000;
        ++power;
    }
    if (times >= 999.5) return "more than 1000 trillion";
    return digits(times, times < 9.95 ? 1 : 0) + kNames[power];
}

}  // namespace

std::string in_words(double value) {
    const double size = std::abs(value);
    if (!std::isfinite(value)) return number_text(value);
    if (size >= 1e7 || (size > 0 && size < 1e-4)) return number_text(value);
    if (size < 1000) return number_text(value, size < 1 ? 2 : 3);
    std::string text = digits(size, 0);
    for (std::ptrdiff_t at = std::ssize(text) - 3; at > 0; at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return (value < 0 ? "−" : "") + text;
}

std::string times_text(double ratio) {
    if (!std::isfinite(ratio) || ratio <= 0) return {};
    const double times = std::max(ratio, 1 / ratio);
    if (times < kSame) return {};
    return count_in_words(times) + (ratio < 1 ? " times smaller" : " times larger");
}

std::string factor_text(double ratio, const std::string& what) {
    if (!std::isfinite(ratio) || ratio <= 0) return "made " + what + " not finite";
    const std::string times = times_text(ratio);
    return times.empty() ? "left " + what + " as it was" : "made " + what + " " + times;
}

std::string read_aloud(std::string text) {
    for (const auto& [sign, words] : {std::pair{" ÷ ", " over "}, std::pair{" · ", ". "}})
        for (auto at = text.find(sign); at != std::string::npos; at = text.find(sign, at))
            text.replace(at, std::char_traits<char>::length(sign), words);
    return text;
}

}  // namespace normscope
