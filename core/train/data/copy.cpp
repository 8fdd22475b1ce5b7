// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/copy.h"

#include "core/train/data/context_entropy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace normscope {
namespace {

int symbols_to_copy(int length) {
    return std::max(1, length / 2);
}

/// Where its place is unknown a token is a separator or, uniformly, a symbol, with the frequencies that
/// follow on the kinds of the tokens before it. With a single symbol two tokens before it determine it.
double entropy_by_kind(int context, int copied, int previous) {
    if (context < previous) return std::numeric_limits<double>::quiet_NaN();
    const auto is_separator = [&](int i) { return i % (copied + 1) == copied; };
    std::map<int, std::array<double, 2>> kinds;  // of the tokens before -> how often a symbol, a separator
    for (int i = previous; i <= context; ++i) {
        int before = 0;
        for (int back = 1; back <= previous; ++back) before = 2 * before + is_separator(i - back);
        ++kinds[before][is_separator(i)];
    }
    double sum = 0;
    for (const auto& [before, counts] : kinds) {
        const double total = counts[0] + counts[1];
        const double symbol = copied == 1 && previous == 2 ? 0 : std::log(CopyCorpus::kSymbols);
        sum +=
            total * (entropy_term(counts[0] / total) + entropy_term(counts[1] / total)) + counts[0] * symbol;
    }
    return sum / (context + 1 - previous);
}

}  // namespace

CopyCorpus::CopyCorpus(int context) {
    const int copied = symbols_to_copy(context);
    // Targets are at 1 … context, separators at copied, 2 · copied + 1, …
    const int separators = (context + 1) / (copied + 1);
    const double share = static_cast<double>(separators) / context, symbol_share = (1 - share) / kSymbols;
    unigram_entropy_ = -share * std::log(share) - (share < 1 ? (1 - share) * std::log(symbol_share) : 0.0);
    entropy_rate_ = (copied - 1) * std::log(kSymbols) / context;
    for (const int previous : {1, 2}) given_[previous - 1] = entropy_by_kind(context, copied, previous);
}

void CopyCorpus::draw(Split, RandomRow random, std::span<std::int32_t> text) const {
    const std::size_t copied = static_cast<std::size_t>(symbols_to_copy(static_cast<int>(text.size()) - 1));
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i < copied)
            text[i] = static_cast<std::int32_t>(random.below(kSymbols));
        else
            text[i] = i % (copied + 1) == copied ? kSeparator : text[i - copied - 1];
    }
}

}  // namespace normscope
