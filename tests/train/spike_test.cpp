// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/spike.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <limits>

using namespace normscope;

namespace {

/// A calm run: loss falls from 3 to 2, both numbers swing by a tenth.
double loss_at(int step) {
    return 2 + std::exp(-step / 20.0) + 0.1 * std::sin(2.3 * step);
}
double norm_at(int step) {
    return 1 + 0.1 * std::sin(1.7 * step);
}

}  // namespace

class SpikeTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aCalmRunHasNone() {
        SpikeDetector detector;
        for (int step = 0; step < 500; ++step) QVERIFY(!detector.add(loss_at(step), norm_at(step)));
    }

    void aGradientSpikeIsReportedOnceWithItsNumbers() {
        SpikeDetector detector;
        for (int step = 0; step < 100; ++step) QVERIFY(!detector.add(loss_at(step), 1));
        QVERIFY(!detector.add(2, 3.9));
        const auto report = detector.add(2, 6);
        QVERIFY(report && report->find("gradient norm 6, 6 times the median 1 of the last 50 steps") == 0);
        QVERIFY(!detector.add(2, 7));  // the same spike
        QVERIFY(!detector.add(2, 1));
        QVERIFY(detector.add(2, 6));
    }

    void aLossSpikeIsReportedWithItsNumbers() {
        SpikeDetector detector;
        for (int step = 0; step < 100; ++step) detector.add(2, 1);
        QVERIFY(!detector.add(2.49, 1));
        const auto report = detector.add(2.75, 1);
        QVERIFY(report && report->find("loss 2.75 nat, 0.75 above the median 2 of the last 50 steps") == 0);
    }

    void aNoisyLossNeedsMore() {
        SpikeDetector detector;
        for (int step = 0; step < 100; ++step) detector.add(2 + (step % 2 ? 0.4 : -0.4), 1);
        QVERIFY(!detector.add(3, 1));  // a nat above, but the steps before swing by 0.4
        QVERIFY(detector.add(6, 1));
    }

    void theFirstStepsAreNone() {
        SpikeDetector detector;
        for (std::size_t step = 0; step < SpikeDetector::kMin; ++step)
            QVERIFY(!detector.add(2, step % 2 ? 100 : 1));
    }

    void whatIsNoNumberIsSkipped() {
        SpikeDetector detector;
        for (int step = 0; step < 60; ++step) detector.add(2, 1);
        const auto before = detector.state();
        QVERIFY(!detector.add(2, std::numeric_limits<double>::infinity()));
        QVERIFY(!detector.add(std::nan(""), 1));
        QCOMPARE(detector.state(), before);
    }

    void aStateOfAnotherKindIsRejected() {
        for (const std::vector<double>& state :
             {std::vector<double>{}, {0, 1}, std::vector<double>(103, 1.0), {0, std::nan(""), 1}})
            QVERIFY_THROWS_EXCEPTION(InputError, SpikeDetector().restore(state));
    }

    void resumesFromItsState() {
        for (const int cut : {0, 10, 49, 51, 130}) {
            SpikeDetector whole, first;
            for (int step = 0; step < cut; ++step) {
                whole.add(loss_at(step), norm_at(step));
                first.add(loss_at(step), norm_at(step));
            }
            SpikeDetector second;
            second.restore(first.state());
            for (int step = cut; step < cut + 60; ++step) {
                const double norm = step % 17 == 0 ? 9 : norm_at(step);
                QCOMPARE(second.add(loss_at(step), norm), whole.add(loss_at(step), norm));
                QCOMPARE(second.state(), whole.state());
            }
        }
    }
};

NORMSCOPE_TEST(SpikeTest)
#include "spike_test.moc"
