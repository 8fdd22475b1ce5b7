// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/interventions/interventions.h"

#include "core/base/error.h"
#include "core/base/nan.h"
#include "core/recipe/hot_knobs.h"
#include "core/run/checkpoints/replay.h"
#include "core/run/interventions/norm_eps.h"
#include "core/run/interventions/norm_eps_risk.h"
#include "small_run.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace normscope;
using namespace normscope::test;
using namespace std::chrono_literals;

namespace {

constexpr double kEps = 0.1, kUnit = 0x1p-8;

/// In BF16, whose u is large, ε dominates the small embedding of step 0.
Recipe intervened(InterventionKind kind = InterventionKind::NormEps, int steps = 12, double rho = 0.3) {
    Recipe recipe = small_recipe(steps);
    recipe.stack.norm.eps = kEps;
    recipe.train.precision = Precision::Bf16;
    recipe.interventions = {{kind, rho, 1, 1e-6, 3, 1}};
    complete_and_validate(recipe);
    recipe.probes = {{"growth", 3}, {"null_space", 1}};
    return recipe;
}

RunData trained(const Recipe& recipe, std::vector<Checkpoint>* before = nullptr) {
    ThreadPool pool(1);
    Experiment experiment(recipe, "a", "A");
    RunData run = experiment.header();
    while (!experiment.ended()) {
        if (before) before->push_back(experiment.checkpoint());
        append(run, experiment.advance(pool));
    }
    if (before) before->push_back(experiment.checkpoint());
    return run;
}

std::vector<RunEvent> of_kind(const RunData& run, const std::string& kind) {
    std::vector<RunEvent> found;
    std::copy_if(run.events.begin(), run.events.end(), std::back_inserter(found),
                 [&](const RunEvent& event) { return event.kind == kind; });
    return found;
}

std::vector<double> column(const RunData& run, const char* name) {
    return *run.steps.find(name);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

InterventionInput input_of(std::vector<double> eps, std::vector<double> variances) {
    InterventionInput input;
    input.unit_round_off = 0x1p-11;
    input.base_eps = 1e-5;
    for (std::size_t i = 0; i < eps.size(); ++i) input.norms.push_back({static_cast<int>(i), eps[i], 64});
    input.variances = [variances](int) { return variances; };
    return input;
}

/// Median variance of every norm's input over the first `sequences` of the batch of a step, from a pass of
/// the weights of a checkpoint, in float64.
std::vector<double> variances_of(const Recipe& recipe, const Checkpoint& at, int sequences) {
    Experiment experiment(recipe, "a", "A");
    experiment.restore(at);
    const std::shared_ptr<const Corpus> corpus = make_corpus(recipe.train.data, recipe.stack);
    const Batch batch =
        corpus->train_batch(recipe.train.seed, at.step, 0, recipe.train.batch, recipe.stack.context)
            .part(0, sequences, recipe.stack.context);
    Trainer<float> trainer(recipe.stack, recipe.train, corpus);
    TrainerState<float> state = trainer.save();
    std::size_t i = 0;
    for (const TensorInfo& tensor : trainer.model().table().tensors())
        std::memcpy(state.parameters.data() + tensor.offset, at.params[i++].bytes.data(),
                    tensor.count * sizeof(float));
    state.raised_eps = raised_eps(at);
    trainer.restore(state);
    Tape<float> tape;
    ThreadPool pool(1);
    trainer.model().forward(batch, tape, pool);
    std::vector<double> variances;
    for (const NormSite& site : trainer.model().sites()) {
        const auto d = static_cast<std::size_t>(recipe.stack.d_model),
                   rows = static_cast<std::size_t>(tape.rows());
        const HostView<float> x = tape.view(norm_site_input(site, tape).x, rows * d);
        std::vector<double> of_site;
        for (std::size_t r = 0; r < rows; ++r) {
            double sum = 0, squares = 0;
            for (std::size_t c = 0; c < d; ++c) sum += double(x[r * d + c]);
            for (std::size_t c = 0; c < d; ++c)
                squares += std::pow(double(x[r * d + c]) - sum / double(d), 2);
            of_site.push_back(squares / double(d));
        }
        std::sort(of_site.begin(), of_site.end());
        variances.push_back((of_site[(rows - 1) / 2] + of_site[rows / 2]) / 2);
    }
    return variances;
}

}  // namespace

class InterventionsTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// ρ_LN = σ²·64·2⁻¹¹/ε: the rule acts between ρ and 1 alone, and never lowers ε.
    void theFirstRuleByItsTable() {
        const double share = 64 * 0x1p-11;  // of the variance
        NormEps rule({InterventionKind::NormEps, 0.5, 0.01, 1e-4, 1, 1});
        const auto after = [&](double eps, double rho_ln) {
            return rule.eps(input_of({eps}, {rho_ln * eps / share})).front();
        };
        QCOMPARE(after(1e-3, 0.8), 0.8 * 1e-3 / 0.5);  // ρ_LN is 0.5 now
        QCOMPARE(after(1e-3, 0.4), 1e-3);              // would be lower
        QCOMPARE(after(1e-3, 1), 1e-3);
        QCOMPARE(after(1e-3, 50), 1e-3);
        QCOMPARE(after(9e-3, 0.9), 0.01);  // the cap
        QCOMPARE(after(1e-5, 0.9), 1e-4);  // the floor
        QCOMPARE(after(0.5, 0.9), 0.5);    // above the cap already
        QCOMPARE(rule.eps(input_of({1e-3, 1e-3}, {kNaN, 0.8e-3 / share})),
                 (std::vector<double>{1e-3, 1.6e-3}));
        QCOMPARE(rule.eps(input_of({0}, {1})).front(), 0.0);
    }

