// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/induction.h"

#include "core/train/data/context_entropy.h"

#include <array>
#include <cmath>
#include <limits>

namespace normscope {

InductionCorpus::InductionCorpus(int context) {
    const int values = (context + 1) / 2, keys = context - values;
    double expected_new = 0;
    for (int pair = 0; pair < values; ++pair) expected_new += std::pow(1 - 1.0 / kKeys, pair);
    entropy_rate_ = (keys + expected_new) * std::log(kKeys) / context;
    const double share = static_cast<double>(values) / context;
    unigram_entropy_ =
        std::log(kKeys) - share * std::log(share) - (keys > 0 ? (1 - share) * std::log(1 - share) : 0.0);
    given_[0] = std::log(kKeys);
    // Of the targets from the third token on, values follow a value and a key.
    const double same = (1.0 + (kKeys - 1.0) / kKeys) / kKeys;
    const double value = entropy_term(same) + (kKeys - 1) * entropy_term((1 - same) / (kKeys - 1));
    given_[1] = context < 2 ? std::numeric_limits<double>::quiet_NaN()
                            : ((values - 1) * value + keys * std::log(kKeys)) / (context - 1);
}

void InductionCorpus::draw(Split, RandomRow random, std::span<std::int32_t> text) const {
    std::array<std::int32_t, kKeys> value_of{};
    for (std::int32_t& value : value_of) value = static_cast<std::int32_t>(kKeys + random.below(kKeys));
    for (std::size_t i = 0; i < text.size(); ++i)
        text[i] = i % 2 == 0 ? static_cast<std::int32_t>(random.below(kKeys))
                             : value_of[static_cast<std::size_t>(text[i - 1])];
}

}  // namespace normscope
