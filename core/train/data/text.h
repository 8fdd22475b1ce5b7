// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/data/token_corpus.h"

#include <string>

namespace normscope {

/// The bytes of a file as tokens 0 … 255. Training draws windows from the front part, held-out batches from
/// the last `held_out` share. unigram_entropy() is that of all bytes of the file, entropy_given() that of its
/// own pairs and triples of bytes (lower than that of the language in a short file); the entropy rate is not
/// known (NaN).
class TextCorpus final : public TokenCorpus {
  public:
    /// Throws InputError where the file is missing, unreadable, no regular file, or too short: both parts
    /// need context + 1 bytes.
    TextCorpus(const std::string& path, double held_out, int context);

    int vocab() const override { return 256; }
    double unigram_entropy() const override { return unigram_entropy_; }
    double entropy_given(int previous) const override { return given_[previous - 1]; }
    double entropy_rate() const override;

    /// Bytes of the front part.
    std::size_t train_size() const { return train_size_; }

  private:
    void draw(Split split, RandomRow random, std::span<std::int32_t> text) const override;

    std::string path_, bytes_;
    std::size_t train_size_ = 0;
    double unigram_entropy_ = 0;
    double given_[2];
};

}  // namespace normscope
