// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace normscope {

/// A number as text for a sentence: "4.2×10⁻⁹", "0.71", "3×10⁹"; NaN and inf by name.
inline std::string number(double value, int digits = 2) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    char text[32];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    std::string written = text;
    const auto e = written.find('e');
    if (e == std::string::npos) return written;
    static constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const int exponent = std::atoi(written.c_str() + e + 1);
    std::string power = exponent < 0 ? "⁻" : "";
    for (const char digit : std::to_string(std::abs(exponent))) power += kDigits[digit - '0'];
    const std::string mantissa = written.substr(0, e);
    const std::string factor = mantissa == "1" ? "" : mantissa == "-1" ? "-" : mantissa + "×";
    return factor + "10" + power;
}

}  // namespace normscope
