// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/markov.h"

#include "core/train/data/context_entropy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <string_view>

namespace normscope {
namespace {

/// Weights 1 / rank^exponent, rank from 1, normalised to sum 1.
std::vector<double> zipf(int count, double exponent) {
    std::vector<double> weights(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) weights[static_cast<std::size_t>(i)] = std::pow(i + 1, -exponent);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) weight /= total;
    return weights;
}

std::vector<double> running_sums(std::span<const double> weights) {
    std::vector<double> sums(weights.size());
    std::partial_sum(weights.begin(), weights.end(), sums.begin());
    return sums;
}

// The language. Chosen so that the default experiment shows its result within 200 steps: a working stack of
// 12 layers gets far below the unigram entropy, and still has more to learn.
constexpr std::uint64_t kLanguageSeed = 1;
constexpr int kWords = 100, kMinLetters = 2, kMaxLetters = 6;
constexpr double kZipfExponent = 1.0;    // of the words' common frequencies
constexpr double kLetterExponent = 0.5;  // of the letters' frequencies
constexpr int kFollowers = 3;            // preferred followers of each word, by decreasing weight,
constexpr double kFollowerShare = 0.5;   // and the probability that the next word is drawn from them

}  // namespace

MarkovCorpus::MarkovCorpus() {
    generate_words();
    link_words();
    find_stationary_state();
    find_entropies();
    find_context_entropies();
}

void MarkovCorpus::generate_words() {
    // Letters in the order of their frequency in English; consonants and vowels alternate.
    constexpr std::array<std::string_view, 2> alphabets{"tnshrdlcmwfgpbvkjxqz", "eaoiuy"};
    std::array<std::vector<double>, 2> letters;
    for (std::size_t i = 0; i < 2; ++i)
        letters[i] = running_sums(zipf(static_cast<int>(alphabets[i].size()), kLetterExponent));
    RandomRow random(NormalKey(kLanguageSeed, "markov.words"), 0);
    std::set<std::string> known;
    while (static_cast<int>(words_.size()) < kWords) {
        // Frequent words are short (Zipf's law of abbreviation).
        const double rank = static_cast<double>(words_.size()) / kWords;
        const int length = kMinLetters + static_cast<int>((kMaxLetters - kMinLetters + 1) *
                                                          (0.5 * rank + 0.5 * random.uniform()));
        std::string word;
        for (std::size_t kind = random.below(2); static_cast<int>(word.size()) < length; kind = 1 - kind)
            word += alphabets[kind][static_cast<std::size_t>(random.categorical(letters[kind]))];
        if (known.insert(word).second) words_.push_back(word);
    }
}

void MarkovCorpus::link_words() {
    const std::size_t count = words_.size();
    const std::vector<double> common = zipf(kWords, kZipfExponent);
    const std::vector<double> favour = zipf(kFollowers, 1.0);
    cumulative_.reserve(count * count);
    for (std::size_t word = 0; word < count; ++word) {
        RandomRow random(NormalKey(kLanguageSeed, "markov.followers"), word);
        std::vector<double> next(count);
        for (std::size_t i = 0; i < count; ++i) next[i] = (1 - kFollowerShare) * common[i];
        for (const double weight : favour) next[random.below(count)] += kFollowerShare * weight;
        const std::vector<double> sums = running_sums(next);
        cumulative_.insert(cumulative_.end(), sums.begin(), sums.end());
    }
}

void MarkovCorpus::find_stationary_state() {
    // Power iteration. Every row holds a share of the same Zipf law, so the distance to the stationary state
    // falls at least by the factor kFollowerShare in each iteration.
    const std::size_t count = words_.size();
    stationary_.assign(count, 1.0 / static_cast<double>(count));
    for (double change = 1; change > 1e-15;) {
        std::vector<double> next(count, 0.0);
        for (std::size_t from = 0; from < count; ++from)
            for (std::size_t to = 0; to < count; ++to)
                next[to] += stationary_[from] * transition(static_cast<int>(from), static_cast<int>(to));
        change = 0;
        for (std::size_t i = 0; i < count; ++i) change = std::max(change, std::abs(next[i] - stationary_[i]));
        stationary_ = std::move(next);
    }
}

void MarkovCorpus::find_entropies() {
    std::vector<double> characters(words_.size()), occurrences(kVocab);
    double word_entropy = 0;
    for (std::size_t word = 0; word < words_.size(); ++word) {
        const double p = stationary_[word];
        characters[word] = p * static_cast<double>(words_[word].size() + 1);
        occurrences[0] += p;
        for (const char c : words_[word]) occurrences[static_cast<std::size_t>(c - 'a' + 1)] += p;
        for (std::size_t next = 0; next < words_.size(); ++next)
            word_entropy += p * entropy_term(transition(static_cast<int>(word), static_cast<int>(next)));
    }
    position_cumulative_ = running_sums(characters);
    const double mean_length = position_cumulative_.back();
    entropy_rate_ = word_entropy / mean_length;
    for (const double count : occurrences) unigram_entropy_ += entropy_term(count / mean_length);
}

/// The text is a sequence of words, each with its space: how often each pair and triple of characters occurs
/// in it follows from the stationary state and the transitions. Words have two letters or more.
void MarkovCorpus::find_context_entropies() {
    ContextEntropy pairs, triples;
    const auto code = [](char c) { return static_cast<std::uint64_t>(c == ' ' ? 0 : c - 'a' + 1); };
    const auto add = [&](std::string_view text, double weight) {  // the last character as the target
        const std::uint64_t last = code(text.back()), before = code(text[text.size() - 2]);
        if (text.size() == 2) return pairs.add(before, last, weight);
        triples.add(kVocab * code(text[0]) + before, last, weight);
    };
    for (std::size_t word = 0; word < words_.size(); ++word) {
        const double p = stationary_[word];
        const std::string text = ' ' + words_[word] + ' ';  // the space before is of the word before
        for (std::size_t i = 1; i < text.size(); ++i) add(std::string_view(text).substr(i - 1, 2), p);
        for (std::size_t i = 2; i < text.size(); ++i) add(std::string_view(text).substr(i - 2, 3), p);
        for (std::size_t next = 0; next < words_.size(); ++next)
            add({std::string{text[text.size() - 2], ' ', words_[next].front()}},
                p * transition(static_cast<int>(word), static_cast<int>(next)));
    }
    pairs_ = pairs.nat();
    triples_ = triples.nat();
}

std::span<const double> MarkovCorpus::cumulative(int word) const {
    const std::size_t count = words_.size();
    return std::span(cumulative_).subspan(static_cast<std::size_t>(word) * count, count);
}

double MarkovCorpus::transition(int word, int next) const {
    const std::span<const double> sums = cumulative(word);
    const std::size_t i = static_cast<std::size_t>(next);
    return (sums[i] - (i == 0 ? 0.0 : sums[i - 1])) / sums.back();
}

void MarkovCorpus::draw(Split, RandomRow random, std::span<std::int32_t> text) const {
    int word = random.categorical(position_cumulative_);
    std::size_t offset = random.below(words_[static_cast<std::size_t>(word)].size() + 1);
    for (std::int32_t& token : text) {
        const std::string& letters = words_[static_cast<std::size_t>(word)];
        if (offset < letters.size()) {
            token = letters[offset++] - 'a' + 1;
        } else {
            token = 0;
            word = random.categorical(cumulative(word));
            offset = 0;
        }
    }
}

}  // namespace normscope
