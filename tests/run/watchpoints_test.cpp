// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/watchpoints.h"

#include "core/base/error.h"
#include "core/base/nan.h"
#include "core/recipe/hot_knobs.h"
#include "core/recipe/keys.h"
#include "core/run/complete_run.h"
#include "small_run.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <cstring>

using namespace normscope;
using namespace normscope::test;
using namespace std::chrono_literals;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Recipe watching(Recipe recipe, std::vector<WatchSpec> watch) {
    recipe.watch = std::move(watch);
    return recipe;
}

WatchSpec spec(const char* text) {
    return parse_watch(text, "--watch");
}

std::size_t triggered(Watchpoints& watch, double loss, double grad_norm = 1) {
    const double rms[] = {1, 1, 1};
    return watch.add({loss, grad_norm, 1, rms, nullptr}).size();
}

std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

std::vector<RunEvent> of_kind(const std::vector<RunEvent>& events, const std::string& kind) {
    std::vector<RunEvent> found;
    for (const RunEvent& event : events)
        if (event.kind == kind) found.push_back(event);
    return found;
}

/// The columns of all rows that do not measure time, as bits.
std::vector<std::uint64_t> bits_of(const std::vector<StepRecord>& steps) {
    std::vector<std::uint64_t> bits;
    for (const StepRecord& record : steps) {
        bits.push_back(static_cast<std::uint64_t>(record.step));
        for (const auto& [name, value] : record.values) {
            if (name == "tokens_per_s" || name == "step_ms" || name == "probe_ms") continue;
            std::uint64_t pattern = 0;
            std::memcpy(&pattern, &value, sizeof pattern);
            bits.push_back(pattern);
        }
    }
    return bits;
}

struct Trained {
    RunDelta all;
    Checkpoint last;
};

Trained train(const Recipe& recipe, std::shared_ptr<const Checkpoint> from = nullptr, int steps = -1) {
    MemorySink sink;
    ThreadPool pool(1);
    RunStart start;
    start.checkpoint = std::move(from);
    Run run(small_experiment(recipe), std::move(start), sink, 1h);
    run.begin();
    for (int i = 0; !run.ended() && i != steps; ++i) run.advance(pool);
    if (!run.ended()) run.interrupt("here", "here");
    return {sink.all, *sink.last};
}

}  // namespace

class WatchpointsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aWatchpointTriggersOnceUntilTheOtherSideWasMeasured() {
        Watchpoints watch({spec("loss > 2")});
        QCOMPARE(triggered(watch, 2), std::size_t{0});  // not above
        QCOMPARE(triggered(watch, 3), std::size_t{1});
        QCOMPARE(triggered(watch, 4), std::size_t{0});
        QCOMPARE(triggered(watch, kNaN), std::size_t{0});  // on neither side
        QCOMPARE(triggered(watch, 5), std::size_t{0});
        QCOMPARE(triggered(watch, 1), std::size_t{0});
        QCOMPARE(triggered(watch, kInf), std::size_t{1});
        Watchpoints below({spec("loss < 2")});
        QCOMPARE(triggered(below, 3), std::size_t{0});
        QCOMPARE(triggered(below, 1), std::size_t{1});
        QCOMPARE(triggered(below, 0.5), std::size_t{0});
    }

    void everyQuantityIsComparedAndNamedWithItsPlace() {
        ProbeResult attention;
        attention.arrays.push_back({"entropy", {2, 2}, {0.9, kNaN, 0.2, 0.8}, {"layer", "head"}, "1"});
        const double rms[] = {1, 2, 30, 4, 5};
        const WatchedStep step{1.5, 12.25, 0.001, rms, &attention};
        Watchpoints watch({spec("grad_norm > 12"), spec("grad_ratio < 0.01"), spec("loss<2"),
                           spec("hidden_rms > 20"), spec("hidden_rms < 1.5"), spec("entropy < 0.3"),
                           spec("non_finite")});
        QCOMPARE(watch.add(step),
                 (std::vector<std::string>{"grad_norm 12.25 > 12", "grad_ratio 0.001 < 0.01", "loss 1.5 < 2",
                                           "hidden_rms 30 > 20 after layer 1",
                                           "hidden_rms 1 < 1.5 in the embedding",
                                           "entropy 0.2 < 0.3 in layer 2, head 1"}));
        const double broken[] = {1, 2, kNaN, 4, 5};
        QCOMPARE(watch.add({1.5, kInf, 0.001, broken, nullptr}),
                 (std::vector<std::string>{"a value that is not finite: loss 1.5, gradient norm inf"}));
    }

    void aStepWithoutASampleOfAttentionDecidesNothingOnEntropy() {
        ProbeResult low, high;
        low.arrays.push_back({"entropy", {1, 1}, {0.1}, {"layer", "head"}, "1"});
        high.arrays.push_back({"entropy", {1, 1}, {0.9}, {"layer", "head"}, "1"});
        Watchpoints watch({spec("entropy < 0.3")});
        QCOMPARE(watch.add({1, 1, 1, {}, &low}).size(), std::size_t{1});
        QCOMPARE(watch.add({1, 1, 1, {}, nullptr}).size(), std::size_t{0});
        QCOMPARE(watch.add({1, 1, 1, {}, &low}).size(), std::size_t{0});
        QCOMPARE(watch.add({1, 1, 1, {}, &high}).size(), std::size_t{0});
        QCOMPARE(watch.add({1, 1, 1, {}, &low}).size(), std::size_t{1});
    }

    void anotherListKeepsTheStateOfWhatItKeeps() {
        Watchpoints watch({spec("loss > 2"), spec("grad_norm > 5")});
        QCOMPARE(triggered(watch, 3, 1), std::size_t{1});
        watch.set({spec("grad_norm > 0.5"), spec("loss > 2")});
        QCOMPARE(triggered(watch, 3, 1), std::size_t{1});  // the new one
    }

    void aTextIsReadBackAndWhatIsWrongIsNamed() {
        for (const char* text : {"grad_norm > 100", "grad_ratio < 0.01", "loss > 2.5", "hidden_rms > 1e+30",
                                 "non_finite > 0", "entropy < 0.25"})
            QCOMPARE(watch_text(spec(text)), std::string(text));
        QCOMPARE(watch_text(std::vector{spec("loss>2"), spec(" non_finite ")}),
                 std::string("loss > 2; non_finite > 0"));
        QCOMPARE(watch_text(std::vector<WatchSpec>{}), std::string("nothing"));
        QCOMPARE(message_of([] { spec("growth > 2"); }),
                 std::string("--watch: \"growth\" is not known, allowed: grad_norm, grad_ratio, loss, "
                             "hidden_rms, non_finite, entropy"));
        for (const auto& [text, part] : {std::pair{"loss", "compares with nothing"},
                                         {"loss > many", "\"many\" is not a number"},
                                         {"loss > ", "\"\" is not a number"},
                                         {"loss > -1", "-1 is out of range"},
                                         {"loss > inf", "\"inf\" is not a number"},
                                         {"loss >= 2", "\"= 2\" is not a number"}})
            QVERIFY2(message_of([&] { spec(text); }).find(part) != std::string::npos,
                     message_of([&] { spec(text); }).c_str());
    }

    void aRecipeWithAListIsReadBackAndOneWithoutHasNoSuchKey() {
        const Recipe bare = load_recipe("pre-ln");
        QVERIFY(recipe_json(bare).find("\"watch\"") == std::string::npos);
        const Recipe recipe = load_recipe(
            "pre-ln",
            {R"(watch=[{"quantity":"grad_ratio","is":"<","value":0.01},{"quantity":"non_finite"}])"});
        QCOMPARE(recipe.watch, (std::vector{spec("grad_ratio < 0.01"), spec("non_finite")}));
        QCOMPARE(parse_recipe(recipe_json(recipe), "again"), recipe);
        QVERIFY(!same_recipe(recipe, bare));
        QVERIFY(same_but_hot(recipe, bare));
        QCOMPARE(initial_state(recipe), initial_state(bare));
        QCOMPARE(with_key_of(bare, recipe, "watch"), recipe);
        QCOMPARE(with_key_of(recipe, bare, "watch"), bare);
        QCOMPARE(with_key_of(recipe, bare, "batch").watch, recipe.watch);
        QCOMPARE(with_key_of(bare, recipe, "batch").watch, bare.watch);
    }

    void aWrongEntryIsNamedInOneLine() {
        const auto loading = [](const std::string& setting) {
            return message_of([&] { load_recipe("pre-ln", {setting}); });
        };
        QCOMPARE(loading(R"(watch=[{"quantity":"loss"},{"quantity":"growth"}])"),
                 std::string("watch[1].quantity: \"growth\" is not known, allowed: grad_norm, grad_ratio, "
                             "loss, hidden_rms, non_finite, entropy"));
        QCOMPARE(loading(R"(watch=[{"is":"="}])"),
                 std::string("watch[0].is: \"=\" is not known, allowed: >, <"));
        QCOMPARE(loading(R"(watch=[{"value":-1}])"),
                 std::string("watch[0].value: -1 is out of range, allowed: [0, ∞)"));
        QCOMPARE(loading(R"(watch=[{"step":1}])"),
                 std::string("watch[0].step: unknown key, allowed: quantity, is, value"));
        QVERIFY(loading("watch=loss").find("watch: \"loss\" is not a list") == 0);
        const std::string entropy = message_of([] {
            load_recipe("pre-ln", {R"(watch=[{"quantity":"entropy","is":"<","value":0.2}])",
                                   R"(probes=[{"id":"growth"}])"});
        });
        QVERIFY2(entropy.find("watch[0].quantity: entropy is measured by the probe attention") == 0,
                 entropy.c_str());
    }

    void theEventOfARunIsThatOfItsRows() {
        const Trained plain = train(small_recipe(12));
        // The median of the recorded norms: some steps are above it.
        std::vector<double> norms;
        for (const StepRecord& record : plain.all.steps) norms.push_back(record.values[3].second);
        QCOMPARE(plain.all.steps[0].values[3].first, std::string("grad_norm"));
        std::vector<double> sorted = norms;
        std::sort(sorted.begin(), sorted.end());
        const double limit = sorted[6];
        std::vector<std::int64_t> expected;
        for (std::size_t i = 0; i < norms.size(); ++i)
            if (norms[i] > limit && (i == 0 || norms[i - 1] <= limit))
                expected.push_back(static_cast<std::int64_t>(i));
        const Trained watched =
            train(watching(small_recipe(12), {{WatchQuantity::GradNorm, WatchComparator::Above, limit}}));
        std::vector<std::int64_t> steps;
        for (const RunEvent& event : of_kind(watched.all.events, kWatchEvent)) steps.push_back(event.step);
        QCOMPARE(steps, expected);
        QVERIFY(!steps.empty());
    }

    void watchpointsChangeNoBitOfARun() {
        const Recipe recipe = small_recipe(12);
        const Trained plain = train(recipe);
        const std::vector<WatchSpec> never{spec("loss > 1000"), spec("non_finite")},
            at_once{spec("loss > 0"), spec("hidden_rms > 0")};
        for (const auto& watch : {never, at_once}) {
            const Trained watched = train(watching(recipe, watch));
            QCOMPARE(of_kind(watched.all.events, kWatchEvent).size(), watch == never ? 0u : 2u);
            QCOMPARE(bits_of(watched.all.steps), bits_of(plain.all.steps));
            QCOMPARE(watched.last.params, plain.last.params);
            QCOMPARE(watched.last.moment1, plain.last.moment1);
            QCOMPARE(watched.last.moment2, plain.last.moment2);
            QCOMPARE(watched.last.scalars, plain.last.scalars);
        }
    }

    /// Stopped right after the step that triggered, and resumed from its checkpoint.
    void aResumedRunDoesNotTriggerAgainAndHasTheSameBits() {
        const Recipe recipe = small_recipe(12), watched = watching(recipe, {spec("loss > 0")});
        const Trained plain = train(recipe), first = train(watched, nullptr, 5);
        QCOMPARE(of_kind(first.all.events, kWatchEvent).size(), std::size_t{1});
        const auto checkpoint = std::make_shared<const Checkpoint>(first.last);
        const Trained second = train(watched, checkpoint);
        QVERIFY(of_kind(second.all.events, kWatchEvent).empty());
        std::vector<StepRecord> rows = first.all.steps;
        rows.insert(rows.end(), second.all.steps.begin(), second.all.steps.end());
        QCOMPARE(bits_of(rows), bits_of(plain.all.steps));
        QCOMPARE(second.last.params, plain.last.params);
        // A watchpoint that the checkpoint does not know triggers.
        const Trained other = train(watching(recipe, {spec("loss > 0"), spec("loss > 1e-3")}), checkpoint);
        QCOMPARE(of_kind(other.all.events, kWatchEvent).size(), std::size_t{1});
        QCOMPARE(of_kind(other.all.events, kWatchEvent)[0].step, std::int64_t{5});
        QCOMPARE(other.last.params, plain.last.params);
    }

    void aListSetDuringARunActsFromItsNextStep() {
        const Trained plain = train(small_recipe(6));
        MemorySink sink;
        ThreadPool pool(1);
        Run run(small_experiment(small_recipe(6)), {}, sink, 1h);
        run.begin();
        run.advance(pool);
        run.set_watch({spec("loss > 0")});
        run.set_watch({spec("loss > 0")});  // nothing changes
        while (!run.ended()) run.advance(pool);
        QCOMPARE(of_kind(sink.all.events, kWatchesEvent).size(), std::size_t{1});
        QCOMPARE(of_kind(sink.all.events, kWatchesEvent)[0].text, std::string("watches loss > 0"));
        QCOMPARE(of_kind(sink.all.events, kWatchEvent).size(), std::size_t{1});
        QCOMPARE(of_kind(sink.all.events, kWatchEvent)[0].step, std::int64_t{1});
        QCOMPARE(bits_of(sink.all.steps), bits_of(plain.all.steps));
        QCOMPARE(sink.last->params, plain.last.params);
        QCOMPARE(sink.last->recipe.get()->watch, (std::vector{spec("loss > 0")}));
    }

    void entropyIsThatOfTheSample() {
        Recipe recipe = small_recipe(8);
        recipe.probes = {{"attention", 3}};
        const Trained plain = train(recipe);
        double least = 1;
        for (const ProbeResult& sample : plain.all.probes)
            if (sample.probe == "attention")
                for (const double entropy : sample.find("entropy")->data) least = std::min(least, entropy);
        QVERIFY(least < 1);
        recipe.watch = {{WatchQuantity::Entropy, WatchComparator::Below, least * 0.999}};
        QVERIFY(of_kind(train(recipe).all.events, kWatchEvent).empty());
        recipe.watch[0].value = least * 1.001;
        const auto events = of_kind(train(recipe).all.events, kWatchEvent);
        QVERIFY(!events.empty());
        for (const RunEvent& event : events) QVERIFY(event.step % 3 == 0 || event.step == 7);
    }
};

NORMSCOPE_TEST(WatchpointsTest)
#include "watchpoints_test.moc"
