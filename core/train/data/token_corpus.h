// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/data/corpus.h"

#include <span>

namespace normscope {

/// A source of text: the target of a token is the one that follows.
class TokenCorpus : public Corpus {
  protected:
    /// Fills text (length + 1 tokens) with one sequence drawn from `random`.
    virtual void draw(Split split, RandomRow random, std::span<std::int32_t> text) const = 0;

  private:
    void append(Split split, RandomRow random, Batch& to) const final;
};

}  // namespace normscope
