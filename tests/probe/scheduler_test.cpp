// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/scheduler.h"

#include <QtTest>

using namespace normscope;

class SchedulerTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyNIsObeyedExactly() {
        ProbeScheduler scheduler;
        for (int step = 0; step < 100; ++step) {
            QCOMPARE(scheduler.due("growth", 7, step, 99), step % 7 == 0 || step == 99);
            scheduler.spent_training(0.001);
            scheduler.spent_probe("growth", 10, 7);  // however dear
        }
    }

    void autoKeepsTheBudget() {
        ProbeScheduler scheduler(0.05);
        double probes = 0, training = 0;
        int taken = 0;
        for (int step = 0; step < 1000; ++step) {
            for (const char* id : {"cheap", "dear"})
                if (scheduler.due(id, 0, step, 999)) {
                    const double cost = id[0] == 'c' ? 0.0002 : 0.03;
                    scheduler.spent_probe(id, cost, 0);
                    if (step > 0 && step < 999) probes += cost, ++taken;
                }
            scheduler.spent_training(0.01);
            training += 0.01;
        }
        QVERIFY2(probes <= 0.05 * training, qPrintable(QString::number(probes / training)));
        QVERIFY(probes >= 0.03 * training);  // and uses it
        QVERIFY(taken > 100);
    }

    void aColdStartDoesNotKeepACheapProbeWaiting() {
        ProbeScheduler scheduler(0.05);
        scheduler.spent_probe("growth", 0.06, 0);
        scheduler.spent_probe("spectra", 3, 0);
        scheduler.spent_training(0.02);
        QVERIFY(scheduler.due("growth", 0, 1, 199));
        QVERIFY(!scheduler.due("spectra", 0, 1, 199));
        scheduler.spent_probe("growth", 0.0002, 0);
        scheduler.spent_training(0.02);
        QVERIFY(scheduler.due("growth", 0, 2, 199));
    }

    void firstAndLastStepAreAlwaysDue() {
        ProbeScheduler scheduler(0);
        QVERIFY(scheduler.due("theta", 0, 0, 50));
        scheduler.spent_probe("theta", 1, 0);
        scheduler.spent_training(1);
        QVERIFY(!scheduler.due("theta", 0, 25, 50));
        QVERIFY(scheduler.due("theta", 0, 50, 50));
    }
};

QTEST_GUILESS_MAIN(SchedulerTest)
#include "scheduler_test.moc"
