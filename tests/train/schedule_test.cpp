// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/schedule.h"

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

QTEST_GUILESS_MAIN(ScheduleTest)
#include "schedule_test.moc"