    void theSecondRuleActsAboveItsOwnPast() {
        NormEpsRisk rule({InterventionKind::NormEpsRisk, 0.6, 0.01, 1e-5, 1, 1});
        std::vector<double> risks;
        InterventionInput input;
        input.base_eps = 1e-5;
        for (const int layer : {0, 0, 1, 2, -1}) input.norms.push_back({layer, 1e-5, 64});
        input.risks = [&](int) { return risks; };
        const auto step = [&](std::vector<double> now) {
            risks = std::move(now);
            const std::vector<double> eps = rule.eps(input);
            for (std::size_t i = 0; i < eps.size(); ++i) input.norms[i].eps = eps[i];
            ++input.step;
            return eps;
        };
        const std::vector<double> start(5, 1e-5);
        for (int i = 0; i < 24; ++i) QCOMPARE(step({double(1 + i % 4), 10, 1}), start);
        QCOMPARE(step({1, 10, 1}), start);  // not above
        // Two of three layers: the ones furthest above; k = 1 + 3(0.25 + 0.75) = 4 at the recipe's ε.
        QCOMPARE(step({9, 11, 5}), (std::vector<double>{4e-5, 4e-5, 1e-5, 4e-5, 1e-5}));
        QCOMPARE(step({99, 10, 1}), (std::vector<double>{4e-5, 4e-5, 1e-5, 4e-5, 1e-5}));  // waits
        for (int i = 0; i < 9; ++i) step({1, 10, 1});
        const double k = 1 + 3 * (0.25 + 0.75 * (0.01 - 4e-5) / (0.01 - 1e-5)) / 1.6;
        QCOMPARE(step({999, 10, 1}).front(), k * 4e-5);
        // Six actions a layer, and no ε above the cap.
        for (int i = 0; i < 400; ++i) step({1e4 * std::pow(1.1, i), 10, 1});
        QCOMPARE(rule.state().front(), 6.0);
        QVERIFY(input.norms[0].eps <= 0.01);
        QCOMPARE(input.norms.back().eps, 1e-5);

        NormEpsRisk other({InterventionKind::NormEpsRisk, 0.6, 0.01, 1e-5, 1, 1});
        other.restore(rule.state());
        QCOMPARE(other.state(), rule.state());
        for (const std::vector<double>& foreign :
             {std::vector<double>{1}, {7, 0, 0}, {0.5, 0, 0}, {1, 0, 2, 3}, {1, 0, 1e9}, {kNaN, 0, 0}})
            QVERIFY_THROWS_EXCEPTION(InputError, other.restore(foreign));
    }

