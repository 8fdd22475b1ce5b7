// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/statistics.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>

using namespace normscope;

class StatisticsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void theThreeMediansDifferForAnEvenCountAlone() {
        const std::vector<double> odd{4, 1, 9}, even{16, 1, 4, 9};
        QCOMPARE(median(odd), 4.0);
        QCOMPARE(upper_median(odd), 4.0);
        QCOMPARE(geometric_median(odd), 4.0);
        QCOMPARE(median(even), 6.5);
        QCOMPARE(upper_median(even), 9.0);
        QCOMPARE(geometric_median(even), 6.0);
    }
    void theMedianOfReciprocalRatiosIsTheReciprocal() {
        const std::vector<double> ratios{0.5, 3, 20, 0.01};
        std::vector<double> reciprocals;
        for (const double r : ratios) reciprocals.push_back(1 / r);
        QVERIFY(std::abs(geometric_median(ratios) * geometric_median(reciprocals) - 1) < 1e-15);
    }
    void nanAndNoValueHaveNoMedian() {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        for (const std::vector<double>& values : {std::vector<double>{}, std::vector<double>{1, nan, 2}}) {
            QVERIFY(std::isnan(median(values)));
            QVERIFY(std::isnan(upper_median(values)));
            QVERIFY(std::isnan(geometric_median(values)));
            QVERIFY(std::isnan(mean(values)));
        }
        QCOMPARE(finite_values({1, nan, INFINITY, 2}), (std::vector<double>{1, 2}));
    }
    void slopeOfLeastSquares() {
        QCOMPARE(least_squares_slope({1, 2, 3}, {5, 7, 9}), 2.0);
        QCOMPARE(least_squares_slope({0, 1, 2, 3}, {1, 0, 0, 3}), 0.6);  // (−1.5·1 + 1.5·3)/5
        QVERIFY(std::isnan(least_squares_slope({2, 2}, {1, 3})));
        QVERIFY(std::isnan(least_squares_slope({}, {})));
    }
    void quantilesAreNumPys() {
        const std::vector<double> values{1, 2, 4, 8};
        QCOMPARE(quantile(values, 0), 1.0);
        QCOMPARE(quantile(values, 0.5), 3.0);
        QCOMPARE(quantile(values, 0.25), 1.75);
        QCOMPARE(quantile(values, 1), 8.0);
        QVERIFY(std::isnan(quantile({}, 0.5)));
    }
    void theStandardErrorOfTheMean() {
        QCOMPARE(mean({1, 2, 3, 6}), 3.0);
        QCOMPARE(standard_error({1, 2, 3, 6}), std::sqrt(14.0 / 3 / 4));
        QVERIFY(std::isnan(standard_error({1})));
    }
};

NORMSCOPE_TEST(StatisticsTest)
#include "statistics_test.moc"
