// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/corpus.h"

#include "core/base/error.h"
#include "core/train/data/cifar10_images.h"
#include "core/train/data/copy.h"
#include "core/train/data/induction.h"
#include "core/train/data/markov.h"
#include "core/train/data/shape_images.h"
#include "core/train/data/text.h"
#include "core/train/data/tokens.h"

#include <cmath>
#include <string>
#include <vector>

namespace normscope {

LossLevels Corpus::levels() const {
    return {std::log(static_cast<double>(vocab())), unigram_entropy(), entropy_given(1), entropy_given(2),
            entropy_rate()};
}

Batch Corpus::train_batch(std::uint64_t seed, std::int64_t step, int micro_batch, int sequences,
                          int length) const {
    if (step < 0 || micro_batch < 0)
        throw InputError("train_batch", "step or micro-batch is negative", "0 and above");
    return batch(Split::Train, seed, step, std::int64_t{micro_batch} * sequences, sequences, length);
}

Batch Corpus::held_out_batch(std::uint64_t seed, std::int64_t index, int sequences, int length) const {
    if (index < 0) throw InputError("held_out_batch", "the index is negative", "0 and above");
    return batch(Split::HeldOut, seed, index, 0, sequences, length);
}

Batch Corpus::batch(Split split, std::uint64_t seed, std::int64_t row, std::int64_t first_sequence,
                    int sequences, int length) const {
    if (sequences < 1 || length < 1)
        throw InputError("batch",
                         std::to_string(sequences) + " sequences of length " + std::to_string(length),
                         "1 and above");
    const NormalKey key(seed, split == Split::Train ? "data.train" : "data.held_out");
    Batch result{sequences, length, {}, {}, {}};
    for (int i = 0; i < sequences; ++i) {
        // Every sequence uses 2^32 columns of its step's row of random numbers.
        const std::uint64_t first_column = static_cast<std::uint64_t>(first_sequence + i) << 32;
        append(split, RandomRow(key, static_cast<std::uint64_t>(row), first_column), result);
    }
    return result;
}

namespace {

std::unique_ptr<Corpus> corpus_without_texts(const DataSpec& spec, const StackSpec& stack) {
    if (spec.source == DataSource::External)
        throw InputError("data.source",
                         "\"external\": the data are in the program that trained and recorded the run",
                         stack.of_images() ? "images, cifar10" : "markov, copy, induction, text, tokens");
    if (is_of_images(spec.source) != stack.of_images())
        throw InputError("data.source",
                         std::string(word_of(spec.source)) + " has " +
                             (stack.of_images() ? "no images, which stack.input patches needs"
                                                : "images, which stack.input tokens cannot read"),
                         stack.of_images() ? "images, cifar10" : "markov, copy, induction, text, tokens");
    const int context = stack.context;
    if (context < 1)
        throw InputError("stack.context", std::to_string(context) + " is out of range", "1 and above");
    switch (spec.source) {
        case DataSource::Markov:
            return std::make_unique<MarkovCorpus>();
        case DataSource::Copy:
            return std::make_unique<CopyCorpus>(context);
        case DataSource::Induction:
            return std::make_unique<InductionCorpus>(context);
        case DataSource::Text:
            return std::make_unique<TextCorpus>(spec.path, spec.held_out, context);
        case DataSource::Images:
            return std::make_unique<ShapeImages>(stack.image);
        case DataSource::Cifar10:
            return std::make_unique<Cifar10Images>(spec.path, spec.held_out, stack.image);
        case DataSource::Tokens:
            return std::make_unique<TokensCorpus>(spec.path, spec.held_out, context, stack.vocab);
        case DataSource::External:
            break;  // above
    }
    throw InputError("data.source", "unknown source", "");
}

}  // namespace

std::unique_ptr<const Corpus> make_corpus(const DataSpec& spec, const StackSpec& stack) {
    std::unique_ptr<Corpus> corpus = corpus_without_texts(spec, stack);
    corpus->texts_ = TokenTexts::of(spec);
    return corpus;
}

}  // namespace normscope
