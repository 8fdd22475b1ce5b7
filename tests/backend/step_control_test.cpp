// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/backend/step_control.h"

#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;

class StepControlTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void doublesAfterTwoThousandGoodSteps() {
        LossScale scale;
        QCOMPARE(scale.scale, 65536.0);
        for (int i = 0; i < 1999; ++i) scale.update(false);
        QCOMPARE(scale.scale, 65536.0);
        scale.update(false);
        QCOMPARE(scale.scale, 131072.0);
        QCOMPARE(scale.good_steps, 0);
    }

    void anOverflowHalvesAndStartsTheCountAgain() {
        LossScale scale;
        for (int i = 0; i < 1999; ++i) scale.update(false);
        scale.update(true);
        QCOMPARE(scale.scale, 32768.0);
        for (int i = 0; i < 1999; ++i) scale.update(false);
        QCOMPARE(scale.scale, 32768.0);
        scale.update(false);
        QCOMPARE(scale.scale, 65536.0);
    }

    void staysWithinFloat32() {
        LossScale scale;
        scale = {0x1p127, LossScale::kInterval - 1};
        scale.update(false);
        QCOMPARE(scale.scale, 0x1p127);
    }

    void isExhaustedBelowTwoToTheMinusFourteen() {
        LossScale scale;
        for (int i = 0; i < 30; ++i) scale.update(true);
        QCOMPARE(scale.scale, 0x1p-14);
        QVERIFY(!scale.exhausted());
        scale.update(true);
        QVERIFY(scale.exhausted());
    }
};

NORMSCOPE_TEST(StepControlTest)
#include "step_control_test.moc"
