// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace normscope {

/// The label of results with the texts of the probe batch: one string a sequence, its tokens divided by
/// kTokenDivider, which no text contains.
inline constexpr const char* kTokensLabel = "tokens";
inline constexpr char kTokenDivider = '\x1f';

/// The tokens of one such string.
inline std::vector<std::string> divided_tokens(const std::string& sequence) {
    std::vector<std::string> tokens(1);
    for (const char c : sequence)
        if (c == kTokenDivider)
            tokens.emplace_back();
        else
            tokens.back() += c;
    return tokens;
}

}  // namespace normscope
