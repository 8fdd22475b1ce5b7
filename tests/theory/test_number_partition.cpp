// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/number_partition.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

using normscope::NumberPartition;

namespace {

constexpr std::size_t plenty = 10'000'000;

/// The smallest |difference ± the values from k on|, over every choice of signs.
double enumerate(const std::vector<double>& values, std::size_t k, double difference) {
    if (k == values.size()) return std::abs(difference);
    return std::min(enumerate(values, k + 1, difference + values[k]),
                    enumerate(values, k + 1, difference - values[k]));
}

double signed_sum(const NumberPartition& partition, const std::vector<double>& values) {
    return std::abs(std::inner_product(values.begin(), values.end(), partition.signs().begin(), 0.0));
}

class NumberPartitionTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// Longer than the tail that is solved at once, so that the tree search and its pruning decide; tied,
    /// nearly tied, steep and mixed entries.
    void theSearchFindsTheOptimum_data() {
        QTest::addColumn<int>("kind");
        QTest::newRow("smooth") << 0;
        QTest::newRow("steep") << 1;
        QTest::newRow("two values") << 2;
        QTest::newRow("nearly equal with a light tail") << 3;
        QTest::newRow("one large, others nearly equal") << 4;
        QTest::newRow("multiples of 1/64") << 5;
    }
    void theSearchFindsTheOptimum() {
        QFETCH(int, kind);
        std::mt19937_64 generator(17);
        std::normal_distribution<double> normal;
        NumberPartition partition;
        for (int trial = 0; trial < 12; ++trial) {
            std::vector<double> values(static_cast<std::size_t>(21 + trial % 3));
            for (std::size_t i = 0; i < values.size(); ++i) {
                const double noise = normal(generator);
                switch (kind) {
                    case 0:
                        values[i] = 0.02 * std::exp(noise);
                        break;
                    case 1:
                        values[i] = 0.5 * std::pow(0.6, static_cast<double>(i)) * (1 + 0.1 * noise);
                        break;
                    case 2:
                        values[i] = i % 2 == 0 ? 0.07 : 0.0301;
                        break;
                    case 3:
                        values[i] = i < 7 ? 0.13 * (1 + 1e-3 * noise) : 1e-4 * std::exp(noise);
                        break;
                    case 4:
                        values[i] = i == 3 ? 0.3 : 0.031 * (1 + 1e-4 * noise);
                        break;
                    default:
                        values[i] = (1 + std::floor(std::abs(4 * noise))) / 64;
                        break;
                }
                values[i] = std::clamp(std::abs(values[i]), 1e-9, 1.0);
            }
            const auto result = partition.split(values, 0, plenty);
            const double optimum = enumerate(values, 1, values[0]);
            QVERIFY2(std::abs(result.difference - optimum) < 1e-14,
                     qPrintable(QString("found %1, optimum %2").arg(result.difference).arg(optimum)));
            QVERIFY(result.lower == result.difference || result.difference == 0);
            QVERIFY(std::abs(signed_sum(partition, values) - result.difference) < 1e-14);
        }
    }

    void stopsWhenGoodEnough() {
        const std::vector<double> values(40, 0.025);
        NumberPartition partition;
        const auto result = partition.split(values, 1e-3, plenty);
        QVERIFY(result.difference <= 1e-3);
        QCOMPARE(result.lower, 0.0);
    }

    /// Incommensurable sizes and nothing to fill the gap with: the search can not finish in ten nodes, and
    /// says so.
    void workLimitIsHonest() {
        std::vector<double> values;
        for (int i = 0; i < 30; ++i) values.push_back((2 * i + 3) / 1024.0);
        values.push_back(2 / 1024.0);  // the total is even … and one more entry makes it odd
        values.push_back(1 / 1024.0);
        NumberPartition partition;
        const auto limited = partition.split(values, 0, 1);
        QCOMPARE(limited.lower, 0.0);
        QVERIFY(limited.difference >= 1 / 1024.0);
        QVERIFY(std::abs(signed_sum(partition, values) - limited.difference) < 1e-14);
    }
};

}  // namespace

QTEST_GUILESS_MAIN(NumberPartitionTest)
#include "test_number_partition.moc"
