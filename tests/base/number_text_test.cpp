// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/number_text.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <limits>

using namespace normscope;

class NumberTextTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void powersAreWrittenAsSuch() {
        QCOMPARE(number_text(4.2e-9), std::string("4.2×10⁻⁹"));
        QCOMPARE(number_text(3e9), std::string("3×10⁹"));
        QCOMPARE(number_text(-1e12), std::string("-10¹²"));
        QCOMPARE(number_text(0.7149), std::string("0.71"));
        QCOMPARE(number_text(0.7149, 3), std::string("0.715"));
        QCOMPARE(power_text("2.5e-07"), std::string("2.5×10⁻⁷"));
        QCOMPARE(power_text("12.5"), std::string("12.5"));
        QCOMPARE(superscript(-120), std::string("⁻¹²⁰"));
    }
    void valuesThatAreNotFiniteHaveTheirNames() {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        QCOMPARE(number_text(nan), std::string("NaN"));
        QCOMPARE(number_text(-INFINITY), std::string("-inf"));
        QCOMPARE(plain_number(std::copysign(nan, -1.0)), std::string("nan"));
        QCOMPARE(plain_number(1e-7), std::string("1e-07"));
    }
};

NORMSCOPE_TEST(NumberTextTest)
#include "number_text_test.moc"
