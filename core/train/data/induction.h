// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/data/token_corpus.h"

namespace normscope {

/// In-context association, the task of induction heads: every sequence draws its own random map from kKeys
/// keys to kKeys values and shows pairs [key][value] of uniformly drawn keys, so a value is certain once its
/// key has been seen ([A][B] … [A] → [B]) and noise before. Keys are always noise.
///
/// The floor for sequences of `context` tokens is exact: the target after t tokens, t odd, is a value with j
/// = (t − 1)/2 pairs before it, its key is new with probability (1 − 1/kKeys)^j, so its entropy is that times
/// ln kKeys; the other targets are keys with ln kKeys each.
class InductionCorpus final : public TokenCorpus {
  public:
    explicit InductionCorpus(int context);

    int vocab() const override { return 2 * kKeys; }
    double unigram_entropy() const override { return unigram_entropy_; }
    /// The token before alone determines nothing; with a value and a key the same key may have had that
    /// value.
    double entropy_given(int previous) const override { return given_[previous - 1]; }
    double entropy_rate() const override { return entropy_rate_; }

    static constexpr int kKeys = 16;  ///< keys are tokens 0 … 15, values 16 … 31

  private:
    void draw(Split split, RandomRow random, std::span<std::int32_t> text) const override;

    double unigram_entropy_, entropy_rate_;
    double given_[2];
};

}  // namespace normscope
