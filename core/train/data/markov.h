// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/data/token_corpus.h"

#include <string>
#include <string_view>
#include <vector>

namespace normscope {

/// A small artificial language with exactly known entropies. Its 100 words are spelled with the letters
/// a–z and end with a space; a word depends on the one before it (first-order Markov), half on a Zipf law
/// that all words share and half on three preferred followers of its own. The language is the same in every
/// run: a run's seed draws only the text. A character has 2.867 nat on its own, 2.012 nat given the one
/// before it, 1.065 nat given two, and 0.630 nat given all before it.
///
/// No word contains a space and all words differ, so the characters determine the words and the entropy rate
/// is
///     H(word' | word) / E[characters of a word, its space included]    nat per character.
/// Sequences start anywhere in a word, in the stationary state, so every position has the same marginal. The
/// rate is the floor for a model with all earlier text as context; within a short context the best loss lies
/// a little above. Training and held-out text are separate draws from the language.
class MarkovCorpus final : public TokenCorpus {
  public:
    MarkovCorpus();

    int vocab() const override { return kVocab; }
    double unigram_entropy() const override { return unigram_entropy_; }
    double entropy_given(int previous) const override { return previous == 1 ? pairs_ : triples_; }
    double entropy_rate() const override { return entropy_rate_; }

    const std::vector<std::string>& words() const { return words_; }
    /// P(next | word) as weights that sum to 1.
    double transition(int word, int next) const;
    /// The stationary probability of each word.
    const std::vector<double>& stationary() const { return stationary_; }

    static constexpr int kVocab = 27;  ///< 0 is the space, 1 … 26 are a … z
    static char letter(std::int32_t token) { return token == 0 ? ' ' : static_cast<char>('a' + token - 1); }

  private:
    void generate_words();
    void link_words();
    void find_stationary_state();
    void find_entropies();
    void find_context_entropies();
    void draw(Split split, RandomRow random, std::span<std::int32_t> text) const override;
    std::span<const double> cumulative(int word) const;

    std::vector<std::string> words_;           ///< without the space
    std::vector<double> cumulative_;           ///< [words, words]: running sums of P(next | word)
    std::vector<double> stationary_;           ///< [words]
    std::vector<double> position_cumulative_;  ///< [words]: running sums of stationary · (letters + 1)
    double unigram_entropy_ = 0, pairs_ = 0, triples_ = 0, entropy_rate_ = 0;
};

}  // namespace normscope
