// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/ui/watchdog.h"

#include "tests/bench/ui/bench_report.h"
#include "tests/support/test_main.h"

#include <QTest>
#include <algorithm>
#include <thread>

using namespace normscope::app::bench;
using namespace std::chrono_literals;

class WatchdogTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aStallIsTheWaitOfEveryMillisecondInIt() {
        Watchdog watchdog;
        QTest::qWait(50);
        std::this_thread::sleep_for(60ms);
        QTest::qWait(50);
        const std::vector<double> waits = watchdog.stop();
        QVERIFY(percentile(waits, 1) >= 55);
        // 60, 59, … ms: what was due later in the stall has waited for less of it. A loaded machine skips
        // some.
        QVERIFY(std::count_if(waits.begin(), waits.end(), [](double ms) { return ms > 5; }) >= 5);
        const auto in_the_middle = [](double ms) { return ms > 10 && ms < 50; };
        QVERIFY(std::any_of(waits.begin(), waits.end(), in_the_middle));
    }
    void whatWasNotAnsweredCountsToo() {
        Watchdog watchdog;
        std::this_thread::sleep_for(40ms);
        QVERIFY(percentile(watchdog.stop(), 1) >= 30);
    }
    void percentiles() {
        QVERIFY(std::isnan(percentile({}, 0.5)));
        QCOMPARE(percentile({3, 1, 2}, 0.5), 2.0);
        QCOMPARE(percentile({3, 1, 2}, 1), 3.0);
        std::vector<double> hundred;
        for (int i = 1; i <= 100; ++i) hundred.push_back(101 - i);
        QCOMPARE(percentile(hundred, 0.95), 96.0);  // not below the value of rank ⌈0.95·(n − 1)⌉
    }
    void aStallThatDoesNotShowIsAWrongMeasurement() {
        QVERIFY(stallSeen({50, 51, 45}));
        QVERIFY(!stallSeen({50, 51, 12}));  // by the moves
        QVERIFY(!stallSeen({50, 20, 45}));  // by the watchdog
    }
};

NORMSCOPE_TEST(WatchdogTest)
#include "watchdog_test.moc"
