// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs/presentation_headline.h"

#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::app;

namespace {

LabRun withRows(const char* id, int rows, RunState state) {
    LabRun run = makeRun(id, Recipe());
    for (int i = 0; i < rows; ++i) run.data->steps.append({i, {{"loss", 3.0}}});
    run.data->outcome.state = state;
    return run;
}

}  // namespace

class PresentationHeadlineTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// One run in training is a step ahead of the other for a moment: both are compared, and no number is of
    /// another step than its neighbour's.
    void runsInTrainingAreComparedAtTheStepOfBoth() {
        const qint64 newest = std::numeric_limits<qint64>::max();
        const LabRun ahead = withRows("a", 231, RunState::Running),
                     slower = withRows("b", 229, RunState::Running),
                     paused = withRows("c", 230, RunState::Paused),
                     ended = withRows("d", 100, RunState::Finished),
                     fresh = withRows("e", 0, RunState::Running);
        QCOMPARE(commonStep(newest, {ahead, slower}), 228);
        QCOMPARE(commonStep(newest, {ahead, paused, ended, fresh}), 229);
        QCOMPARE(commonStep(40, {ahead, slower}), 40);
        QCOMPARE(commonStep(newest, {ended, withRows("f", 80, RunState::Stalled)}), 99);
        QCOMPARE(commonStep(newest, {fresh}), -1);
    }
};

NORMSCOPE_TEST(PresentationHeadlineTest)
#include "presentation_headline_test.moc"
