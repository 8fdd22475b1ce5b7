// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/data/induction.h"

#include "tests/support/test_main.h"
#include "tests/train/data/sample.h"

#include <QtTest>
#include <cmath>
#include <map>

using namespace normscope;

class InductionTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void lengths_data() {
        QTest::addColumn<int>("length");
        for (const int length : {1, 2, 5, 64}) QTest::addRow("%d", length) << length;
    }

    // Values follow from their keys, and the floor is the mean surprise of a model of the rules.
    void lengths() {
        QFETCH(int, length);
        const InductionCorpus corpus(length);
        const int sequences = 4000, keys = InductionCorpus::kKeys;
        const Batch batch = corpus.train_batch(1, 0, 0, sequences, length);
        std::vector<double> surprises, counts(static_cast<std::size_t>(corpus.vocab()));
        for (int s = 0; s < sequences; ++s) {
            std::map<std::int32_t, std::int32_t> known;
            int unpredictable = 0;
            for (int i = 0; i < length; ++i) {
                const std::size_t at = static_cast<std::size_t>(s * length + i);
                const std::int32_t token = batch.tokens[at], target = batch.targets[at];
                ++counts[static_cast<std::size_t>(target)];
                QCOMPARE(token < keys, i % 2 == 0);
                QCOMPARE(target < keys, i % 2 == 1);
                if (i % 2 == 1 || !known.contains(token)) ++unpredictable;
                if (i % 2 == 0) QCOMPARE(known.try_emplace(token, target).first->second, target);
            }
            surprises.push_back(unpredictable * std::log(keys) / length);
        }
        const Estimate floor(surprises);
        if (length <= 2)  // the first value and the second key: always noise
            QVERIFY(std::abs(floor.mean - corpus.entropy_rate()) < 1e-12);
        else
            QVERIFY(floor.agrees(corpus.entropy_rate(), 0.01));
        double empirical = 0;
        const double total = static_cast<double>(sequences) * length;
        for (const double count : counts)
            if (count > 0) empirical -= count / total * std::log(count / total);
        QVERIFY2(std::abs(empirical - corpus.unigram_entropy()) < 0.01,
                 qPrintable(QString::number(empirical)));
    }
};

NORMSCOPE_TEST(InductionTest)
#include "induction_test.moc"
