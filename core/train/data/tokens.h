// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/data/token_corpus.h"
#include "core/train/data/token_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace normscope {

/// Token ids from files (TokenFile), read from the disk as they are needed. `path` is a file, of which the
/// last `held_out` share is held out; or a folder of files in the order of their names, of which those with
/// "val" in their name are held out (without one, the last share of the last file). No sequence crosses
/// files.
///
/// vocab() is the stack's, else the largest id + 1. unigram_entropy() is that of the tokens read at first:
/// all of up to 2²⁶, of more as many in pieces from everywhere. Entropies given earlier tokens are not known
/// (NaN).
class TokensCorpus final : public TokenCorpus {
  public:
    /// `vocab`: 0 where the files decide. InputError, one line: unreadable or too short files, an id that is
    /// not below the vocabulary, with its position.
    TokensCorpus(const std::string& path, double held_out, int context, int vocab);

    int vocab() const override { return vocab_; }
    double unigram_entropy() const override { return unigram_entropy_; }
    double entropy_given(int previous) const override;
    double entropy_rate() const override;

    std::uint64_t train_size() const;  ///< tokens

  private:
    /// Consecutive tokens of one file.
    struct Piece {
        std::size_t file;
        std::uint64_t begin, count;
    };
    void draw(Split split, RandomRow random, std::span<std::int32_t> text) const override;
    void read_counts(int given_vocab);

    std::string path_;
    std::vector<TokenFile> files_;
    std::vector<Piece> train_, held_out_;
    int vocab_ = 0;
    double unigram_entropy_ = 0;
};

}  // namespace normscope
