// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/copy.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>

using namespace normscope;

class CopyTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void lengths_data() {
        QTest::addColumn<int>("length");
        for (const int length : {1, 2, 3, 16, 33, 64}) QTest::addRow("%d", length) << length;
    }

    void lengths() {
        QFETCH(int, length);
        const CopyCorpus corpus(length);
        const int copied = std::max(1, length / 2);
        std::vector<double> counts(static_cast<std::size_t>(corpus.vocab()));
        const int sequences = 4000;
        const Batch batch = corpus.train_batch(1, 0, 0, sequences, length);
        for (int s = 0; s < sequences; ++s) {
            // text[i] for 0 … length: the tokens and the last target
            const auto text = [&](int i) {
                const std::size_t at = static_cast<std::size_t>(s * length + i);
                return i < length ? batch.tokens[at] : batch.targets[at - 1];
            };
            for (int i = 0; i <= length; ++i) {
                if (i == copied || i == 2 * copied + 1)
                    QCOMPARE(text(i), CopyCorpus::kSeparator);
                else
                    QVERIFY(text(i) < CopyCorpus::kSymbols);
                if (i > copied && i <= 2 * copied) QCOMPARE(text(i), text(i - copied - 1));
                if (i > 0) ++counts[static_cast<std::size_t>(text(i))];
            }
        }
        // The noise: targets 1 … copied − 1.
        QCOMPARE(corpus.entropy_rate(), (copied - 1) * std::log(16.0) / length);
        double empirical = 0;
        const double total = static_cast<double>(sequences) * length;
        for (const double count : counts)
            if (count > 0) empirical -= count / total * std::log(count / total);
        QVERIFY2(std::abs(empirical - corpus.unigram_entropy()) < 0.01,
                 qPrintable(QString::number(empirical)));
    }
};

NORMSCOPE_TEST(CopyTest)
#include "copy_test.moc"
