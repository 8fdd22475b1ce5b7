// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/copy.h"

#include <algorithm>
#include <cmath>

namespace normscope {
namespace {

int symbols_to_copy(int length) {
    return std::max(1, length / 2);
}

}  // namespace

CopyCorpus::CopyCorpus(int context) {
    const int copied = symbols_to_copy(context);
    // Targets are at 1 … context, separators at copied, 2 · copied + 1, …
    const double separators = (context + 1) / (copied + 1);
    const double share = separators / context, symbol_share = (1 - share) / kSymbols;
    unigram_entropy_ = -share * std::log(share) - (share < 1 ? (1 - share) * std::log(symbol_share) : 0.0);
    entropy_rate_ = (copied - 1) * std::log(kSymbols) / context;
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
