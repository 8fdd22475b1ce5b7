// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace normscope {

// Numbers as a lecturer reads them aloud.

/// A number without an exponent, as far as one is read so: "0.031", "12.4", "65,504".
std::string in_words(double value);

/// "12 thousand times smaller", "3.1 times larger"; empty for a ratio within 5 % of 1, and for one that is
/// not positive and finite.
std::string times_text(double ratio);

/// "made the gradient 12 thousand times smaller"; "left the gradient as it was"; "made the gradient not
/// finite".
std::string factor_text(double ratio, const std::string& what);

/// A recorded outcome without its signs: "layer 1 over last layer"; parts that a dot divides become
/// sentences.
std::string read_aloud(std::string text);

}  // namespace normscope
