// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/interface/jackknife.h"

#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;

class JackknifeTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void ofAMeanIsTheStandardErrorOfTheMean() {
        const std::vector<double> values{1, 4, 2, 9, 5};
        const auto mean = jackknife(values, 1, [](std::span<const double> total, std::size_t count) {
            return total[0] / static_cast<double>(count);
        });
        double squares = 0;
        for (const double v : values) squares += (v - 4.2) * (v - 4.2);
        QVERIFY(std::abs(mean.value - 4.2) < 1e-14);
        QVERIFY(std::abs(mean.error - std::sqrt(squares / 4 / 5)) < 1e-14);
    }

    void ofARatioOfSumsFollowsTheFormula() {
        // Two terms a sequence; the statistic is the ratio of their totals, with one omitted by hand.
        const std::vector<double> sums{1, 2, 3, 4, 5, 5};
        const auto ratio = jackknife(
            sums, 2, [](std::span<const double> total, std::size_t) { return total[0] / total[1]; });
        const double out[] = {8.0 / 9, 6.0 / 7, 4.0 / 6};
        const double mean = (out[0] + out[1] + out[2]) / 3;
        double squares = 0;
        for (const double v : out) squares += (v - mean) * (v - mean);
        QVERIFY(std::abs(ratio.value - 9.0 / 11) < 1e-15);
        QVERIFY(std::abs(ratio.error - std::sqrt(2.0 / 3 * squares)) < 1e-15);
    }

    void oneSequenceHasNoError() {
        const auto one =
            jackknife(std::vector<double>{3}, 1, [](std::span<const double> t, std::size_t) { return t[0]; });
        QCOMPARE(one.value, 3.0);
        QVERIFY(std::isnan(one.error));
    }
};

NORMSCOPE_TEST(JackknifeTest)
#include "jackknife_test.moc"
