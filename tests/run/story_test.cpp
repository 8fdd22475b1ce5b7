// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/story.h"

#include <QtTest>

#include "core/run/experiment.h"
#include "core/recipe/presets.h"
#include "core/stack/error.h"

using namespace normscope;

namespace {

RunData trained(Recipe recipe) {
    recipe.probes = {{"growth", 1'000'000}};  // the facts are about the step table
    complete_and_validate(recipe);
    Experiment experiment(recipe, "a", default_run_name(recipe));
    ThreadPool pool(0);
    RunData run = experiment.header();
    while (!experiment.ended()) append(run, experiment.advance(pool));
    return run;
}

}  // namespace

class StoryTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyStoryIsTrueOfItsRuns_data() {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < stories().size(); ++i)
            QTest::newRow(stories()[i].name) << static_cast<int>(i);
    }
    void everyStoryIsTrueOfItsRuns() {
        QFETCH(int, index);
        const Preset& file = stories()[static_cast<std::size_t>(index)];
        const Story story = read_story(file.name, file.json);
        QVERIFY(story.runs.size() >= 2);
        QVERIFY(story.steps.size() >= 4 && story.steps.size() <= 6);
        for (std::size_t i = 0; i < story.runs.size(); ++i) {
            // Every run is spoken of by some fact.
            QVERIFY(std::any_of(story.facts.begin(), story.facts.end(),
                                [&](const StoryFact& f) { return f.run == i; }));
            const auto lines = contradictions(story, i, trained(story.runs[i]));
            QVERIFY2(lines.empty(), lines.empty() ? "" : lines.front().c_str());
        }
    }

    void aRunThatDoesOtherwiseContradicts() {
        const Story story = read_story("s", R"({"format": "normscope-story", "version": 1, "title": "S",
            "runs": [{"preset": "pre-ln"}], "steps": [{"text": "It learns.", "step": 3}],
            "facts": [{"run": 0, "column": "loss", "below": 2}, {"run": 0, "column": "loss", "step": 1, "above": 3},
                      {"run": 0, "column": "grad_ratio", "step": 0, "above": 1}]})");
        QCOMPARE(*story.steps.front().step, std::int64_t{3});
        RunData run;
        run.name = "A";
        run.steps.names = {"loss"};
        run.steps.columns.resize(1);
        for (int i = 0; i < 40; ++i) {
            run.steps.step.push_back(i);
            run.steps.columns[0].push_back(i < 20 ? 2.5 : 1.5);
        }
        const auto lines = contradictions(story, 0, run);
        QCOMPARE(lines.size(), std::size_t{2});
        QCOMPARE(QString::fromStdString(lines[0]), QString("A: loss at step 1 is 2.5, stated above 3"));
        QCOMPARE(QString::fromStdString(lines[1]),
                 QString("A: grad_ratio at step 0 is not recorded, stated above 1"));
        QVERIFY(contradictions(story, 1, run).empty());
    }

    void badStoriesAreOneLine_data() {
        QTest::addColumn<QString>("json");
        QTest::newRow("no JSON") << "{";
        QTest::newRow("another format") << R"({"format": "normscope-recipe"})";
        QTest::newRow("no runs") << R"({"format": "normscope-story", "version": 1, "title": "S"})";
        QTest::newRow("unknown preset")
            << R"({"format": "normscope-story", "version": 1, "title": "S", "runs": [{"preset": "nothing"}], "steps": [], "facts": []})";
        QTest::newRow("a fact about no run")
            << R"({"format": "normscope-story", "version": 1, "title": "S", "runs": [], "steps": [], "facts": [{"run": 0}]})";
    }
    void badStoriesAreOneLine() {
        QFETCH(QString, json);
        try {
            read_story("s", json.toStdString());
            QFAIL("accepted");
        } catch (const InputError& error) {
            QVERIFY(!QString(error.what()).contains('\n'));
        }
    }
};

QTEST_GUILESS_MAIN(StoryTest)
#include "story_test.moc"
