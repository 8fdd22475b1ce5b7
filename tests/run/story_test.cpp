// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stories/story.h"

#include "core/base/error.h"
#include "core/recipe/presets.h"
#include "core/stories/story_check.h"
#include "tests/run/story_walk.h"
#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;

namespace {

constexpr const char* kHead = R"({"format": "normscope-story", "version": 2, "title": "S", "runs": )";

/// A story of one run with one predicate.
Story with_predicate(const char* predicate) {
    const std::string runs = R"([{"name": "A", "preset": "pre-ln"}, {"name": "B", "preset": "post-ln"}])";
    return read_story(
        "s", kHead + runs + R"(, "steps": [{"text": "T.", "expect": "E.", "holds": [)" + predicate + "]}]}");
}

/// Rows 0 … count − 1 with this loss and gradient ratio.
RunData recorded(const char* name, int count, double loss, double ratio, RunState state) {
    RunData run;
    run.name = name;
    run.steps.names = {"loss", "grad_ratio"};
    run.steps.columns.resize(2);
    for (int i = 0; i < count; ++i) {
        run.steps.step.push_back(i);
        run.steps.columns[0].push_back(loss);
        run.steps.columns[1].push_back(ratio);
    }
    run.outcome.state = state;
    return run;
}

}  // namespace

class StoryTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyStoryIsComplete() {
        QCOMPARE(stories().size(), 12u);  // each in story_seeds_test
        for (const Preset& file : stories()) {
            const Story story = read_story(file.name, file.json);
            QVERIFY(story.runs.size() >= 2);
            QVERIFY(story.steps.size() >= 4 && story.steps.size() <= 6);
            QVERIFY(std::any_of(story.steps.begin(), story.steps.end(),
                                [](const StoryStep& step) { return !step.actions.empty(); }));
            // Every run is spoken of by some predicate.
            for (std::size_t i = 0; i < story.runs.size(); ++i)
                QVERIFY(std::any_of(story.steps.begin(), story.steps.end(), [&](const StoryStep& step) {
                    return std::any_of(step.holds.begin(), step.holds.end(),
                                       [&](const StoryPredicate& p) { return p.run == i || p.of_run == i; });
                }));
        }
    }

    /// Of other seeds, and with later pauses: story_seeds_test.
    void everyStoryHolds_data() {
        QTest::addColumn<QString>("name");
        for (const Preset& file : stories()) QTest::newRow(file.name) << QString(file.name);
    }
    void everyStoryHolds() {
        QFETCH(QString, name);
        test::walk_a_story(name.toStdString(), 42, 0);
    }

    void aPredicateHoldsFailsOrIsNotYetKnown_data() {
        QTest::addColumn<QString>("predicate");
        QTest::addColumn<int>("rows");
        QTest::addColumn<bool>("ended");
        QTest::addColumn<int>("verdict");
        QTest::addColumn<QString>("line");
        const auto row = [](const char* name, const char* predicate, int rows, bool ended,
                            StoryVerdict verdict, const char* line) {
            QTest::newRow(name) << predicate << rows << ended << static_cast<int>(verdict) << line;
        };
        const char* below = R"({"run": "A", "quantity": "loss", "is": "<", "value": 2})";
        row("holds", below, 40, true, StoryVerdict::Holds, "A: loss at the end is 1.5, stated < 2");
        row("not ended", below, 40, false, StoryVerdict::NotYet,
            "A: loss at the end is not recorded, stated < 2");
        row("fails", R"({"run": "A", "quantity": "loss", "step": 5, "is": ">", "value": 2})", 40, false,
            StoryVerdict::Fails, "A: loss at step 5 is 1.5, stated > 2");
        row("not there yet",
            R"({"run": "A", "quantity": "gradient_ratio", "step": 50, "is": "<", "value": 1})", 40, false,
            StoryVerdict::NotYet, "A: gradient_ratio at step 50 is not recorded, stated < 1");
        row("never there", R"({"run": "A", "quantity": "gradient_ratio", "step": 50, "is": "<", "value": 1})",
            40, true, StoryVerdict::Fails, "A: gradient_ratio at step 50 is not recorded, stated < 1");
        row("of another run", R"({"run": "A", "quantity": "loss", "is": "<", "of": "B"})", 40, true,
            StoryVerdict::Holds, "A: loss at the end is 1.5, stated < B's 2.5");
        row("after a knob that was not moved",
            R"({"run": "B", "quantity": "gradient_ratio", "after_knob": 3, "is": "<", "value": 1})", 40,
            false, StoryVerdict::NotYet,
            "B: gradient_ratio 3 steps after the knob move is not recorded, stated < 1");
        row("after a knob",
            R"({"run": "A", "quantity": "gradient_ratio", "after_knob": 3, "is": "<", "value": 1})", 40,
            false, StoryVerdict::Holds, "A: gradient_ratio at step 13 is 0.5, stated < 1");
        row("growth was not measured",
            R"({"run": "A", "quantity": "growth_ratio", "step": 8, "is": "<", "value": 1})", 40, true,
            StoryVerdict::Fails, "A: growth_ratio at step 8 is not recorded, stated < 1");
        row("the median token was not measured",
            R"({"run": "A", "quantity": "median_token", "step": 8, "is": "<", "value": 1})", 40, true,
            StoryVerdict::Fails, "A: median_token at step 8 is not recorded, stated < 1");
        row("of the median token",
            R"({"run": "A", "quantity": "median_token", "step": 0, "is": "<", "value": 1})", 40, true,
            StoryVerdict::Holds, "A: median_token at step 0 is 0.25, stated < 1");
        row("of a probe",
            R"({"run": "A", "probe": "theta", "array": "mean", "over": "smallest", "step": 0, "is": ">", "value": 0.4})",
            40, true, StoryVerdict::Holds, "A: theta: mean, smallest at step 0 is 0.5, stated > 0.4");
        row("of a probe at the end, which was not sampled there",
            R"({"run": "A", "probe": "theta", "array": "mean", "over": "smallest", "is": ">", "value": 0.4})",
            40, true, StoryVerdict::Fails,
            "A: theta: mean, smallest at the end is not recorded, stated > 0.4");
        row("so many times another array",
            R"({"run": "A", "probe": "theta", "array": "mean", "over": "mean", "step": 0, "is": ">",
                "of_array": "prefix_mean", "times": 1.5})",
            40, true, StoryVerdict::Fails,
            "A: theta: mean, mean at step 0 is 0.6, stated > 1.5 times prefix_mean 0.5");
        row("so many times another run's",
            R"({"run": "A", "quantity": "loss", "is": "<", "of": "B", "times": 0.7})", 40, true,
            StoryVerdict::Holds, "A: loss at the end is 1.5, stated < 0.7 times B's 2.5");
        row("outcome", R"({"run": "B", "quantity": "outcome", "is": "=", "value": "stalled"})", 40, true,
            StoryVerdict::Holds, "B: stalled, stated stalled");
        row("another outcome", R"({"run": "A", "quantity": "outcome", "is": "=", "value": "stalled"})", 40,
            true, StoryVerdict::Fails, "A: finished, stated stalled");
    }
    void aPredicateHoldsFailsOrIsNotYetKnown() {
        QFETCH(QString, predicate);
        QFETCH(int, rows);
        QFETCH(bool, ended);
        QFETCH(int, verdict);
        QFETCH(QString, line);
        const Story story = with_predicate(predicate.toUtf8());
        RunData a = recorded("A", rows, 1.5, 0.5, ended ? RunState::Finished : RunState::Running);
        const RunData b = recorded("B", rows, 2.5, 5, ended ? RunState::Stalled : RunState::Running);
        a.events.push_back({10, "knob", "Δt 1 → 0.2"});
        a.probes["transport"].push_back(
            {"transport", 0, {{"median_token", {5}, {1, 1, 0.25, 1, 1}, {}, "1"}}, {}, 0});
        a.probes["theta"].push_back(
            {"theta",
             0,
             {{"mean", {1, 2}, {0.5, 0.7}, {}, "1"}, {"prefix_mean", {1, 2}, {0.4, 0.6}, {}, "1"}},
             {},
             0});
        const StoryFinding found = check(story, story.steps[0], {&a, &b});
        QCOMPARE(QString::fromStdString(found.line), line);
        QCOMPARE(static_cast<int>(found.verdict), verdict);
        QCOMPARE(check(story, story.steps[0], {}).verdict, StoryVerdict::NotYet);
    }

    void growthIsReadFromItsProbe() {
        const Story story =
            with_predicate(R"({"run": "A", "quantity": "growth_ratio", "step": 8, "is": ">", "value": 3})");
        RunData run = recorded("A", 40, 1, 1, RunState::Running);
        ProbeResult sample;
        sample.step = 8;
        sample.arrays.push_back({"rms", {3}, {1, 2, 4}, {"depth"}, "1"});
        run.probes["growth"].push_back(sample);
        QCOMPARE(check(story, story.steps[0], {&run}).verdict, StoryVerdict::Holds);
    }

    void badStoriesAreOneLine_data() {
        QTest::addColumn<QString>("json");
        QTest::addColumn<QString>("states");
        const auto row = [](const char* name, const QByteArray& json, const char* states) {
            QTest::newRow(name) << QString::fromUtf8(json) << states;
        };
        const QByteArray runs = QByteArray(kHead) + R"([{"name": "A", "preset": "pre-ln"}])";
        const auto step = [&](const char* rest) {
            return runs + R"(, "steps": [{"text": "T.")" + rest + "}]}";
        };
        const auto holds = [&](const char* predicate) {
            return step((QByteArray(R"(, "expect": "E.", "holds": [{)") + predicate + "}]").constData());
        };
        row("no JSON", "{", "story s: ");
        row("another format", R"({"format": "normscope-recipe", "version": 2})",
            "not a story, allowed: format normscope-story, version 2");
        row("another version", R"({"format": "normscope-story", "version": 1})", "version 2");
        row("no runs", QByteArray(kHead) + R"([], "steps": [{"text": "T."}]})", "runs: there is none");
        row("no steps", runs + "}", "steps: there is none, allowed: at least one");
        row("unknown preset", QByteArray(kHead) + R"([{"name": "A", "preset": "nothing"}], "steps": []})",
            "nothing");
        row("one name twice",
            QByteArray(kHead) + R"([{"name": "A", "preset": "pre-ln"}, {"name": "A", "preset": "pre-ln"}]})",
            "runs.1: name: A is taken");
        row("unknown key", step(R"(, "txt": "T.")"),
            "steps.0: txt: is unknown, allowed: do, expect, holds, options, panel, step, text");
        row("no such run", holds(R"("run": "C", "quantity": "loss", "is": "<", "value": 1)"),
            "steps.0.holds.0: run: C does not exist, allowed: A");
        row("no such quantity", holds(R"("run": "A", "quantity": "lost", "is": "<", "value": 1)"),
            "quantity: lost is unknown, allowed: loss, gradient_ratio, growth_ratio, median_token, outcome");
        row("no such comparison", holds(R"("run": "A", "quantity": "loss", "is": "~", "value": 1)"),
            "is: ~ is unknown, allowed: > or <");
        row("no value", holds(R"("run": "A", "quantity": "loss", "is": "<")"),
            "value: is missing, allowed: a number");
        row("two to compare with",
            holds(R"("run": "A", "quantity": "loss", "is": "<", "value": 1, "of": "A")"),
            "of: there is another one to compare with, allowed: one of value, of and of_array");
        row("no such probe",
            holds(R"("run": "A", "probe": "teta", "array": "mean", "over": "mean", "is": "<", "value": 1)"),
            "probe: teta is unknown, allowed: a probe that `probes` lists");
        row("no such array",
            holds(R"("run": "A", "probe": "theta", "array": "men", "over": "mean", "is": "<", "value": 1)"),
            "array: men is unknown, allowed: an array of theta that `probes` lists");
        row("an array of no probe", holds(R"("run": "A", "quantity": "loss", "is": "<", "of_array": "mean")"),
            "of_array: there is no probe, allowed: with probe, array and over");
        row("a probe and a quantity",
            holds(R"("run": "A", "probe": "theta", "quantity": "loss", "is": "<", "value": 1)"),
            "quantity: there is a probe as well, allowed: one of the two");
        row("a negative step", holds(R"("run": "A", "quantity": "loss", "step": -1, "is": "<", "value": 1)"),
            "step: -1 is out of range, allowed: whole numbers 0 … 1000000000");
        row("growth without a step",
            holds(R"("run": "A", "quantity": "growth_ratio", "is": "<", "value": 1)"), "step: is missing");
        row("a median token without a step",
            holds(R"("run": "A", "quantity": "median_token", "is": "<", "value": 1)"),
            "step: is missing, allowed: a step, for median_token");
        row("no such outcome", holds(R"("run": "A", "quantity": "outcome", "is": "=", "value": "bored")"),
            "bored");
        row("a statement that is not checked", step(R"(, "expect": "E.")"), "holds: is missing");
        row("no such knob", step(R"(, "do": [{"knob": "stack.depth", "to": 3}])"),
            "steps.0.do.0: knob: stack.depth is unknown, allowed: stack.residual_step, ");
    }
    void badStoriesAreOneLine() {
        QFETCH(QString, json);
        QFETCH(QString, states);
        try {
            read_story("s", json.toStdString());
            QFAIL("accepted");
        } catch (const InputError& error) {
            QVERIFY2(QString(error.what()).contains(states), error.what());
            QVERIFY(!QString(error.what()).contains('\n'));
        }
    }
};

NORMSCOPE_TEST(StoryTest)
#include "story_test.moc"
