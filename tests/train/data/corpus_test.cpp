// SPDX-License-Identifier: GPL-3.0-or-later
// What holds for every source.
#include "core/train/data/corpus.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

using namespace normscope;

namespace {

bool same(const Batch& a, const Batch& b) {
    return a.sequences == b.sequences && a.length == b.length && a.tokens == b.tokens &&
           a.targets == b.targets;
}

constexpr int kContext = 32;

std::unique_ptr<const Corpus> corpus_of(const DataSpec& spec, int context) {
    StackSpec stack;
    stack.context = context;
    return make_corpus(spec, stack);
}

/// Of a token given those before it, by their counts in 20,000 sequences.
double counted_entropy(const Corpus& corpus, int previous) {
    std::map<int, std::map<std::int32_t, double>> counts;
    double total = 0;
    for (int step = 0; step < 100; ++step) {
        const Batch batch = corpus.train_batch(9, step, 0, 200, kContext);
        for (int s = 0; s < 200; ++s)
            for (int i = previous - 1; i < kContext; ++i) {
                const auto at = static_cast<std::size_t>(s * kContext + i);
                const int before = batch.tokens[at] + (previous == 2 ? 1000 * batch.tokens[at - 1] : 0);
                ++counts[before][batch.targets[at]];
                ++total;
            }
    }
    double sum = 0;
    for (const auto& [before, tokens] : counts) {
        double of = 0;
        for (const auto& [token, count] : tokens) of += count;
        for (const auto& [token, count] : tokens) sum -= count / total * std::log(count / of);
    }
    return sum;
}

}  // namespace

class CorpusTest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

  private Q_SLOTS:
    void initTestCase() {
        std::ofstream file(folder_.filePath("text").toStdString(), std::ios::binary);
        RandomRow random(NormalKey(0, "file"), 0);
        for (int i = 0; i < 100000; ++i) file.put(static_cast<char>(random.below(256)));
    }

    void allSources_data() {
        QTest::addColumn<QString>("source");
        for (const char* source : {"markov", "copy", "induction", "text"})
            QTest::newRow(source) << QString(source);
    }

    void allSources() {
        QFETCH(QString, source);
        DataSpec spec;
        const auto words = words_of<DataSource>();
        const auto word = std::find(words.begin(), words.end(), source.toStdString());
        QVERIFY(word != words.end());
        spec.source = static_cast<DataSource>(word - words.begin());
        spec.path = folder_.filePath("text").toStdString();
        const auto corpus = corpus_of(spec, kContext);

        const Batch batch = corpus->train_batch(42, 7, 0, 8, kContext);
        QCOMPARE(batch.sequences, 8);
        QCOMPARE(batch.length, kContext);
        QCOMPARE(batch.tokens.size(), std::size_t{8 * kContext});
        QCOMPARE(batch.targets.size(), std::size_t{8 * kContext});
        for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
            QVERIFY(batch.tokens[i] >= 0 && batch.tokens[i] < corpus->vocab());
            QVERIFY(batch.targets[i] >= 0 && batch.targets[i] < corpus->vocab());
            if ((i + 1) % kContext != 0) QCOMPARE(batch.targets[i], batch.tokens[i + 1]);
        }

        // A pure function of its arguments, also of another corpus made from the same specification.
        QVERIFY(same(batch, corpus->train_batch(42, 7, 0, 8, kContext)));
        QVERIFY(same(batch, corpus_of(spec, kContext)->train_batch(42, 7, 0, 8, kContext)));
        QVERIFY(batch.tokens != corpus->train_batch(42, 8, 0, 8, kContext).tokens);
        QVERIFY(batch.tokens != corpus->train_batch(43, 7, 0, 8, kContext).tokens);
        QVERIFY(batch.tokens != corpus->train_batch(42, 7, 1, 8, kContext).tokens);
        QVERIFY(batch.tokens != corpus->held_out_batch(42, 7, 8, kContext).tokens);

        // Two micro-batches of 4 hold the text of one of 8.
        const Batch first = corpus->train_batch(42, 7, 0, 4, kContext),
                    second = corpus->train_batch(42, 7, 1, 4, kContext);
        std::vector<std::int32_t> joined = first.tokens;
        joined.insert(joined.end(), second.tokens.begin(), second.tokens.end());
        QCOMPARE(joined, batch.tokens);

        // No sequence twice, and none of the held-out ones in training.
        std::set<std::vector<std::int32_t>> seen;
        const auto collect = [&seen](const Batch& drawn) {
            for (int i = 0; i < drawn.sequences; ++i)
                seen.emplace(drawn.tokens.begin() + i * drawn.length,
                             drawn.tokens.begin() + (i + 1) * drawn.length);
        };
        const int steps = source == "text" ? 10 : 200;  // windows of a file do repeat before long
        for (int step = 0; step < steps; ++step) collect(corpus->train_batch(1, step, 0, 8, kContext));
        for (int index = 0; index < steps / 2; ++index)
            collect(corpus->held_out_batch(1, index, 8, kContext));
        const std::size_t drawn = static_cast<std::size_t>(8 * steps + 4 * steps);
        QVERIFY2(source == "text" ? seen.size() > drawn * 9 / 10 : seen.size() == drawn,
                 qPrintable(QString::number(seen.size())));

        QVERIFY(corpus->unigram_entropy() > 0 &&
                corpus->unigram_entropy() <= std::log(corpus->vocab()) + 1e-12);
        QVERIFY(std::isnan(corpus->entropy_rate()) == (source == "text"));
        QVERIFY(!(corpus->entropy_rate() >= corpus->unigram_entropy()));
        QVERIFY(corpus->entropy_given(1) <= corpus->unigram_entropy() + 1e-12);
        QVERIFY(corpus->entropy_given(2) <= corpus->entropy_given(1) + 1e-12);
        QVERIFY(!(corpus->entropy_rate() > corpus->entropy_given(2) + 1e-12));
        if (source == "text") return;
        for (const int previous : {1, 2}) {
            const double counted = counted_entropy(*corpus, previous),
                         exact = corpus->entropy_given(previous);
            QVERIFY2(std::abs(counted - exact) < 0.02,
                     qPrintable(QString("%1 before: %2, counted %3").arg(previous).arg(exact).arg(counted)));
        }

        QVERIFY_EXCEPTION_THROWN(corpus->train_batch(1, -1, 0, 8, kContext), InputError);
        QVERIFY_EXCEPTION_THROWN(corpus->train_batch(1, 0, -1, 8, kContext), InputError);
        QVERIFY_EXCEPTION_THROWN(corpus->train_batch(1, 0, 0, 0, kContext), InputError);
        QVERIFY_EXCEPTION_THROWN(corpus->train_batch(1, 0, 0, 8, 0), InputError);
        QVERIFY_EXCEPTION_THROWN(corpus->held_out_batch(1, -1, 8, kContext), InputError);
        QVERIFY_EXCEPTION_THROWN(corpus_of(spec, 0), InputError);
        QCOMPARE(corpus->train_batch(1, 0, 0, 1, 1).tokens.size(), std::size_t{1});
    }
};

NORMSCOPE_TEST(CorpusTest)
#include "corpus_test.moc"
