// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/number_text.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace normscope {

std::string number_text(double value, int digits) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    char text[32];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return power_text(text);
}

std::string plain_number(double value) {
    if (std::isnan(value)) return "nan";  // printf would print its sign bit
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

std::string power_text(const std::string& number) {
    const auto e = number.find('e');
    if (e == std::string::npos) return number;
    const std::string mantissa = number.substr(0, e);
    const std::string factor = mantissa == "1" ? "" : mantissa == "-1" ? "-" : mantissa + "×";
    return factor + "10" + superscript(std::atoi(number.c_str() + e + 1));
}

std::string superscript(int number) {
    static constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string text = number < 0 ? "⁻" : "";
    for (const char digit : std::to_string(std::abs(number))) text += kDigits[digit - '0'];
    return text;
}

std::string with_prefix(double value, const std::string& unit) {
    const char* prefix = "";
    for (const char* next : {"k", "M", "G", "T"}) {
        if (value < 999.5) break;
        value /= 1000;
        prefix = next;
    }
    char text[32];
    std::snprintf(text, sizeof text, "%.3g %s", value, prefix);
    return text + unit;
}

}  // namespace normscope
