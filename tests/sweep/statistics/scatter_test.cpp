// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/statistics/scatter.h"

#include "core/backend/shared/counter_rng.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using S = ScatterStatistic;

namespace {

/// Of every seed four points near y = 3·x^slope, with noise of the logarithm that is one number per seed.
std::vector<ScatterPoint> points(double slope, double noise, std::uint64_t seeds, std::uint64_t first = 0) {
    std::vector<ScatterPoint> all;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        double shift = 0;
        fill_normal_row({seed, "scatter"}, 0, 0, 1, noise, &shift);
        for (const double x : {1.0, 2.0, 5.0, 9.0})
            all.push_back({x, 3 * std::pow(x, slope) * std::exp(shift), seed});
    }
    return all;
}

bool close(double a, double b) {
    return std::abs(a - b) < 1e-12;
}

}  // namespace

class ScatterTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aPowerLawIsExact() {
        const auto exact = points(1.7, 0, 3);
        QVERIFY(close(scatter_statistic(exact, S::Pearson), 1));
        QVERIFY(close(scatter_statistic(exact, S::Spearman), 1));
        QVERIFY(close(scatter_statistic(exact, S::R2), 1));
        QVERIFY(close(scatter_statistic(exact, S::Slope), 1.7));
        QVERIFY(close(scatter_statistic(points(-0.5, 0, 3), S::Pearson), -1));
        const Interval interval = scatter_interval(exact, S::Slope);
        QVERIFY(close(interval.low, 1.7) && close(interval.high, 1.7));
    }

    /// Logarithms 0, 1, 2, 3, 4 against 0, 2, 1, 4, 3.
    void fivePoints() {
        std::vector<ScatterPoint> five;
        const double y[] = {0, 2, 1, 4, 3};
        for (int i = 0; i < 5; ++i) five.push_back({std::exp(double(i)), std::exp(y[i]), 0});
        QVERIFY(close(scatter_statistic(five, S::Pearson), 0.8));
        QVERIFY(close(scatter_statistic(five, S::Spearman), 0.8));
        QVERIFY(close(scatter_statistic(five, S::R2), 0.64));
        QVERIFY(close(scatter_statistic(five, S::Slope), 0.8));
        QVERIFY(std::isnan(scatter_interval(five, S::Slope).low));  // one seed
    }

    /// The interval of the slope has the true one in it about as often as it states, also over five seeds.
    void theIntervalHoldsItsLevel_data() {
        QTest::addColumn<int>("seeds");
        QTest::newRow("5 seeds") << 5;
        QTest::newRow("12 seeds") << 12;
    }
    void theIntervalHoldsItsLevel() {
        QFETCH(int, seeds);
        int inside = 0;
        for (std::uint64_t trial = 0; trial < 100; ++trial) {
            std::vector<ScatterPoint> noisy;
            for (std::uint64_t seed = 0; seed < std::uint64_t(seeds); ++seed) {
                double shifts[4];
                fill_normal_row({100 * trial + seed, "scatter"}, 1, 0, 4, 0.3, shifts);
                int i = 0;
                for (const double x : {1.0, 2.0, 5.0, 9.0})
                    noisy.push_back({x, std::exp(shifts[i++]) * x * x, seed});
            }
            const Interval interval = scatter_interval(noisy, S::Slope);
            inside += interval.low <= 2 && 2 <= interval.high;
        }
        QVERIFY2(inside >= 91 && inside <= 99, qPrintable(QString::number(inside)));
    }

    /// Points of one seed are drawn together: noise that a seed's points share widens the interval of what
    /// it moves.
    void seedsAreDrawnWhole() {
        auto paired = points(1, 0.5, 12);
        for (ScatterPoint& point : paired) point.x *= point.seed % 2 ? 1 : 20;
        const Interval clustered = scatter_interval(paired, S::Slope);
        for (std::size_t i = 0; i < paired.size(); ++i) paired[i].seed = i;
        const Interval single = scatter_interval(paired, S::Slope);
        QCOMPARE(clustered.mean, single.mean);
        QVERIFY(clustered.high - clustered.low > 1.2 * (single.high - single.low));
    }

    void whatHasNoLogarithmIsNoNumber() {
        auto some = points(1, 0.1, 3);
        some.back().y = 0;
        QVERIFY(std::isnan(scatter_statistic(some, S::Pearson)));
        QVERIFY(std::isnan(scatter_statistic({{1, 1, 0}}, S::Pearson)));
        QVERIFY(std::isnan(scatter_statistic({{1, 1, 0}, {1, 2, 0}}, S::Slope)));
    }
};

NORMSCOPE_TEST(ScatterTest)
#include "scatter_test.moc"
