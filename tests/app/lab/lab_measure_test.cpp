// SPDX-License-Identifier: GPL-3.0-or-later
// Measuring steps afterwards that were not sampled: by replay, next to a training, cancelled.
#include "lab_bench.h"
#include "tests/support/test_main.h"

#include <QSignalSpy>
#include <algorithm>
#include <cstring>

using namespace normscope;
using namespace normscope::app;
using Bench = normscope::test::LabBench;

namespace {

/// Thirty steps with a cadence for every probe of the tests.
Recipe sampledEvery(Recipe recipe, int every) {
    recipe.train.steps = 30;
    complete_and_validate(recipe);
    recipe.probes = {{"growth", every}, {"gradients", every}, {"jacobian", every}};
    return recipe;
}

bool sameBits(const ProbeResult& a, const ProbeResult& b) {
    return std::equal(a.arrays.begin(), a.arrays.end(), b.arrays.begin(), b.arrays.end(),
                      [](const NamedArray& x, const NamedArray& y) {
                          return x.name == y.name && x.shape == y.shape && x.data.size() == y.data.size() &&
                                 std::memcmp(x.data.data(), y.data.data(), x.data.size() * sizeof(double)) ==
                                     0;
                      });
}

/// Starts to train the first run alone, sampled at its first step.
void trainSeldom(Bench& b, std::int64_t steps) {
    Recipe recipe = sampledEvery(b.lab->comparison().runs[0].recipe, 1000);
    recipe.train.steps = steps;
    b.lab->runs().remove(1);
    b.lab->runs().useRecipe(recipe, "seldom");
    b.lab->training().play();
}

/// Ends a training ten steps after a knob was moved; the step of the move, −1 without one.
std::int64_t trainedPastTheMove(Bench& b) {
    const auto rows = b.run(0).steps.rows();
    const bool moved = QTest::qWaitFor([&] { return b.run(0).steps.rows() > rows + 10; }, 60000);
    b.lab->training().stop();
    if (!moved || !QTest::qWaitFor([&] { return b.ended(); }, 60000)) return -1;
    const auto& events = b.run(0).events;
    const auto knob =
        std::find_if(events.begin(), events.end(), [](const RunEvent& e) { return e.kind == "knob"; });
    return knob == events.end() ? -1 : knob->step;
}

}  // namespace

class LabMeasureTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// What was not sampled is measured by replay, with the numbers of a run that samples every step, and is
    /// saved with the others.
    void aStepThatWasNotSampledIsMeasuredAfterwards() {
        Bench b;
        const Recipe seldom = sampledEvery(b.lab->comparison().runs[0].recipe, 1000),
                     each = sampledEvery(seldom, 1);
        b.lab->runs().remove(1);
        b.lab->runs().useRecipe(seldom, "seldom");
        QVERIFY(!b.lab->measurement().obstacle().isEmpty());
        b.lab->training().play();
        QTRY_VERIFY(b.ended() && b.run(0).steps.rows() == 30);
        b.lab->view().setStep(17);
        QVERIFY(b.figure("growth").subtitle.startsWith("at step 29"));  // 12 steps later, 0 is 17 earlier
        QCOMPARE(b.figure("growth").unmeasured, std::optional<std::int64_t>(17));
        QCOMPARE(b.lab->measurement().obstacle(), QString());
        b.lab->measurement().measureHere();
        QVERIFY(b.lab->measurement().status().contains("at step 17"));
        QTRY_VERIFY(!b.lab->measurement().running());
        ThreadPool pool(1);
        Experiment alone(each, "a", "alone");
        RunData wanted = alone.header();
        while (!alone.ended()) append(wanted, alone.advance(pool));
        for (const char* probe : {"growth", "gradients", "jacobian"}) {
            const auto& samples = b.run(0).probes.at(probe);
            QCOMPARE(samples.size(), 3u);
            QCOMPARE(samples[1].step, 17);
            QVERIFY2(sameBits(samples[1], *wanted.sample_of(probe, 17)), probe);
        }
        QVERIFY(b.figure("growth").subtitle.startsWith("at step 17"));
        QVERIFY(!b.figure("growth").unmeasured);
        QCOMPARE(b.lab->measurement().obstacle(), "Every panel shown is measured at this step");
        QCOMPARE(b.problems, QStringList());

        const QString path = b.folder.filePath("measured.h5");
        QSignalSpy saved(&b.lab->session(), &LabSession::saved),
            opened(&b.lab->session(), &LabSession::opened);
        b.lab->session().save(path, "{}");
        QTRY_COMPARE(saved.count(), 1);
        b.lab->session().open(path);
        QTRY_COMPARE(opened.count(), 1);
        QVERIFY(sameBits(*b.run(0).sample_of("jacobian", 17), *wanted.sample_of("jacobian", 17)));
        // Now its checkpoints lie in the file.
        b.lab->view().setStep(21);
        b.lab->measurement().measureHere();
        QTRY_VERIFY(!b.lab->measurement().running());
        QVERIFY(sameBits(*b.run(0).sample_of("growth", 21), *wanted.sample_of("growth", 21)));
    }

    /// Around a step: every step from 20 before it to 20 after it, in the bits of a run that samples each.
    void whatHappenedAroundAStep() {
        Bench b;
        const Recipe seldom = sampledEvery(b.lab->comparison().runs[0].recipe, 1000),
                     each = sampledEvery(seldom, 1);
        b.lab->runs().remove(1);
        b.lab->runs().useRecipe(seldom, "seldom");
        b.lab->training().play();
        QTRY_VERIFY(b.ended() && b.run(0).steps.rows() == 30);
        b.lab->view().setStep(24);
        b.lab->measurement().measureAround();
        QVERIFY2(b.lab->measurement().status().contains("at steps 4 to 29"),
                 qPrintable(b.lab->measurement().status()));
        QTRY_VERIFY(!b.lab->measurement().running());
        ThreadPool pool(1);
        Experiment alone(each, "a", "alone");
        RunData wanted = alone.header();
        while (!alone.ended()) append(wanted, alone.advance(pool));
        for (const ProbePlan& probe : seldom.probes)
            for (std::int64_t step = 0; step < 30; ++step) {
                const ProbeResult* sample = b.run(0).sample_of(probe.id, step);
                QCOMPARE(sample != nullptr, step == 0 || step >= 4);
                if (sample) QVERIFY(sameBits(*sample, *wanted.sample_of(probe.id, step)));
            }
        QCOMPARE(b.problems, QStringList());
        b.lab->measurement().measureAround();
        QVERIFY(!b.lab->measurement().running());
        QCOMPARE(b.problems, QStringList{"Every step around this one is measured"});
    }

    /// A move of a knob ends what can be replayed: the steps on this side of it are measured.
    void aMovedKnobBoundsWhatIsMeasuredAroundAStep() {
        Bench b;
        trainSeldom(b, 100000);
        QTRY_VERIFY(b.run(0).steps.rows() > 12);
        b.lab->knobs().commitKey("stack.residual_step", 0.5);
        const std::int64_t moved = trainedPastTheMove(b);
        QVERIFY(moved > 0);
        b.lab->view().setStep(moved - 3);
        b.lab->measurement().measureAround();
        QTRY_VERIFY(!b.lab->measurement().running());
        QCOMPARE(b.problems, QStringList());
        QVERIFY(b.run(0).sample_of("growth", moved - 1));
        QVERIFY(b.run(0).sample_of("growth", std::max<std::int64_t>(1, moved - 23)));
        QVERIFY(!b.run(0).sample_of("growth", moved + 1));
    }

    void measuringLeavesARunningTrainingAlone() {
        Bench b;
        std::vector<Recipe> recipes;
        for (int i : {0, 1}) {
            recipes.push_back(sampledEvery(b.lab->comparison().runs[std::size_t(i)].recipe, 1000));
            recipes.back().train.steps = 400;
            b.lab->runs().select(i);
            b.lab->runs().useRecipe(recipes.back(), "seldom");
        }
        b.lab->training().play();
        QTRY_VERIFY(b.run(0).steps.rows() > 12 && b.run(1).steps.rows() > 12);
        b.lab->view().setStep(9);
        b.lab->measurement().measureHere();
        QTRY_VERIFY(!b.lab->measurement().running());
        QVERIFY(b.run(0).sample_of("gradients", 9) && b.run(1).sample_of("gradients", 9));
        QTRY_VERIFY_WITH_TIMEOUT(b.ended(), 30000);
        for (int i : {0, 1}) {
            ThreadPool pool(1);
            Experiment alone(recipes[std::size_t(i)], "x", "alone");
            RunData wanted = alone.header();
            while (!alone.ended()) append(wanted, alone.advance(pool));
            QCOMPARE(*b.run(i).steps.find("loss"), *wanted.steps.find("loss"));
        }
        QCOMPARE(b.problems, QStringList());
    }

    /// A replay starts from where a knob was moved; it does not cross the move.
    void aMovedKnobIsACheckpoint() {
        Bench b;
        trainSeldom(b, 100000);
        QTRY_VERIFY(b.run(0).steps.rows() > 3);
        b.lab->training().pause();  // a checkpoint of this step that does not know the move
        QTRY_VERIFY(!b.lab->comparison().runs[0].checkpoints.empty());
        b.lab->knobs().commitKey("stack.residual_step", 0.5);
        b.lab->training().play();
        const std::int64_t moved = trainedPastTheMove(b);
        QVERIFY(moved > 0);
        const auto& known = b.lab->comparison().runs[0].checkpoints;
        QVERIFY(std::any_of(known.begin(), known.end(), [&](const auto& c) { return c.step == moved; }));
        b.lab->view().setStep(moved + 1);
        b.lab->measurement().measureHere();
        QTRY_VERIFY(!b.lab->measurement().running());
        QVERIFY(b.run(0).sample_of("growth", moved + 1));
        QCOMPARE(b.problems, QStringList());
    }

    void measuringCanBeEnded() {
        Bench b;
        Recipe recipe = sampledEvery(b.lab->comparison().runs[0].recipe, 100000);
        recipe.train.steps = 3000;
        b.lab->runs().remove(1);
        b.lab->runs().useRecipe(recipe, "seldom");
        b.lab->training().play();
        QTRY_VERIFY_WITH_TIMEOUT(b.ended() && b.run(0).steps.rows() == 3000, 60000);
        b.lab->view().setStep(2990);
        b.lab->measurement().measureHere();
        QVERIFY(b.lab->measurement().running());
        b.lab->measurement().measureHere();
        QVERIFY(!b.lab->measurement().running());
        QTest::qWait(300);  // in which no sample may arrive
        QVERIFY(!b.run(0).sample_of("growth", 2990));
        QCOMPARE(b.problems, QStringList());
    }
};

NORMSCOPE_TEST(LabMeasureTest)
#include "lab_measure_test.moc"
