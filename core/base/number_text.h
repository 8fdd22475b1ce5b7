// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope {

/// A number for a sentence: "4.2×10⁻⁹", "0.71", "3×10⁹"; NaN and inf by name.
std::string number_text(double value, int digits = 2);

/// A number for a line that a program may read: printf's "%.4g", and "nan" whatever its sign bit.
std::string plain_number(double value);

/// A number's text with its power written as such: "2.5e-07" → "2.5×10⁻⁷", "1e6" → "10⁶"; others as they are.
std::string power_text(const std::string& number);
/// As superscript digits: -7 → "⁻⁷".
std::string superscript(int number);

/// Three digits with a decimal prefix: "672 MB", "2.1 GFLOP", "18 ".
std::string with_prefix(double value, const std::string& unit);

}  // namespace normscope