    /// The rule on every norm of a run, from variances that a pass of its own gives.
    void aRunFollowsTheRule() {
        const Recipe recipe = intervened();
        std::vector<Checkpoint> before;
        const RunData run = trained(recipe, &before);
        int acted = 0;
        for (std::size_t step = 0; step + 1 < before.size() - 1; ++step) {
            std::vector<double> wanted = raised_eps(before[step]);
            const bool none = wanted.empty();
            const std::vector<double> variances = variances_of(recipe, before[step], 1);
            if (none) wanted.assign(variances.size(), kEps);
            if (step % 3 == 0)
                for (std::size_t i = 0; i < variances.size(); ++i) {
                    const double share = variances[i] * 16 * kUnit;
                    if (share / wanted[i] < 1)
                        wanted[i] = std::max(wanted[i], std::min(1.0, std::max(1e-6, share / 0.3)));
                }
            std::vector<double> got = raised_eps(before[step + 1]);
            if (got.empty()) got.assign(wanted.size(), kEps);
            for (std::size_t i = 0; i < got.size(); ++i)
                QVERIFY(std::abs(got[i] - wanted[i]) < 1e-6 * wanted[i]);
            acted += got != wanted || std::any_of(got.begin(), got.end(), [](double e) { return e > kEps; });
        }
        QVERIFY(acted > 0);
        const auto events = of_kind(run, kInterventionEvent);
        QVERIFY(events.size() >= 2);
        QVERIFY2(events.front().text.starts_with("ε raised: blocks.0.attn.norm_in 0.1 → "),
                 events.front().text.c_str());
        QCOMPARE(events.front().step, std::int64_t(0));
        // ε is the recipe's again at the end.
        QCOMPARE(events.back().text, std::string("ε of every norm is 0.1 again"));
        QVERIFY(raised_eps(before.back()).empty());
        QCOMPARE(run.events.back().kind, std::string("outcome"));
    }

    void armsHaveTheSameBatches() {
        Recipe recipe = intervened();
        const RunData with = trained(recipe);
        recipe.interventions.clear();
        const RunData without = trained(recipe);
        QVERIFY(same_bits(column(with, "batch_hash"), column(without, "batch_hash")));
        QVERIFY(!same_bits(column(with, "loss"), column(without, "loss")));
        QCOMPARE(column(with, "loss").front() == column(without, "loss").front(), false);  // from step 0 on
        QVERIFY(of_kind(without, kInterventionEvent).empty());
        recipe.train.seed += 1;
        const RunData other = trained(recipe);
        for (std::size_t i = 0; i < other.steps.rows(); ++i) {
            const double hash = column(other, "batch_hash")[i];
            QVERIFY(hash != column(with, "batch_hash")[i]);
            QVERIFY(hash >= 0 && hash < 0x1p53 && hash == std::floor(hash));
        }
    }

