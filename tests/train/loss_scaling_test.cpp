// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/loss_scaling.h"

#include <QtTest>

using namespace normscope;

class LossScalingTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void doublesAfterTwoThousandGoodSteps() {
        LossScaler scaler;
        QCOMPARE(scaler.scale(), 65536.0);
        for (int i = 0; i < 1999; ++i) scaler.update(false);
        QCOMPARE(scaler.scale(), 65536.0);
        scaler.update(false);
        QCOMPARE(scaler.scale(), 131072.0);
        QCOMPARE(scaler.state().good_steps, 0);
    }

    void anOverflowHalvesAndStartsTheCountAgain() {
        LossScaler scaler;
        for (int i = 0; i < 1999; ++i) scaler.update(false);
        scaler.update(true);
        QCOMPARE(scaler.scale(), 32768.0);
        for (int i = 0; i < 1999; ++i) scaler.update(false);
        QCOMPARE(scaler.scale(), 32768.0);
        scaler.update(false);
        QCOMPARE(scaler.scale(), 65536.0);
    }

    void staysWithinFloat32() {
        LossScaler scaler;
        scaler.restore({0x1p127, LossScaler::kInterval - 1});
        scaler.update(false);
        QCOMPARE(scaler.scale(), 0x1p127);
    }

    void isExhaustedBelowTwoToTheMinusFourteen() {
        LossScaler scaler;
        for (int i = 0; i < 30; ++i) scaler.update(true);
        QCOMPARE(scaler.scale(), 0x1p-14);
        QVERIFY(!scaler.exhausted());
        scaler.update(true);
        QVERIFY(scaler.exhausted());
    }
};

QTEST_GUILESS_MAIN(LossScalingTest)
#include "loss_scaling_test.moc"
