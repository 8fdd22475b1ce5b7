// SPDX-License-Identifier: GPL-3.0-or-later
// Which sample of each run a panel draws: the newest shared one, or that of the scrubbed step, of ghosts too.
#include "widgets/figures/parts/samples.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::widgets;

class SamplesTest : public QObject {
    Q_OBJECT

    static RunData measured(const std::string& name, std::initializer_list<std::int64_t> steps,
                            std::int64_t last) {
        RunData run = synthetic::run(name);
        for (const std::int64_t step : steps)
            synthetic::add(run, "growth", step, {synthetic::vector("ma", {double(step)})});
        run.steps.names = {"loss"};
        run.steps.columns.resize(1);
        for (std::int64_t step = 0; step <= last; ++step) {
            run.steps.step.push_back(step);
            run.steps.columns[0].push_back(1);
        }
        run.outcome.state = RunState::Running;
        return run;
    }

    static std::vector<std::pair<LineKind, std::int64_t>> kinds(const PanelInput& input) {
        std::vector<std::pair<LineKind, std::int64_t>> found;
        for (const ShownSample& shown : shownSamples(input, "growth"))
            found.emplace_back(shown.kind, shown.sample->step);
        return found;
    }

  private Q_SLOTS:
    void theNewestStepThatAllRunsHave() {
        const RunData a = measured("a", {0, 8, 16}, 20), b = measured("b", {0, 8}, 12);
        PanelInput input;
        input.runs = {&a, &b};
        using Found = std::vector<std::pair<LineKind, std::int64_t>>;
        QVERIFY(kinds(input) == (Found{{LineKind::Measured, 8}, {LineKind::Measured, 8}}));
        input.draft = {false, true};
        QVERIFY(kinds(input) == (Found{{LineKind::Measured, 8}, {LineKind::Draft, 8}}));
    }

    void ghostsFollowTheScrubbedStep() {
        const RunData a = measured("a", {0, 8, 16}, 20), before = measured("before", {0, 8, 24}, 30);
        PanelInput input;
        input.runs = {&a};
        input.ghosts = {&before};
        using Found = std::vector<std::pair<LineKind, std::int64_t>>;
        QVERIFY(kinds(input) == (Found{{LineKind::Ghost, 24}, {LineKind::Measured, 16}}));
        input.step = 8;
        QVERIFY(kinds(input) == (Found{{LineKind::Ghost, 8}, {LineKind::Measured, 8}}));
        input.step = 16;  // not measured by the ghost
        QVERIFY(kinds(input) == (Found{{LineKind::Measured, 16}}));
    }
};

NORMSCOPE_TEST(SamplesTest)
#include "samples_test.moc"
