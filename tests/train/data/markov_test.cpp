// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/markov.h"

#include "tests/support/test_main.h"
#include "tests/train/data/sample.h"

#include <QtTest>
#include <cmath>
#include <map>
#include <set>

using namespace normscope;

namespace {

std::size_t at(int i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

class MarkovTest : public QObject {
    Q_OBJECT

    const MarkovCorpus corpus_;

  private Q_SLOTS:
    void wordsCanBeParsed() {
        const std::set<std::string> distinct(corpus_.words().begin(), corpus_.words().end());
        QCOMPARE(distinct.size(), corpus_.words().size());
        for (const std::string& word : corpus_.words()) {
            QVERIFY(!word.empty());
            for (const char c : word) QVERIFY(c >= 'a' && c <= 'z');
        }
    }

    void stationaryStateIsAFixedPoint() {
        const int count = static_cast<int>(corpus_.words().size());
        double total = 0;
        for (int to = 0; to < count; ++to) {
            double mass = 0, row = 0;
            for (int from = 0; from < count; ++from) {
                mass += corpus_.stationary()[at(from)] * corpus_.transition(from, to);
                row += corpus_.transition(to, from);
                QVERIFY(corpus_.transition(from, to) > 0);
            }
            QVERIFY(std::abs(mass - corpus_.stationary()[at(to)]) < 1e-14);
            QVERIFY(std::abs(row - 1) < 1e-13);
            total += mass;
        }
        QVERIFY(std::abs(total - 1) < 1e-13);
    }

    // Mean −log p of the characters under the marginal, which every position has: also the first and the
    // last.
    void unigramEntropy() {
        std::vector<double> marginal(MarkovCorpus::kVocab);
        double mean_length = 0;
        for (std::size_t w = 0; w < corpus_.words().size(); ++w) {
            const double p = corpus_.stationary()[w];
            mean_length += p * static_cast<double>(corpus_.words()[w].size() + 1);
            marginal[0] += p;
            for (const char c : corpus_.words()[w]) marginal[at(c - 'a' + 1)] += p;
        }
        std::vector<double> whole, first, last;
        for (int step = 0; step < 500; ++step) {
            const Batch batch = corpus_.train_batch(1, step, 0, 8, 64);
            double sum = 0;
            for (const std::int32_t target : batch.targets)
                sum -= std::log(marginal[at(target)] / mean_length);
            whole.push_back(sum / static_cast<double>(batch.targets.size()));
            for (int i = 0; i < 8; ++i) {
                first.push_back(-std::log(marginal[at(batch.tokens[at(i * 64)])] / mean_length));
                last.push_back(-std::log(marginal[at(batch.targets[at(i * 64 + 63)])] / mean_length));
            }
        }
        QVERIFY(Estimate(whole).agrees(corpus_.unigram_entropy(), 0.003));
        QVERIFY(Estimate(first).agrees(corpus_.unigram_entropy(), 0.02));
        QVERIFY(Estimate(last).agrees(corpus_.unigram_entropy(), 0.02));
    }

    // The true model's log-likelihood of sampled text, words read back from the characters.
    void entropyRate() {
        std::map<std::string, int> number;
        for (std::size_t w = 0; w < corpus_.words().size(); ++w)
            number[corpus_.words()[w]] = static_cast<int>(w);
        std::vector<double> rates;
        for (int step = 0; step < 200; ++step) {
            const Batch batch = corpus_.held_out_batch(3, step, 1, 4000);
            std::string word;
            int previous = -1, characters = 0;
            double surprise = 0;
            bool started = false;  // a sequence begins inside a word
            for (const std::int32_t token : batch.tokens) {
                if (token != 0) {
                    word += MarkovCorpus::letter(token);
                    continue;
                }
                if (started) {
                    QVERIFY2(number.contains(word), word.c_str());
                    const int next = number[word];
                    if (previous >= 0) {
                        surprise -= std::log(corpus_.transition(previous, next));
                        characters += static_cast<int>(word.size()) + 1;
                    }
                    previous = next;
                }
                started = true;
                word.clear();
            }
            rates.push_back(surprise / characters);
        }
        QVERIFY(Estimate(rates).agrees(corpus_.entropy_rate(), 0.001));
    }

    // What the language's documentation promises.
    void theLanguageStaysAsItIs() {
        QVERIFY(std::abs(corpus_.unigram_entropy() - 2.867) < 5e-4);
        QVERIFY(std::abs(corpus_.entropy_rate() - 0.630) < 5e-4);
        QVERIFY(std::abs(corpus_.entropy_given(1) - 2.012) < 5e-4);
        QVERIFY(std::abs(corpus_.entropy_given(2) - 1.0645) < 5e-5);
        QCOMPARE(corpus_.words().size(), std::size_t{100});
    }
};

NORMSCOPE_TEST(MarkovTest)
#include "markov_test.moc"
