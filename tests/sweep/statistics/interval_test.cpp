// SPDX-License-Identifier: GPL-3.0-or-later
// Confidence intervals against closed forms, published tables and their own coverage.
#include "core/sweep/statistics/interval.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <numbers>
#include <random>

using namespace normscope;

namespace {

bool close(double a, double b, double tolerance) {
    return std::abs(a - b) <= tolerance;
}

}  // namespace

class IntervalTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void quantilesOfStudent() {
        QVERIFY(close(student_quantile(1), std::tan(0.475 * std::numbers::pi), 1e-12));
        QVERIFY(close(student_quantile(2), 0.95 / std::sqrt(2 * 0.975 * 0.025), 1e-12));
        // Published five-digit tables.
        QVERIFY(close(student_quantile(4), 2.77645, 1e-5));
        QVERIFY(close(student_quantile(30), 2.04227, 1e-5));
        QVERIFY(close(student_quantile(40), 2.02108, 1e-5));
        QVERIFY(close(student_quantile(100), 1.98397, 1e-5));
        // Falling, also where the table ends.
        for (std::size_t n = 1; n < 60; ++n) QVERIFY(student_quantile(n) > student_quantile(n + 1));
    }

    void meanOfFew() {
        const Interval three = student_interval({1, 2, 3});
        QCOMPARE(three.mean, 2.0);
        QVERIFY(close(three.high - 2, 4.302652729749462 / std::sqrt(3.0), 1e-12));
        QVERIFY(close(2 - three.low, three.high - 2, 1e-12));
        const Interval one = student_interval({5});
        QCOMPARE(one.mean, 5.0);
        QVERIFY(std::isnan(one.low) && std::isnan(one.high));
    }

    /// 95 of 100 intervals of five normal values contain the mean.
    void coverage() {
        std::mt19937_64 engine(1);
        std::normal_distribution<double> normal(3, 2);
        int inside = 0;
        constexpr int kTrials = 20'000;
        for (int i = 0; i < kTrials; ++i) {
            std::vector<double> values(5);
            for (double& v : values) v = normal(engine);
            const Interval interval = student_interval(values);
            inside += interval.low <= 3 && 3 <= interval.high ? 1 : 0;
        }
        const double share = static_cast<double>(inside) / kTrials;  // standard error 0.0015
        QVERIFY2(close(share, 0.95, 0.006), qPrintable(QString::number(share)));
    }

    void sharesOfWilson() {
        // Of none in n the upper end is z²/(n + z²).
        const double z2 = 1.959963984540054 * 1.959963984540054;
        const Interval none = share_interval(0, 5), all = share_interval(5, 5);
        QCOMPARE(none.low, 0.0);
        QVERIFY(close(none.high, z2 / (5 + z2), 1e-12));
        QCOMPARE(all.high, 1.0);
        QVERIFY(close(all.low, 1 - none.high, 1e-12));
        // Newcombe (1998), table I: 81 of 263.
        const Interval published = share_interval(81, 263);
        QVERIFY(close(published.low, 0.2553, 5e-5) && close(published.high, 0.3662, 5e-5));
    }

    void differencesOfNewcombe() {
        // Newcombe (1998), table II: 56 of 70 against 48 of 80.
        const Interval published = share_difference_interval(56, 70, 48, 80);
        QVERIFY(close(published.mean, 0.2, 1e-12));
        QVERIFY(close(published.low, 0.0524, 5e-5) && close(published.high, 0.3339, 5e-5));
        // Five of five against none of five is a difference, three of five is none yet.
        QVERIFY(share_difference_interval(5, 5, 0, 5).low > 0);
        QVERIFY(share_difference_interval(2, 5, 0, 5).low < 0);
    }
};

NORMSCOPE_TEST(IntervalTest)
#include "interval_test.moc"
