// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/cpu/host/available_cores.h"

#include "core/backend/cpu/host/default_threads.h"
#include "core/backend/cpu/host/thread_pool.h"
#include "tests/support/test_main.h"

#include <sched.h>

#include <QtTest>

using namespace normscope;

class AvailableCoresTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Before the number is asked for the first time: a process that taskset gave one core.
    void initTestCase() {
        cpu_set_t mask, one;
        QCOMPARE(sched_getaffinity(0, sizeof mask, &mask), 0);
        CPU_ZERO(&one);
        for (int core = 0; CPU_COUNT(&one) == 0; ++core)
            if (CPU_ISSET(core, &mask)) CPU_SET(core, &one);
        QCOMPARE(sched_setaffinity(0, sizeof one, &one), 0);
    }

    void theMaskIsObserved() {
        QCOMPARE(available_cores(), 1);
        QCOMPARE(default_threads(), 1);
        QCOMPARE(ThreadPool(0).threads(), 1);
        set_default_threads(3);  // what --threads asks for is given
        QCOMPARE(ThreadPool(0).threads(), 3);
        set_default_threads(0);
        QCOMPARE(default_threads(), 1);
    }

    void quotasAreRoundedUp_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("cores");
        QTest::newRow("two") << "200000 100000" << 2;
        QTest::newRow("one and a half") << "150000 100000" << 2;
        QTest::newRow("a tenth") << "10000 100000" << 1;
        QTest::newRow("none") << "max 100000" << 0;
        QTest::newRow("empty") << "" << 0;
        QTest::newRow("no period") << "200000" << 0;
        QTest::newRow("zero period") << "200000 0" << 0;
        QTest::newRow("negative") << "-1 100000" << 0;
        QTest::newRow("words") << "two cores" << 0;
    }
    void quotasAreRoundedUp() {
        QFETCH(QString, text);
        QFETCH(int, cores);
        QCOMPARE(cores_of_quota(text.toStdString()), cores);
    }
};

NORMSCOPE_TEST(AvailableCoresTest)
#include "available_cores_test.moc"
