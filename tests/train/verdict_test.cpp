// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/verdict.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {
constexpr double kLnV = 3.3, kUnigram = 2.8;
}

class VerdictTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aLearningRunFinishes() {
        Verdict verdict(kLnV, kUnigram, 0);
        for (int s = 0; s < 200; ++s) QVERIFY(!verdict.add(s, 1.5 + 2 * std::exp(-s / 20.0), 0.4));
        QCOMPARE(verdict.at_end(199).state, RunState::Finished);
    }

    void atTheUnigramEntropyWithoutGradientItStalled() {
        Verdict verdict(kLnV, kUnigram, 0);
        for (int s = 0; s < 200; ++s) QVERIFY(!verdict.add(s, kUnigram * 1.02, 1e-6));
        const Outcome end = verdict.at_end(199);
        QCOMPARE(end.state, RunState::Stalled);
        QCOMPARE(end.step, std::int64_t{199});
        QVERIFY(QString::fromStdString(end.text).contains("unigram entropy"));
    }

    /// Each of the three conditions of stalling is needed.
    void stallingNeedsLossGradientAndWarmupAll() {
        const auto end = [](double loss, double ratio, std::int64_t warmup) {
            Verdict verdict(kLnV, kUnigram, warmup);
            for (int s = 0; s < 100; ++s) verdict.add(s, loss, ratio);
            return verdict.at_end(99).state;
        };
        QCOMPARE(end(kUnigram, 1e-4, 0), RunState::Stalled);
        QCOMPARE(end(kUnigram, 2e-3, 0), RunState::Finished);
        QCOMPARE(end(kUnigram * 1.04, 1e-4, 0), RunState::Finished);
        QCOMPARE(end(kUnigram * 0.96, 1e-4, 0), RunState::Finished);
        QCOMPARE(end(kUnigram, 1e-4, 95), RunState::Finished);
    }

    void divergesAfterFiftyStepsAboveTheCeiling() {
        Verdict verdict(kLnV, kUnigram, 0);
        int at = -1;
        for (int s = 0; s < 300 && at < 0; ++s)
            if (verdict.add(s, s < 100 ? 3.3 : 4.5, 1)) at = s;
        // The (upper) median of 20 crosses 3.3 + 1 with the tenth high loss, at step 109; 50 such steps end at 158.
        QCOMPARE(at, 158);
    }

    void aSpikeIsNotADivergence() {
        Verdict verdict(kLnV, kUnigram, 0);
        for (int s = 0; s < 400; ++s) QVERIFY(!verdict.add(s, s % 100 < 40 && s > 100 ? 9.0 : 2.0, 1));
        QCOMPARE(verdict.at_end(399).state, RunState::Finished);
    }

    void fallingBackTwoNatFromTheBestDiverges() {
        Verdict verdict(5.0, 4.0, 0);
        int at = -1;
        for (int s = 0; s < 300 && at < 0; ++s)
            if (verdict.add(s, s < 100 ? 1.0 : 3.5, 1)) at = s;
        QVERIFY(at > 100);
    }

    void restoringContinuesTheSameVerdict() {
        Verdict whole(kLnV, kUnigram, 0), first(kLnV, kUnigram, 0), second(kLnV, kUnigram, 0);
        const auto loss = [](int s) { return s < 100 ? 3.3 : 4.5; };
        int whole_at = -1, split_at = -1;
        for (int s = 0; s < 200 && whole_at < 0; ++s)
            if (whole.add(s, loss(s), 1)) whole_at = s;
        for (int s = 0; s < 130; ++s) first.add(s, loss(s), 1);
        second.restore(first.state());
        for (int s = 130; s < 200 && split_at < 0; ++s)
            if (second.add(s, loss(s), 1)) split_at = s;
        QCOMPARE(split_at, whole_at);
    }
};

QTEST_GUILESS_MAIN(VerdictTest)
#include "verdict_test.moc"
