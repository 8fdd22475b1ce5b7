// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/step_scrubber.h"

#include "tests/support/test_main.h"
#include "tests/widgets/quiet.h"

#include <QSignalSpy>

using namespace normscope;
using namespace normscope::widgets;

class StepScrubberTest : public QObject {
    Q_OBJECT

    static void measuredAt(StepScrubber& scrubber, std::vector<qint64> steps, qint64 recorded) {
        scrubber.resize(400, 56);
        scrubber.setRange(recorded, 100);
        scrubber.setLanes({{"Pre-LN", 0, recorded, steps, steps}});
    }

  private Q_SLOTS:
    /// A lane may know steps that are not recorded yet (a sample is measured before its step is complete).
    void neighboursAreRecordedSteps() {
        StepScrubber scrubber;
        measuredAt(scrubber, {0, 8, 32, 48}, 40);
        QCOMPARE(scrubber.measuredNeighbour(0, 1), 8);
        QCOMPARE(scrubber.measuredNeighbour(8, 1), 32);
        QCOMPARE(scrubber.measuredNeighbour(32, 1), 40);  // the newest step
        QCOMPARE(scrubber.measuredNeighbour(40, 1), 40);
        QCOMPARE(scrubber.measuredNeighbour(40, -1), 32);
        QCOMPARE(scrubber.measuredNeighbour(0, -1), 0);
    }

    void keysGoToMeasuredStepsAndShiftToSingleOnes() {
        StepScrubber scrubber;
        measuredAt(scrubber, {0, 8, 32}, 40);
        QSignalSpy scrubbed(&scrubber, &StepScrubber::scrubbed);
        const auto press = [&](Qt::Key key, Qt::KeyboardModifiers with = Qt::NoModifier) {
            QTest::keyClick(&scrubber, key, with);
            return scrubber.step();
        };
        QCOMPARE(press(Qt::Key_Right), 8);
        QCOMPARE(press(Qt::Key_Right, Qt::ShiftModifier), 9);
        QCOMPARE(press(Qt::Key_Right), 32);
        QCOMPARE(press(Qt::Key_End), 40);
        QCOMPARE(press(Qt::Key_Right), 40);
        QCOMPARE(press(Qt::Key_Left), 32);
        QCOMPARE(press(Qt::Key_Home), 0);
        QCOMPARE(press(Qt::Key_PageUp), 40);
        QCOMPARE(press(Qt::Key_PageDown), 0);
        QCOMPARE(scrubbed.size(), 8);
    }

    void aClickSnapsToTheNearestMeasuredStep() {
        StepScrubber scrubber;
        measuredAt(scrubber, {0, 8, 32}, 40);
        QTest::mouseClick(&scrubber, Qt::LeftButton, {}, QPoint(int(scrubber.xOf(9)) + 1, 30));
        QCOMPARE(scrubber.step(), 8);
        // Beyond the recorded steps the newest one.
        QTest::mouseClick(&scrubber, Qt::LeftButton, {}, QPoint(int(scrubber.xOf(100)), 30));
        QCOMPARE(scrubber.step(), 40);
    }

    /// Runs that end at the same step: each glyph lies in its run's lane.
    void outcomesOfOneStepDoNotOverlap() {
        StepScrubber scrubber;
        scrubber.resize(400, 56);
        scrubber.setRange(100, 100);
        std::vector<StepLane> lanes;
        for (int i = 0; i < 5; ++i) lanes.push_back({"run", i, 100, {0, 100}, {0, 100}});
        scrubber.setLanes(lanes);
        std::vector<QRectF> drawn;
        for (int i = 0; i < 5; ++i) {
            const QRectF glyph = scrubber.outcomeRect({100, i, RunState::Finished, ""});
            QVERIFY(!glyph.isEmpty());
            QVERIFY(QRectF(scrubber.rect()).contains(glyph));
            for (const QRectF& other : drawn) QVERIFY(!other.intersects(glyph));
            drawn.push_back(glyph);
        }
        QVERIFY(scrubber.outcomeRect({100, 7, RunState::Finished, ""}).isEmpty());  // no such lane
    }

    void measuredByAllSkipsRunsThatHaveNotRecordedTheStep() {
        StepScrubber scrubber;
        scrubber.setRange(40, 100);
        scrubber.setLanes({{"a", 0, 40, {0, 8, 32}, {0, 8, 32}}, {"b", 1, 10, {0, 8}, {0}}});
        QVERIFY(scrubber.measuredByAll(0));
        QVERIFY(!scrubber.measuredByAll(8));  // in part
        QVERIFY(scrubber.measuredByAll(32));  // b ended before
        QVERIFY(!scrubber.measuredByAll(9));
    }
};

NORMSCOPE_WIDGET_TEST(StepScrubberTest)
#include "step_scrubber_test.moc"
