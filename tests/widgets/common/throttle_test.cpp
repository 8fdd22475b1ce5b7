// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/throttle.h"

#include "tests/support/test_main.h"

#include <QtTest>

using normscope::widgets::Throttle;

class ThrottleTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void manyRequestsAreOneUpdate() {
        int updates = 0;
        Throttle throttle(nullptr, 20, [&] { ++updates; });
        QVERIFY(!throttle.isDue());
        for (int i = 0; i < 5; ++i) throttle.request();
        QVERIFY(throttle.isDue() && updates == 0);
        QTRY_COMPARE(updates, 1);
        QVERIFY(!throttle.isDue());
        throttle.request();
        QTRY_COMPARE(updates, 2);
    }

    /// A later request does not put the update off, as it would where the interval began again.
    void requestsWithoutEndAreUpdatedAllTheSame() {
        int updates = 0;
        Throttle throttle(nullptr, 20, [&] { ++updates; });
        QVERIFY(QTest::qWaitFor([&] {
            throttle.request();
            return updates >= 3;
        }));
    }

    void whatIsCancelledIsNotUpdated() {
        int updates = 0;
        Throttle cancelled(nullptr, 0, [&] { ++updates; });
        cancelled.request();
        cancelled.cancel();
        QVERIFY(!cancelled.isDue());
        int later = 0;
        Throttle after(nullptr, 0, [&] { ++later; });  // due after the cancelled one would have been
        after.request();
        QTRY_COMPARE(later, 1);
        QCOMPARE(updates, 0);
    }
};

NORMSCOPE_TEST(ThrottleTest)
#include "throttle_test.moc"
