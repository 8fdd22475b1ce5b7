// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/data/token_corpus.h"

namespace normscope {

/// Copying: m = max(1, length / 2) random symbols, a separator, the same symbols again (and the separator
/// once more where the length is odd). Every position is a target. The first symbols are unpredictable, the
/// rest is determined, and the separator is always at the same position; hence the floor for sequences of
/// `context` tokens is (m − 1) · ln kSymbols / context: the first symbol is given, not a target. Shorter or
/// longer batches have the floor of their own length.
class CopyCorpus final : public TokenCorpus {
  public:
    explicit CopyCorpus(int context);

    int vocab() const override { return kSymbols + 1; }
    double unigram_entropy() const override { return unigram_entropy_; }
    double entropy_given(int previous) const override { return given_[previous - 1]; }
    double entropy_rate() const override { return entropy_rate_; }

    static constexpr int kSymbols = 16;          ///< tokens 0 … 15
    static constexpr int kSeparator = kSymbols;  ///< token 16

  private:
    void draw(Split split, RandomRow random, std::span<std::int32_t> text) const override;

    double unigram_entropy_, entropy_rate_;
    double given_[2];
};

}  // namespace normscope
