// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/verdict.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <functional>
#include <memory>

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
        const Outcome end = verdict.at_end(199);
        QCOMPARE(end.state, RunState::Finished);
        QCOMPARE(end.text, std::string("last 20 at 1.5 nat, 1.3 below the unigram entropy 2.8"));
    }

    /// A table of pairs of tokens is not what a stack is for.
    void tokenPairsAtMost() {
        const auto text = [](double loss, double pairs) {
            Verdict verdict(kLnV, kUnigram, 0, pairs);
            for (int s = 0; s < 40; ++s) verdict.add(s, loss, 1);
            return verdict.at_end(39).text;
        };
        QCOMPARE(text(2.05, 2.0),
                 std::string("last 20 at 2.05 nat, 0.75 below the unigram entropy 2.8 · token pairs at most: "
                             "their entropy is 2"));
        QVERIFY(text(1.9, 2.0).find("pairs") == std::string::npos);
        QVERIFY(text(2.05, NAN).find("pairs") == std::string::npos);
    }

    /// Whatever its gradients do; the text names them and the numbers.
    void atTheUnigramEntropyOrAboveItStalled_data() {
        QTest::addColumn<double>("loss");
        QTest::addColumn<double>("ratio");
        QTest::addColumn<QString>("gradients");
        QTest::newRow("vanishing") << kUnigram * 1.02 << 9e-3
                                   << "gradients vanishing, layer 1 ÷ last layer: 0.009";
        QTest::newRow("healthy") << kUnigram << 4.0
                                 << "gradients neither vanishing nor exploding, layer 1 ÷ last layer: 4";
        QTest::newRow("exploding") << kUnigram << 9e17
                                   << "gradients exploding, layer 1 ÷ last layer: 9 × 10¹⁷";
        QTest::newRow("not finite") << kUnigram << double(NAN) << "gradient ratio unknown";
        QTest::newRow("just above the border") << kUnigram * 0.9701 << 1.0 << "neither";
        QTest::newRow("untrained, above ln V") << kLnV + 0.5 << 1.0 << "neither";
    }
    void atTheUnigramEntropyOrAboveItStalled() {
        QFETCH(double, loss);
        QFETCH(double, ratio);
        QFETCH(QString, gradients);
        Verdict verdict(kLnV, kUnigram, 0);
        for (int s = 0; s < 200; ++s) QVERIFY(!verdict.add(s, loss, ratio));
        const Outcome end = verdict.at_end(199);
        QCOMPARE(end.state, RunState::Stalled);
        QCOMPARE(end.step, std::int64_t{199});
        const QString text = QString::fromStdString(end.text);
        QVERIFY2(text.contains(gradients) && text.contains("unigram entropy 2.8"), end.text.c_str());
        QVERIFY(!text.contains("falling") && !text.contains("warm-up") && !text.contains('\n'));
    }

    void belowTheBorderItFinished() {
        Verdict verdict(kLnV, kUnigram, 0);
        for (int s = 0; s < 100; ++s) verdict.add(s, kUnigram * 0.9699, 1e-6);
        QCOMPARE(verdict.at_end(99).state, RunState::Finished);
    }

    /// One spike among the last 20 lifts their mean; the median does not rise.
    void aSpikeAtTheEndDecidesNothing() {
        for (double spike : {30.0, 1e4}) {  // means of 3.2, above H₁, and of 502, above ln V + 1
            Verdict verdict(kLnV, kUnigram, 0);
            for (int s = 0; s < 100; ++s) verdict.add(s, s == 95 ? spike : 1.8, 1);
            QCOMPARE(verdict.at_end(99).state, RunState::Finished);
        }
    }

    void aRunThatStillFallsOrWarmsUpIsReportedSo() {
        Verdict verdict(kLnV, kUnigram, 60);
        for (int s = 0; s < 60; ++s) verdict.add(s, 3.6 - 0.01 * s, 1);
        const Outcome end = verdict.at_end(59);
        QCOMPARE(end.state, RunState::Stalled);
        QVERIFY2(QString::fromStdString(end.text).endsWith("still falling · warm-up not over"),
                 end.text.c_str());
        verdict.add(60, 3, 1);
        QVERIFY(!QString::fromStdString(verdict.at_end(60).text).contains("warm-up"));
    }

    void lossesAboveLnVAtTheEndDiverged() {
        Verdict verdict(kLnV, kUnigram, 0);
        for (int s = 0; s < 200; ++s) QVERIFY(!verdict.add(s, s < 100 ? 35000 : 3271, 1));
        const Outcome end = verdict.at_end(199);
        QCOMPARE(end.state, RunState::Diverged);
        QCOMPARE(end.text,
                 std::string("step 199 · last 20 at 3271 nat, above ln V 3.3 + 1 (first loss 3.5e+04)"));
        Verdict below(kLnV, kUnigram, 0);
        for (int s = 0; s < 200; ++s) below.add(s, kLnV + 0.99, 1);
        QCOMPARE(below.at_end(199).state, RunState::Stalled);
    }

    /// 2.39 reached and 2.88 at the end: collapsed, not stalled, with the step at which it was lost.
    void whoLosesWhatItGainedCollapsed() {
        const auto end = [](double best, double last) {
            Verdict verdict(kLnV, kUnigram, 0);
            for (int s = 0; s < 200; ++s) verdict.add(s, s < 100 ? std::max(best, 3.3 - 0.05 * s) : last, 1);
            return verdict.at_end(199);
        };
        const Outcome lost = end(2.39, 2.88);
        QCOMPARE(lost.state, RunState::Collapsed);
        // The mean of 20 is above 2.39 + 0.1025 with the fifth loss of 2.88.
        QCOMPARE(lost.step, std::int64_t{104});
        QCOMPARE(
            lost.text,
            std::string("step 104 · lost 0.49 of the 0.41 nat gained: best 2.39 at step 38, last 20 at 2.88, "
                        "unigram entropy 2.8"));
        QCOMPARE(end(2.0, 2.19).state, RunState::Finished);   // 0.8 gained, less than a quarter lost
        QCOMPARE(end(2.0, 2.21).state, RunState::Collapsed);  // more, though it learned more than the unigram
        QCOMPARE(end(2.7, 2.73).state, RunState::Stalled);    // 0.03 of 0.1 lost: less than 3 % of H₁
        QCOMPARE(end(2.79, 2.9).state, RunState::Stalled);    // 0.01 gained is nothing gained
    }

    /// A lucky window is no peak to fall from, nor is a steady level one under noise.
    void noiseIsNoCollapse() {
        for (int seed = 0; seed < 200; ++seed) {
            Verdict verdict(kLnV, kUnigram, 0);
            std::uint32_t x = 1 + static_cast<std::uint32_t>(seed) * 2654435761u;
            for (int s = 0; s < 400; ++s) {
                double noise = 0;  // of standard deviation 0.35
                for (int i = 0; i < 12; ++i)
                    noise += static_cast<double>(x = x * 1664525u + 1013904223u) / 4294967296.0 - 0.5;
                verdict.add(s, 2.5 + 0.35 * noise, 1);
            }
            QCOMPARE(verdict.at_end(399).state, RunState::Finished);
        }
    }

    void aRecoveryIsNoCollapse() {
        Verdict verdict(kLnV, kUnigram, 0);
        for (int s = 0; s < 300; ++s) verdict.add(s, s >= 100 && s < 160 ? 2.8 : 1.8, 1);
        QCOMPARE(verdict.at_end(299).state, RunState::Finished);
    }

    void shortRunsAreReportedSo() {
        Verdict verdict(kLnV, kUnigram, 0);
        for (int s = 0; s < 19; ++s) verdict.add(s, 3.0, 1);
        const Outcome end = verdict.at_end(18);
        QCOMPARE(end.state, RunState::Finished);
        QCOMPARE(end.text, std::string("too short for a verdict, 19 of 20 steps: last loss 3 nat"));
        verdict.add(19, 3.0, 1);
        QCOMPARE(verdict.at_end(19).state, RunState::Stalled);
    }

    void withoutAUnigramEntropyOnlyDivergenceIsJudged() {
        for (double unigram : {double(NAN), 0.0}) {
            Verdict verdict(kLnV, unigram, 0);
            for (int s = 0; s < 100; ++s) verdict.add(s, s < 50 ? 1 : 2.9, 1);
            QCOMPARE(verdict.at_end(99).state, RunState::Finished);
            for (int s = 100; s < 140; ++s) verdict.add(s, 5, 1);
            QCOMPARE(verdict.at_end(139).state, RunState::Diverged);
        }
    }

    void aLossThatIsNotFiniteDivergesAtOnce() {
        Verdict verdict(kLnV, kUnigram, 0);
        const auto outcome = verdict.add(0, NAN, 1);
        QVERIFY(outcome && outcome->state == RunState::Diverged);
    }

    void divergesAfterFiftyStepsAboveTheCeiling() {
        Verdict verdict(kLnV, kUnigram, 0);
        int at = -1;
        for (int s = 0; s < 300 && at < 0; ++s)
            if (verdict.add(s, s < 100 ? 3.3 : 4.5, 1)) at = s;
        // The (upper) median of 20 crosses 3.3 + 1 with the tenth high loss, at step 109; 50 such steps end
        // at 158.
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

    /// Interrupted at every step, the run ends as the uninterrupted one, to the letter.
    void restoringContinuesTheSameVerdict() {
        const auto diverging = [](int s) { return s < 100 ? 3.3 : 4.5; };
        const auto collapsing = [](int s) { return s < 60 ? 3.2 - 0.015 * s : 2.8 + 0.001 * s; };
        const auto stalling = [](int s) { return 3.0 - 0.0004 * s; };
        const std::vector<std::function<double(int)>> runs{diverging, collapsing, stalling};
        for (const auto& loss : runs) {
            const auto run = [&](int cut) {
                auto verdict = std::make_unique<Verdict>(kLnV, kUnigram, 0);
                for (int s = 0; s < 200; ++s) {
                    if (s == cut) {
                        auto second = std::make_unique<Verdict>(kLnV, kUnigram, 0);
                        second->restore(verdict->state());
                        verdict = std::move(second);
                    }
                    if (const auto outcome = verdict->add(s, loss(s), s % 7 == 0 ? NAN : 1.0 + s, s % 9 == 0))
                        return outcome->text;
                }
                return verdict->at_end(199).text;
            };
            const std::string whole = run(-1);
            for (int cut = 0; cut < 200; ++cut) QCOMPARE(run(cut), whole);
        }
    }

    /// {first loss, best median, last ratio, steps, steps above, losses …}: how checkpoints stored it before.
    void theFirstLayoutIsRead() {
        std::vector<double> old{3.6, 2.4, 1e-6, 100, 0};
        old.insert(old.end(), 20, 2.4);
        Verdict verdict(kLnV, kUnigram, 0);
        verdict.restore(old);
        for (int s = 100; s < 140; ++s) QVERIFY(!verdict.add(s, 2.9, 1e-6));
        const Outcome end = verdict.at_end(139);
        QCOMPARE(end.state, RunState::Collapsed);
        QVERIFY2(end.text.find("best 2.4, last 20 at 2.9") != std::string::npos, end.text.c_str());
        Verdict stalled(kLnV, kUnigram, 0);
        stalled.restore({2.9, INFINITY, 1e-6, 1, 0, 2.9});
        for (int s = 1; s < 40; ++s) stalled.add(s, 2.9, 1e-6);
        QCOMPARE(stalled.at_end(39).state, RunState::Stalled);
    }

    /// As the third, without the count of skipped updates.
    void theSecondLayoutIsRead() {
        Verdict before(kLnV, kUnigram, 0);
        for (int s = 0; s < 100; ++s) before.add(s, 2.9, 1e-6);
        std::vector<double> old = before.state();
        old[0] = -2;
        old.erase(old.begin() + 9);
        Verdict verdict(kLnV, kUnigram, 0);
        verdict.restore(old);
        QCOMPARE(verdict.at_end(99).text, before.at_end(99).text);
        QCOMPARE(verdict.state(), before.state());
    }

    /// Gradients that moved nothing are no news of the run.
    void skippedUpdatesAreCounted() {
        Verdict verdict(kLnV, kUnigram, 0);
        for (int s = 0; s < 30; ++s) verdict.add(s, 2.9, 1, s < 23);
        QCOMPARE(
            verdict.at_end(29).text,
            std::string("learned no more than the unigram: last 20 at 2.9 nat, unigram entropy 2.8 · 23 of "
                        "30 updates skipped: the scaled gradient overflowed"));
        Verdict few(kLnV, kUnigram, 0);
        for (int s = 0; s < 30; ++s) few.add(s, 2.9, 1, s < 3);
        QVERIFY2(few.at_end(29).text.find("3 of 30 updates skipped") != std::string::npos &&
                     few.at_end(29).text.find("gradients neither") != std::string::npos,
                 few.at_end(29).text.c_str());
        Verdict learned(kLnV, kUnigram, 0);
        for (int s = 0; s < 30; ++s) learned.add(s, 1.5, 1, s == 4);
        QVERIFY2(learned.at_end(29).text.ends_with("1 of 30 updates skipped: the scaled gradient overflowed"),
                 learned.at_end(29).text.c_str());
    }

    void anUnknownLayoutIsRejected() {
        for (const std::vector<double>& state : {std::vector<double>{},
                                                 {-4, 1, 2},
                                                 {-3, 1, 2},
                                                 {-2, 1, 2},
                                                 {3.6, 2.4},
                                                 {-2, 3, 3, 3, 0, 1, 1, 1, 0, 4000},
                                                 {-3, 3, 3, 3, 0, 1, 1, 1, 0, 0, 4000},
                                                 std::vector<double>(200, 1.0)})
            QVERIFY_THROWS_EXCEPTION(InputError, Verdict(kLnV, kUnigram, 0).restore(state));
    }

    /// Steps and counts are stored as float64; those of a damaged file may have any value.
    void numbersThatAreNoCountsAreRejected() {
        Verdict trained(kLnV, kUnigram, 0);
        for (int s = 0; s < 30; ++s) trained.add(s, 2.9, 1);
        const std::vector<double> sound = trained.state();
        Verdict(kLnV, kUnigram, 0).restore(sound);
        const std::vector<double> first_layout{3.6, 2.4, 1e-6, 100, 0, 2.4};
        Verdict(kLnV, kUnigram, 0).restore(first_layout);
        for (const double bad :
             {std::nan(""), double(INFINITY), -double(INFINITY), 1e300, -1e300, -2.0, 0.5}) {
            for (const std::size_t place : {5, 6, 7, 8, 9, 10}) {
                std::vector<double> state = sound;
                state[place] = bad;
                QVERIFY_THROWS_EXCEPTION(InputError, Verdict(kLnV, kUnigram, 0).restore(state));
            }
            for (const std::size_t place : {3, 4}) {
                std::vector<double> state = first_layout;
                state[place] = bad;
                QVERIFY_THROWS_EXCEPTION(InputError, Verdict(kLnV, kUnigram, 0).restore(state));
            }
        }
    }
};

NORMSCOPE_TEST(VerdictTest)
#include "verdict_test.moc"
