// SPDX-License-Identifier: GPL-3.0-or-later
// When probes are measured, on what, and what the flight recorder keeps: of whole runs.
#include "core/base/error.h"
#include "core/run/experiment.h"
#include "core/run/probe_steps.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

using namespace normscope;

namespace {

Recipe recipe_of(const std::string& scheme, int steps, const std::string& more = "") {
    Recipe recipe = parse_recipe(
        R"({"format": "normscope-recipe", "version": 1, "batch": 4, "steps": )" + std::to_string(steps) +
            more + R"(, "stack": {"depth": 3, "d_model": 16, "heads": 2, "context": 12, "scheme": ")" +
            scheme + "\"}}",
        "test");
    complete_and_validate(recipe);
    return recipe;
}

RunData train(const Recipe& recipe, int threads) {
    ThreadPool pool(threads);
    Experiment experiment(recipe, "a", "test");
    RunData run = experiment.header();
    while (!experiment.ended()) append(run, experiment.advance(pool));
    return run;
}

using Steps = std::map<std::string, std::vector<std::int64_t>>;

Steps steps_of(const RunData& run) {
    Steps steps;
    for (const auto& [probe, samples] : run.probes)
        for (const ProbeResult& sample : samples) steps[probe].push_back(sample.step);
    return steps;
}

}  // namespace

class SamplingTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void linkedRunsAreMeasuredAtTheSameSteps() {
        const Recipe pre = recipe_of("pre", 400);
        for (const char* scheme : {"post", "peri", "deepnorm", "sandwich", "mix"}) {
            const Recipe other = recipe_of(scheme, 400);
            for (std::size_t i = 0; i < pre.probes.size(); ++i)
                QCOMPARE(other.probes[i].steps, pre.probes[i].steps);
        }
    }

    /// Both cores busy or idle, one thread or two: the clock has no say.
    void theMachineDoesNotMatter() {
        const Recipe pre = recipe_of("pre", 70), post = recipe_of("post", 70);
        const Steps idle = steps_of(train(pre, 1)), other = steps_of(train(post, 2));
        std::atomic<bool> stop{false};
        std::vector<std::thread> hogs;
        for (int i = 0; i < 2; ++i)
            hogs.emplace_back([&stop] {
                volatile double x = 0;
                while (!stop) x = x + 1;
            });
        const Steps busy = steps_of(train(pre, 2));
        stop = true;
        for (std::thread& hog : hogs) hog.join();
        QCOMPARE(busy, idle);
        QCOMPARE(other, idle);
        QCOMPARE(idle.size(), pre.probes.size() + 1);  // and the flight recorder
        const std::vector<StepList> planned = probe_steps(pre);
        for (std::size_t i = 0; i < pre.probes.size(); ++i) {
            const auto& steps = idle.at(pre.probes[i].id);
            QCOMPARE(static_cast<std::int64_t>(steps.size()), planned[i].count(0, 69));
            for (std::int64_t step : steps) QVERIFY(planned[i].contains(step));
            QVERIFY(steps.front() == 0 && steps.back() == 69);
        }
    }

    void theRecipeStatesItsSteps() {
        Recipe recipe = recipe_of("pre", 200);
        for (const ProbePlan& probe : recipe.probes) QVERIFY(probe.steps.starts_with("auto 0"));
        const std::string before = recipe.probes[0].steps;
        const Recipe again = parse_recipe(recipe_json(recipe), "again");
        QCOMPARE(recipe_json(again), recipe_json(recipe));
        recipe.train.steps = 90;  // planned again, since they are the program's
        complete_and_validate(recipe);
        QVERIFY(recipe.probes[0].steps != before);
        QVERIFY(recipe.probes[0].steps.ends_with("89"));
        QCOMPARE(recipe_json(without_planned_steps(recipe)).find("\"steps\": \"auto"), std::string::npos);
    }

    void explicitStepsAreTaken() {
        Recipe recipe =
            recipe_of("pre", 30,
                      R"(, "probes": [{"id": "growth", "steps": "3:9:3,17"}, {"id": "theta", "every": 13}])");
        QCOMPARE(recipe.probes[0].steps, std::string("3:9:3,17"));
        QVERIFY(recipe.probes[1].steps.empty());
        const Steps steps = steps_of(train(recipe, 1));
        QCOMPARE(steps.at("growth"), (std::vector<std::int64_t>{0, 3, 6, 9, 17, 29}));
        QCOMPARE(steps.at("theta"), (std::vector<std::int64_t>{0, 13, 26, 29}));
        recipe.train.steps = 40;
        complete_and_validate(recipe);
        QCOMPARE(recipe.probes[0].steps, std::string("3:9:3,17"));
    }

    void badStepsAreRejectedInOneLine_data() {
        QTest::addColumn<QString>("probe");
        QTest::addColumn<QString>("message");
        QTest::newRow("no number") << R"({"id": "growth", "steps": "x"})"
                                   << "probes[0].steps: \"x\" is no group of steps";
        QTest::newRow("falling") << R"({"id": "growth", "steps": "5,4"})"
                                 << "probes[0].steps: \"4\" does not lie above";
        QTest::newRow("two answers") << R"({"id": "growth", "every": 7, "steps": "5"})"
                                     << "probes[0].steps: are combined with \"every\": 7";
    }
    void badStepsAreRejectedInOneLine() {
        QFETCH(QString, probe);
        QFETCH(QString, message);
        try {
            recipe_of("pre", 10, ", \"probes\": [" + probe.toStdString() + "]");
            QFAIL("no error");
        } catch (const InputError& error) {
            QVERIFY2(QString::fromUtf8(error.what()).startsWith(message), error.what());
            QVERIFY(!QString(error.what()).contains('\n'));
        }
    }

    void samplesStateWhatTheyMeasure() {
        ThreadPool pool(1);
        // Eight sequences through a deep stack would take longer than its step on four.
        Recipe part = parse_recipe(R"({"format": "normscope-recipe", "version": 1, "batch": 4, "steps": 10,
            "stack": {"depth": 12, "d_model": 64, "heads": 4, "context": 64}})",
                                   "part");
        complete_and_validate(part);
        Experiment small(part, "a", "t");
        const ProbeShape shape = probe_shape(small.recipe());
        QVERIFY(shape.sequences >= 2 && shape.sequences < 8);
        QCOMPARE(small.measure("growth", pool).labels.at("sampled").front(),
                 std::to_string(shape.sequences) + " of 8 sequences");
        Recipe whole = recipe_of("pre", 10);
        whole.train.batch = 8;
        Experiment large(whole, "a", "t");
        const ProbeResult result = large.measure("growth", pool);
        QCOMPARE(result.labels.at("sampled").front(), std::string("8 sequences"));
    }

    /// The shared passes are no single probe's: growth first or last costs about the same share.
    void sharedPassesAreCharged() {
        ThreadPool pool(1);
        Experiment experiment(load_recipe("pre-ln"), "a", "t");
        std::map<std::string, double> cost;
        const auto keep = [&](ProbeResult r) { cost[r.probe] = r.cost_ms; };
        experiment.measure({"growth", "gradients"}, pool, nullptr, keep);  // warm
        experiment.measure({"growth", "gradients"}, pool, nullptr, keep);
        const double shared = cost["gradients"];
        // Growth uses the forward pass alone, the gradients both: had growth to pay for the passes, it would
        // cost more.
        QVERIFY(cost["growth"] < shared);
        double alone = 0;
        experiment.measure({"growth"}, pool, nullptr, [&](ProbeResult r) { alone = r.cost_ms; });
        QVERIFY(cost["growth"] < alone * 1.5);
    }

    void flightKeepsTheLastStepsOfTheTrainingBatch() {
        const Recipe recipe = recipe_of("post", 100);
        const RunData one = train(recipe, 1), two = train(recipe, 2);
        const auto& flight = one.probes.at("flight");
        QCOMPARE(flight.size(), FlightRecorder::kSteps);
        QCOMPARE(flight.front().step, std::int64_t{36});
        QCOMPARE(flight.back().step, std::int64_t{99});
        const std::vector<double>& ratio = *one.steps.find("grad_ratio");
        for (std::size_t i = 0; i < flight.size(); ++i) {
            const auto& gradient = flight[i].find("gradient")->data;
            QCOMPARE(gradient.size(), std::size_t{7});
            QCOMPARE(gradient[2] / gradient.back(), ratio[static_cast<std::size_t>(flight[i].step)]);
            for (const char* name : {"rms", "gradient"})
                QVERIFY(std::memcmp(flight[i].find(name)->data.data(),
                                    two.probes.at("flight")[i].find(name)->data.data(),
                                    7 * sizeof(double)) == 0);
        }
        const RecordingSchema schema = recording_schema(Experiment(recipe, "a", "t").header(), {});
        QCOMPARE(schema.probes.size(), std::size_t{1});
        QCOMPARE(schema.probes[0].arrays[1].shape, std::vector<std::size_t>{7});
    }

    /// On one batch the flight recorder and the probes say the same.
    void flightAgreesWithTheProbes() {
        Recipe recipe = recipe_of("peri", 1);
        recipe.train.precision = Precision::Fp64;
        ThreadPool pool(2);
        const std::shared_ptr<const Corpus> corpus = make_corpus(recipe.train.data, recipe.stack);
        Trainer<double> trainer(recipe.stack, recipe.train, corpus);
        const Transformer<double> model = trainer.model();
        const StepNumbers now = trainer.step(pool);
        const Batch batch =
            corpus->train_batch(recipe.train.seed, 0, 0, recipe.train.batch, recipe.stack.context);
        ProbeInput<double> input(model, batch, pool, 0);
        const ProbeResult gradients = run_probe(*find_probe("gradients"), input);
        const ProbeResult growth = run_probe(*find_probe("growth"), input);
        for (std::size_t k = 0; k < now.hidden_rms.size(); ++k) {
            QVERIFY(std::abs(now.hidden_gradient[k] / gradients.find("hidden")->data[k] - 1) < 1e-12);
            double squares = 0;
            const double* h = input.tape().hidden[k];
            const std::size_t count = static_cast<std::size_t>(input.tape().rows()) * 16;
            for (std::size_t i = 0; i < count; ++i) squares += h[i] * h[i];
            QVERIFY(std::abs(now.hidden_rms[k] / std::sqrt(squares / static_cast<double>(count)) - 1) <
                    1e-12);
        }
        QCOMPARE(growth.find("rms")->data.size(), now.hidden_rms.size());
    }

    /// A knob is an event: what was before it is written then, and steps stay ascending.
    void anEventWritesTheFlight() {
        ThreadPool pool(1);
        Experiment experiment(recipe_of("pre", 50), "a", "t");
        RunData run = experiment.header();
        for (int i = 0; i < 10; ++i) append(run, experiment.advance(pool));
        QVERIFY(!run.probes.count("flight"));
        HotKnobs knobs = experiment.knobs();
        knobs.lr *= 2;
        append(run, experiment.set_knobs(knobs));
        QCOMPARE(run.probes.at("flight").size(), std::size_t{10});
        while (!experiment.ended()) append(run, experiment.advance(pool));
        const auto& flight = run.probes.at("flight");
        QCOMPARE(flight.size(), std::size_t{50});
        for (std::size_t i = 0; i < flight.size(); ++i)
            QCOMPARE(flight[i].step, static_cast<std::int64_t>(i));
    }
};

NORMSCOPE_TEST(SamplingTest)
#include "sampling_test.moc"
