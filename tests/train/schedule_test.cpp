// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/schedule.h"

#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

class ScheduleTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void cosineEndsAtTheMinimum() {
        ScheduleSpec s;
        QCOMPARE(learning_rate(s, 3e-3, 0, 200), 3e-3);
        QVERIFY(std::abs(learning_rate(s, 3e-3, 199, 200) - 3e-4) < 1e-18);
        QVERIFY(std::abs(learning_rate(s, 3e-3, 100, 201) - 1.65e-3) < 1e-15);  // half way
        QVERIFY(std::abs(learning_rate(s, 3e-3, 5000, 200) - 3e-4) < 1e-18);    // never wraps back up
    }
    void warmUpAsInNanoGpt() {
        ScheduleSpec s;
        s.warmup = 10;
        QCOMPARE(learning_rate(s, 1.0, 0, 100), 1.0 / 11);
        QCOMPARE(learning_rate(s, 1.0, 9, 100), 10.0 / 11);
        QCOMPARE(learning_rate(s, 1.0, 10, 100), 1.0);
    }
    /// The schedule of [G]'s training script: 0 at the start, the peak after the warm-up, a tenth of it at
    /// the end.
    void warmUpFromZero() {
        ScheduleSpec s;
        s.warmup = 1000;
        s.warmup_from_zero = true;
        QCOMPARE(learning_rate(s, 1e-3, 0, 10000), 0.0);
        QCOMPARE(learning_rate(s, 1e-3, 500, 10000), 5e-4);
        QCOMPARE(learning_rate(s, 1e-3, 1000, 10000), 1e-3);
        QVERIFY(std::abs(learning_rate(s, 1e-3, 9999, 10000) - 1e-4) < 1e-18);
        QVERIFY(std::abs(learning_rate(s, 1e-3, 10000, 10000) - 1e-4) <
                1e-18);  // its code wraps round to 0 here
        // 0.1 + 0.9·(1 + cos(π·(s − warmup)/(T − warmup)))/2, T one step later than ours.
        const double theirs = 1e-3 * (0.1 + 0.45 * (1 + std::cos(std::acos(-1.0) * 4000 / 9000)));
        QVERIFY(std::abs(learning_rate(s, 1e-3, 5000, 10000) - theirs) < 1e-7);
    }
    void linearAndConstant() {
        ScheduleSpec s;
        s.lr = LearningRateSchedule::Linear;
        QVERIFY(std::abs(learning_rate(s, 1.0, 50, 101) - 0.55) < 1e-15);
        s.lr = LearningRateSchedule::Constant;
        QCOMPARE(learning_rate(s, 1.0, 99, 100), 1.0);
    }
    void temperatureWarmsUp() {
        ScheduleSpec s;
        s.temperature_from = 4;
        s.temperature_warmup = 10;
        QCOMPARE(temperature(s, 1, 0), 4.0);
        QCOMPARE(temperature(s, 1, 5), 2.5);
        QCOMPARE(temperature(s, 1, 10), 1.0);
    }
};

NORMSCOPE_TEST(ScheduleTest)
#include "schedule_test.moc"