    void aRunContinuesBitForBit_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("from");
        QTest::newRow("first rule") << 0 << 5;
        QTest::newRow("second rule") << 1 << 30;
    }
    void aRunContinuesBitForBit() {
        QFETCH(int, kind);
        QFETCH(int, from);
        Recipe recipe = intervened(static_cast<InterventionKind>(kind), from == 5 ? 12 : 40);
        recipe.interventions.front().every = kind == 0 ? 3 : 1;
        std::vector<Checkpoint> before;
        const RunData whole = trained(recipe, &before);
        QVERIFY(of_kind(whole, kInterventionEvent).size() >= 2);
        ThreadPool pool(1);
        Experiment experiment(recipe, "a", "A");
        experiment.restore(before[std::size_t(from)]);
        QCOMPARE(experiment.checkpoint(), before[std::size_t(from)]);
        std::vector<double> losses;
        while (!experiment.ended()) {
            const RunDelta delta = experiment.advance(pool);
            losses.push_back(delta.steps.front().values.front().second);
        }
        const std::vector<double> wanted = column(whole, "loss");
        QVERIFY(same_bits(losses, {wanted.begin() + from, wanted.end()}));
    }

    void aReplayHasTheRaisedNorms() {
        const Recipe recipe = intervened();
        std::vector<Checkpoint> before;
        const RunData run = trained(recipe, &before);
        for (const int from : {-1, 4}) {
            ThreadPool pool(1);
            const auto start =
                from < 0 ? nullptr : std::make_shared<const Checkpoint>(before[std::size_t(from)]);
            const auto results = replay({run, start, 7, {"null_space"}}, pool);
            const ProbeResult* own = run.sample_of("null_space", 7);
            QVERIFY(own &&
                    same_bits(results.front().find("epsilon_share")->data, own->find("epsilon_share")->data));
        }
    }

    /// Switched on and off while the run trains.
    void theyAreHot() {
        Recipe recipe = intervened();
        const std::vector<InterventionSpec> list = recipe.interventions;
        recipe.interventions.clear();
        QVERIFY(same_but_hot(recipe, intervened()));
        QVERIFY(!same_recipe(recipe, intervened()));
        QVERIFY(initial_state(recipe) == initial_state(intervened()));
        ThreadPool pool(1);
        Experiment experiment(recipe, "a", "A");
        RunData run = experiment.header();
        for (int i = 0; i < 3; ++i) append(run, experiment.advance(pool));
        const auto none = std::make_shared<const Checkpoint>(experiment.checkpoint());
        append(run, experiment.set_interventions(list));
        QVERIFY(experiment.set_interventions(list).empty());
        const auto on = std::make_shared<const Checkpoint>(experiment.checkpoint());
        for (int i = 0; i < 2; ++i) append(run, experiment.advance(pool));
        QVERIFY(!raised_eps(experiment.checkpoint()).empty());
        const RunDelta off = experiment.set_interventions({});
        QCOMPARE(off.events.size(), std::size_t(2));
        QVERIFY(raised_eps(experiment.checkpoint()).empty());
        const auto knobs = of_kind(run, "knob");
        QCOMPARE(knobs.size(), std::size_t(1));
        QCOMPARE(knobs.front().text,
                 std::string("interventions none → norm_eps rho 0.3 cap 1 floor 1e-06 every 3 samples 1"));
        // A replay begins after the switch, not before it.
        QVERIFY(replay_obstacle(run.events, on.get(), 4).empty());
        QVERIFY(!replay_obstacle(run.events, none.get(), 4).empty());
        QVERIFY(!replay_obstacle(run.events, nullptr, 4).empty());
        QVERIFY_THROWS_EXCEPTION(InputError,
                                 experiment.set_interventions({{InterventionKind::NormEps, 0.6, 1e-7}}));
    }

    void aRunThatIsResumedHasThoseOfItsRecipe() {
        Recipe recipe = intervened();
        std::vector<Checkpoint> before;
        trained(recipe, &before);
        recipe.interventions.clear();
        for (const bool knobs : {false, true}) {
            MemorySink sink;
            RunStart start;
            start.checkpoint = std::make_shared<const Checkpoint>(before[4]);
            if (knobs) start.knobs = hot_knobs(recipe);
            Run run(small_experiment(recipe), std::move(start), sink, 1h);
            run.begin();
            QCOMPARE(std::any_of(sink.all.events.begin(), sink.all.events.end(),
                                 [](const RunEvent& e) { return e.text == "ε of every norm is 0.1 again"; }),
                     knobs);
        }
    }

    void whatAStackCannotHaveIsOneLine() {
        const auto completed = [](const std::function<void(Recipe&)>& edit) {
            Recipe recipe = small_recipe(4);
            recipe.interventions = {{}};
            edit(recipe);
            complete_and_validate(recipe);
        };
        completed([](Recipe&) {});
        const std::string cap =
            message_of([&] { completed([](Recipe& r) { r.interventions[0].cap = 1e-6; }); });
        QVERIFY2(cap.starts_with("interventions[0].cap: 1e-06 is below the present ε"), cap.c_str());
        const std::string floor =
            message_of([&] { completed([](Recipe& r) { r.interventions[0].floor = 1; }); });
        QVERIFY2(floor.starts_with("interventions[0].floor: 1 is above the cap"), floor.c_str());
        const std::string none = message_of([&] {
            completed([](Recipe& r) {
                r.stack.scheme = Scheme::None;
                r.stack.final_norm = FinalNorm::Off;
            });
        });
        QVERIFY2(none.starts_with("interventions[0].kind: norm_eps raises ε, and this stack has no norm"),
                 none.c_str());
        const auto read = [](const char* entry) {
            return message_of([&] {
                parse_recipe(std::string(R"({"format":"normscope-recipe","version":1,"interventions":[)") +
                                 entry + "]}",
                             "r.json");
            });
        };
        QCOMPARE(read(R"({"kind":"norm_eps","rho":0.7,"cap":0.005})"), std::string());
        for (const char* bad : {R"({"kind":"lower"})", R"({"rho":0})", R"({"rho":1.5})", R"({"every":0})",
                                R"({"samples":0})", R"({"cap":-1})", R"({"size":3})", "3"})
            QVERIFY2(read(bad).find("interventions[0]") != std::string::npos, (read(bad) + bad).c_str());
    }
};

NORMSCOPE_TEST(InterventionsTest)
#include "interventions_test.moc"
