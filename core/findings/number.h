// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace normscope {

/// A number as text for a sentence: "4.2e-9", "0.71", "3e9"; NaN and inf by name.
inline std::string number(double value, int digits = 2) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    char text[32];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    std::string written = text;
    // printf writes 1e-07; shortened to 1e-7.
    if (const auto e = written.find('e'); e != std::string::npos)
        written = written.substr(0, e + 1) + std::to_string(std::atoi(written.c_str() + e + 1));
    return written;
}

}  // namespace normscope
