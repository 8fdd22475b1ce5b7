// SPDX-License-Identifier: GPL-3.0-or-later
// Over the steps: changes of knobs as flags, and forks that begin at their parent's curve.
#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"
#include "widgets/figures/panels/training_panel.h"
#include "widgets/figures/runs/fork_origin.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

RunData trained(const std::string& name, int steps, double slope = 0.01) {
    RunData run = syn::run(name, R"({"steps": 200})");
    run.steps.names = {"loss", "val_loss", "grad_norm"};
    run.steps.columns.resize(3);
    for (int i = 0; i < steps; ++i) {
        run.steps.step.push_back(i);
        run.steps.columns[0].push_back(3 - slope * i);
        run.steps.columns[1].push_back(i % 10 ? kNaN : 3.1 - slope * i);
        run.steps.columns[2].push_back(1);
    }
    return run;
}

/// A copy until then, which continues by itself.
RunData forkOf(const RunData& parent, int at, const std::string& name, int steps, double slope) {
    RunData fork = trained(name, steps, slope);
    for (int i = 0; i < at; ++i)
        for (std::size_t c = 0; c < 3; ++c)
            fork.steps.columns[c][std::size_t(i)] = parent.steps.columns[c][std::size_t(i)];
    for (const RunEvent& event : parent.events)
        if (event.step < at) fork.events.push_back(event);
    fork.events.push_back({at - 1, "fork", "of " + parent.name + " at step " + std::to_string(at)});
    return fork;
}

Figure drawn(const std::vector<const RunData*>& runs, PanelOptions options = {{"validation", "off"}}) {
    PanelInput input;
    input.runs = runs;
    input.options = std::move(options);
    return buildTraining(input);
}

QStringList flagTexts(const Figure& figure) {
    QStringList texts;
    for (const Flag& flag : figure.plots[0].flags)
        texts << QString("%1 %2 %3").arg(flag.x).arg(flag.role.run).arg(flag.text());
    return texts;
}

}  // namespace

class StepEventsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyChangeOfAKnobIsAFlag() {
        RunData a = trained("A", 100), b = trained("B", 100);
        a.events = {{0, "checkpoint", "x"},
                    {40, "knob", "Δt 1 → 0.2, weight decay 0.1 → 0.2"},
                    {60, "spike", "step 60"},
                    {80, "knob", "as another program writes it"}};
        b.events = {{40, "knob", "Δt 1 → 0.2"}};
        const Figure figure = drawn({&a, &b});
        QCOMPARE(flagTexts(figure), QStringList({"40 0 Δt 1→0.2", "40 0 weight decay 0.1→0.2",
                                                 "40 1 Δt 1→0.2", "80 0 as another program writes it"}));
        QCOMPARE(figure.plots[0].flags[1].name, "A");
        QVERIFY2(figure.summary.contains("knob changes: A Δt 1→0.2 at step 40, "),
                 qPrintable(figure.summary));
        QVERIFY(flagTexts(drawn({&a, &b}, {{"knobs", "off"}})).isEmpty());
        QCOMPARE(flagTexts(drawn({&a, &b}, {{"quantity", "grad_norm"}})).size(), 4);
    }

    void aForkBeginsAtItsParentsCurve() {
        RunData a = trained("A", 100);
        a.events = {{20, "knob", "Δt 1 → 0.5"}};
        RunData b = forkOf(a, 40, "A, fork at 40", 90, 0.02);
        b.events.push_back({40, "knob", "Δt 0.5 → 0.2"});
        const Figure figure = drawn({&a, &b}, {});
        const auto& curves = figure.plots[0].curves;
        QCOMPARE(curves.size(), 4u);
        QCOMPARE(curves[0].x.size(), 100u);
        const Curve &fork = curves[2], &held_out = curves[3];
        QCOMPARE(fork.x.front(), 39.0);
        QCOMPARE(fork.y.front(), curves[0].y[39]);
        QCOMPARE(fork.x.size(), 51u);
        QCOMPARE(fork.branch->x, 39.0);
        QCOMPARE(fork.branch->text, "fork of A at step 40");
        QCOMPARE(held_out.x.front(), 40.0);
        QVERIFY(!held_out.branch && !curves[0].branch);
        // What was moved before the fork is the parent's.
        QCOMPARE(flagTexts(figure), QStringList({"20 0 Δt 1→0.5", "40 1 Δt 0.5→0.2"}));
    }

    void withoutItsParentAForkIsWhole() {
        RunData a = trained("A", 100);
        a.events = {{20, "knob", "Δt 1 → 0.5"}};
        const RunData b = forkOf(a, 40, "A, fork at 40", 90, 0.02);
        const RunData other = trained("C", 100, 0.03);
        const Figure figure = drawn({&b, &other});
        QCOMPARE(figure.plots[0].curves[0].x.size(), 90u);
        QCOMPARE(figure.plots[0].curves[0].branch->x, 39.0);  // the ring stays
        QCOMPARE(flagTexts(figure), QStringList({"20 0 Δt 1→0.5"}));
    }

    /// However forks of forks are listed, what they share is drawn exactly once.
    void whatForksShareIsDrawnOnce() {
        const RunData a = trained("A", 100);
        const RunData b = forkOf(a, 40, "B", 90, 0.02), c = forkOf(b, 60, "C", 90, 0.04),
                      d = forkOf(a, 40, "D", 90, 0.05), e = forkOf(c, 20, "E", 90, 0.01);
        std::vector<const RunData*> all{&a, &b, &c, &d, &e};
        std::sort(all.begin(), all.end());
        do {
            for (std::size_t count = 1; count <= all.size(); ++count) {
                const std::vector<const RunData*> runs(all.begin(), all.begin() + std::ptrdiff_t(count));
                const Figure figure = drawn(runs);
                for (std::size_t i = 0; i < count; ++i)
                    for (std::size_t row = 0; row < runs[i]->steps.rows(); ++row) {
                        const bool shown = std::any_of(
                            figure.plots[0].curves.begin(), figure.plots[0].curves.end(),
                            [&](const Curve& curve) {
                                const auto at = std::find(curve.x.begin(), curve.x.end(), double(row));
                                return at != curve.x.end() && curve.y[std::size_t(at - curve.x.begin())] ==
                                                                  runs[i]->steps.columns[0][row];
                            });
                        QVERIFY2(shown, qPrintable(QString("step %1 of %2 is not drawn")
                                                       .arg(row)
                                                       .arg(QString::fromStdString(runs[i]->name))));
                    }
            }
        } while (std::next_permutation(all.begin(), all.end()));
        const auto whole = [&](const std::vector<const RunData*>& runs) {
            std::size_t count = 0;
            const Figure figure = drawn(runs);
            for (const Curve& curve : figure.plots[0].curves) count += curve.x.front() == 0;
            return count;
        };
        QCOMPARE(whole({&d, &c, &b, &a}), 1u);
        QCOMPARE(whole({&c, &b}), 1u);
        QCOMPARE(whole({&d, &b}), 1u);
    }

    void anotherRunWithOtherValuesIsNoParent() {
        const RunData a = trained("A", 100), b = forkOf(a, 40, "B", 90, 0.02);
        RunData almost = a;
        almost.steps.columns[0][7] = std::nextafter(almost.steps.columns[0][7], 10);
        QVERIFY(forkOrigins({&a, &b}, "loss")[1]->parent_drawn);
        QVERIFY(!forkOrigins({&almost, &b}, "loss")[1]->parent_drawn);
        RunData strange = a;  // of a file: a fork after its last step
        strange.events.push_back({500, "fork", "of A at step 501"});
        QCOMPARE(drawn({&a, &strange}).plots[0].curves.size(), 2u);
    }
};

NORMSCOPE_TEST(StepEventsTest)
#include "step_events_test.moc"
