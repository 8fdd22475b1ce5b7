// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/counter_rng.h"
#include "core/model/batch.h"
#include "core/recipe/data_spec.h"
#include "core/stack/stack_spec.h"
#include "core/train/data/loss_levels.h"
#include "core/train/data/token_texts.h"

#include <cstdint>
#include <memory>

namespace normscope {

/// A source of training data, text or images. Batches are pure functions of their arguments, so that resuming
/// a run and identical batches for several runs need no stored position. Constant after construction, for use
/// from any thread.
class Corpus {
  public:
    virtual ~Corpus() = default;
    Corpus(const Corpus&) = delete;
    Corpus& operator=(const Corpus&) = delete;

    /// Targets, and the tokens of a text, are 0 … vocab() − 1: of images, the number of classes.
    virtual int vocab() const = 0;

    /// Entropy of a single target (nat): the loss of the best model that ignores its input.
    virtual double unigram_entropy() const = 0;

    /// Mean entropy of a target token given the `previous` (1 or 2) tokens before it, wherever it is in the
    /// sequence (nat): the loss of the best model of pairs or of triples of tokens. Exact for the generated
    /// sources; of a text estimated by its own counts. NaN where no sequence is that long.
    virtual double entropy_given(int previous) const = 0;

    /// Mean entropy of a target token given all preceding tokens (nat), the floor of the loss; NaN when
    /// unknown.
    virtual double entropy_rate() const = 0;

    LossLevels levels() const;

    /// The texts of its tokens; empty where it has none.
    const TokenTexts& texts() const { return texts_; }

    /// The batch of one micro-step. Sequence i of micro-batch m is sequence m · sequences + i of the step:
    /// two micro-batches of 4 hold the same text as one of 8. Throws InputError where the sizes cannot be
    /// served.
    Batch train_batch(std::uint64_t seed, std::int64_t step, int micro_batch, int sequences,
                      int length) const;

    /// Data that train_batch never returns; of the generated sources: other draws of the same distribution.
    Batch held_out_batch(std::uint64_t seed, std::int64_t index, int sequences, int length) const;

  protected:
    enum class Split { Train, HeldOut };
    Corpus() = default;

    /// Appends one sequence of to.length tokens, drawn from `random`.
    virtual void append(Split split, RandomRow random, Batch& to) const = 0;

  private:
    friend std::unique_ptr<const Corpus> make_corpus(const DataSpec& spec, const StackSpec& stack);
    Batch batch(Split split, std::uint64_t seed, std::int64_t row, std::int64_t first_sequence, int sequences,
                int length) const;

    TokenTexts texts_;
};

/// Creates the corpus of a recipe. Of text the stack's context is the length that its floors are stated for
/// and that both parts of a file must be able to serve; of images the stack has their shape. Throws
/// InputError, also where the stack reads the other kind of data.
std::unique_ptr<const Corpus> make_corpus(const DataSpec& spec, const StackSpec& stack);

}  // namespace normscope
