// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/geometry/ticks.h"

#include "tests/support/test_main.h"
#include "widgets/figures/number_text.h"

#include <QtTest>
#include <cmath>
#include <random>
#include <set>

using namespace normscope::widgets;

namespace {
QStringList labels(double low, double high, Scale scale, bool integers = false, int most = 8) {
    QStringList out;
    for (const auto& t : niceTicks(low, high, scale, integers, most)) {
        if (!t.minor) out.append(t.label);
    }
    return out;
}
}  // namespace

class TicksTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void known_data() {
        QTest::addColumn<double>("low");
        QTest::addColumn<double>("high");
        QTest::addColumn<bool>("log");
        QTest::addColumn<bool>("integers");
        QTest::addColumn<QString>("expected");
        QTest::newRow("unit") << 0.0 << 1.0 << false << false << "0 0.2 0.4 0.6 0.8 1.0";
        QTest::newRow("loss") << 1.3 << 5.7 << false << false << "2 3 4 5";
        QTest::newRow("negative") << -1.0 << 1.0 << false << false << "-1.0 -0.5 0 0.5 1.0";
        QTest::newRow("steps") << -10.0 << 210.0 << false << true << "0 50 100 150 200";
        QTest::newRow("few layers") << 0.9 << 2.1 << false << true << "1 2";
        QTest::newRow("large") << 0.0 << 3e6 << false << false << "0 10⁶ 2×10⁶ 3×10⁶";
        QTest::newRow("small") << 0.0 << 4e-5 << false << false << "0 10⁻⁵ 2×10⁻⁵ 3×10⁻⁵ 4×10⁻⁵";
        QTest::newRow("offset") << 1e6 << 1e6 + 4 << false << false
                                << "1.000000×10⁶ 1.000001×10⁶ 1.000002×10⁶ 1.000003×10⁶ 1.000004×10⁶";
        QTest::newRow("quarters") << -8.1 << 8.2 << false << false << "-7.5 -5.0 -2.5 0 2.5 5.0 7.5";
        QTest::newRow("gradient") << 1e-8 << 2.0 << true << false << "10⁻⁸ 10⁻⁶ 10⁻⁴ 10⁻² 1";
        QTest::newRow("four decades") << 0.01 << 10.0 << true << false << "0.01 0.1 1 10";
        QTest::newRow("two decades") << 0.05 << 4.0 << true << false << "0.1 0.3 1 3";
        QTest::newRow("one decade") << 1.0 << 12.0 << true << false << "1 2 5 10";
        QTest::newRow("within a decade") << 1.2 << 1.9 << true << false << "1.2 1.4 1.6 1.8";
        QTest::newRow("log layers") << 1.0 << 30.0 << true << true << "1 3 10 30";
    }
    void known() {
        QFETCH(double, low);
        QFETCH(double, high);
        QFETCH(bool, log);
        QFETCH(bool, integers);
        QFETCH(QString, expected);
        QCOMPARE(labels(low, high, log ? Scale::Log : Scale::Linear, integers).join(u' '), expected);
    }

    void stepsArePowersOfTwo() {
        const auto steps = [](double low, double high, int most = 8) {
            QStringList texts;
            for (const Tick& tick : niceTicks(low, high, Scale::Log1p, true, most))
                if (!tick.minor) texts << tick.label;
            return texts.join(u' ');
        };
        QCOMPARE(steps(0, 40), QString("0 1 2 4 8 16 32"));
        QCOMPARE(steps(-0.3, 230), QString("0 1 4 16 64"));
        QCOMPARE(steps(0, 1e5), QString("0 1 8 64 512 4096 32768"));
        QCOMPARE(steps(100, 110), QString("100 102 104 106 108 110"));
        int minor = 0;
        for (const Tick& tick : niceTicks(0, 200, Scale::Log1p, true)) minor += tick.minor;
        QCOMPARE(minor, 4);  // 2, 8, 32, 128
    }

    /// For any range: 4 to 8 labels inside it, ascending and distinct.
    void anyRange_data() {
        QTest::addColumn<unsigned>("seed");
        for (unsigned seed = 0; seed < 200; ++seed) QTest::addRow("seed %u", seed) << seed;
    }
    void anyRange() {
        QFETCH(unsigned, seed);
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> exponent(-30, 30), mantissa(0.1, 10);
        const bool log = seed % 2;
        const double a = mantissa(random) * std::pow(10.0, exponent(random));
        const double width = seed % 3 == 0 ? 1e-4 : std::pow(10.0, exponent(random) / 6);
        const double low = log ? a : a - a * width, high = log ? a * (1 + width) : a + a * width;
        std::vector<Tick> major;
        for (const auto& t : niceTicks(low, high, log ? Scale::Log : Scale::Linear)) {
            QVERIFY(t.value >= low - 1e-9 * (high - low) && t.value <= high + 1e-9 * (high - low));
            if (!t.minor)
                major.push_back(t);
            else
                QVERIFY(t.label.isEmpty());
        }
        QVERIFY2(major.size() >= 4 && major.size() <= 8,
                 qPrintable(QString("%1 … %2: %3").arg(low).arg(high).arg(major.size())));
        std::set<QString> texts;
        for (std::size_t i = 0; i < major.size(); ++i) {
            if (i > 0) QVERIFY(major[i].value > major[i - 1].value);
            texts.insert(major[i].label);
        }
        QCOMPARE(texts.size(), major.size());
    }

    void aSmallStripGetsFewTicks() {
        QVERIFY(labels(1e-7, 10, Scale::Log, false, 3).size() <= 3);
        QVERIFY(labels(1e-7, 10, Scale::Log, false, 2).size() >= 1);
        QVERIFY(labels(0, 97, Scale::Linear, false, 2).size() <= 2);
    }

    void minorTicksFillDecades() {
        int minor = 0;
        for (const auto& t : niceTicks(1, 1000, Scale::Log)) minor += t.minor;
        QCOMPARE(minor, 3 * 8);
    }

    void numbers() {
        QCOMPARE(numberText(1.23456e-7), QString("1.235×10⁻⁷"));
        QCOMPARE(powerText("1.235e-7"), QString("1.235×10⁻⁷"));
        QCOMPARE(powerText("1e12"), QString("10¹²"));
        QCOMPARE(powerText("-1e-4"), QString("-10⁻⁴"));
        QCOMPARE(powerText("0.25"), QString("0.25"));
        QCOMPARE(numberText(0.5), QString("0.5"));
        QCOMPARE(numberText(12), QString("12"));
        QCOMPARE(numberText(kNaN), QString("NaN"));
        QCOMPARE(numberText(-std::numeric_limits<double>::infinity()), QString("-inf"));
        for (const double v : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308})
            QCOMPARE(exactText(v).toDouble(), v);
    }
};

NORMSCOPE_TEST(TicksTest)
#include "ticks_test.moc"
