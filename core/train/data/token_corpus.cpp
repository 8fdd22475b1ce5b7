// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/token_corpus.h"

#include <vector>

namespace normscope {

void TokenCorpus::append(Split split, RandomRow random, Batch& to) const {
    std::vector<std::int32_t> text(static_cast<std::size_t>(to.length) + 1);
    draw(split, random, text);
    to.tokens.insert(to.tokens.end(), text.begin(), text.end() - 1);
    to.targets.insert(to.targets.end(), text.begin() + 1, text.end());
}

}  // namespace normscope
