// SPDX-License-Identifier: GPL-3.0-or-later
// The probe `updates`: its sample of a step against the weights before and after it, and that measuring has
// no side effects.
#include "core/run/experiment.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>
#include <cstring>
#include <map>

using namespace normscope;

namespace {

Recipe recipe_of(const std::string& more) {
    Recipe recipe = parse_recipe(
        R"({"format": "normscope-recipe", "version": 1, "stack": {"depth": 2, "d_model": 16, "heads": 2, "context": 8)" +
            more +
            R"(, "batch": 3, "steps": 6, "validate": {"every": 2}, "probes": [{"id": "updates", "every": 1}]})",
        "test");
    complete_and_validate(recipe);
    return recipe;
}

std::map<std::string, std::vector<double>> numbers(const std::vector<StoredTensor>& tensors) {
    std::map<std::string, std::vector<double>> values;
    for (const StoredTensor& t : tensors) {
        const std::size_t width = t.type == StoredType::Float32 ? 4 : 8;
        for (std::size_t i = 0; i < t.bytes.size(); i += width) {
            float single = 0;
            double number = 0;
            std::memcpy(width == 4 ? static_cast<void*>(&single) : &number, t.bytes.data() + i, width);
            values[t.name].push_back(width == 4 ? static_cast<double>(single) : number);
        }
    }
    return values;
}

double ratio(const Checkpoint& before, const Checkpoint& after, const std::vector<std::string>& names) {
    const auto from = numbers(before.params), to = numbers(after.params);
    double moved = 0, length = 0;
    for (const std::string& name : names)
        for (std::size_t i = 0; i < from.at(name).size(); ++i) {
            moved += std::pow(to.at(name)[i] - from.at(name)[i], 2);
            length += std::pow(from.at(name)[i], 2);
        }
    return std::sqrt(moved / length);
}

/// To the nearest number with 8 significant bits, ties to even, by arithmetic.
double bf16(double x) {
    if (x == 0) return 0;
    int exponent = 0;
    std::frexp(static_cast<float>(x), &exponent);
    const double unit = std::ldexp(1.0, std::max(exponent, -125) - 8);
    return std::nearbyint(static_cast<double>(static_cast<float>(x)) / unit) * unit;
}

/// The shares of a group: √v̂ < ε of the entries with moments, bf16(bf16(θ) + Δθ) = bf16(θ) of the others than
/// Δθ = 0.
std::pair<double, double> shares(const Checkpoint& before, const Checkpoint& after,
                                 const std::vector<std::string>& names, int updates,
                                 const OptimizerSpec& optimizer) {
    const auto from = numbers(before.params), to = numbers(after.params), first = numbers(after.moment1),
               second = numbers(after.moment2);
    double driven = 0, under = 0, changed = 0, unmoved = 0;
    for (const std::string& name : names)
        for (std::size_t i = 0; i < from.at(name).size(); ++i) {
            const double change = to.at(name)[i] - from.at(name)[i], old = bf16(from.at(name)[i]);
            changed += change != 0;
            unmoved += change != 0 && bf16(old + change) == old;
            if (optimizer.kind == OptimizerKind::Sgd) continue;
            const double v = second.at(name)[i] / (1 - std::pow(optimizer.betas[1], updates));
            driven += first.at(name)[i] != 0 || v != 0;
            under += (first.at(name)[i] != 0 || v != 0) && std::sqrt(v) < optimizer.eps;
        }
    return {under / driven, unmoved / changed};
}

}  // namespace

class UpdatesTest : public QObject {
    Q_OBJECT

    ThreadPool pool_{1};

    static void add_recipes() {
        QTest::addColumn<QString>("more");
        QTest::newRow("fp32") << R"(}, "optimizer": {"eps": 1e-3})";
        QTest::newRow("fp64, gates")
            << R"(, "gpas": {"enabled": true}}, "precision": "fp64", "optimizer": {"eps": 1e-3})";
        QTest::newRow("bf16") << R"(}, "precision": "bf16", "optimizer": {"eps": 1e-3})";
        QTest::newRow("fp16, sgd") << R"(}, "precision": "fp16", "optimizer": {"kind": "sgd"})";
    }

  private Q_SLOTS:
    /// Of the master weights in emulated precision: rounding to BF16 would hide most of the step.
    void ratiosAreOfTheStepsWeights_data() { add_recipes(); }
    void ratiosAreOfTheStepsWeights() {
        QFETCH(QString, more);
        Experiment experiment(recipe_of(more.toStdString()), "a", "A");
        for (int step = 0; step < 4; ++step) {
            const Checkpoint before = experiment.checkpoint();
            const RunDelta delta = experiment.advance(pool_);
            const Checkpoint after = experiment.checkpoint();
            QCOMPARE(delta.probes.size(), std::size_t(1));
            const ProbeResult& sample = delta.probes.front();
            QCOMPARE(sample.step, std::int64_t(step));
            const auto& groups = sample.labels.at("groups");
            const std::vector<std::string> heads{"embedding",     "blocks.0.attn", "blocks.0.ffn",
                                                 "blocks.1.attn", "blocks.1.ffn",  "norms"};
            QVERIFY(std::equal(heads.begin(), heads.end(), groups.begin()));
            QCOMPARE(groups.back(), std::string("head"));
            const std::vector<double>& found = sample.find("update_ratio")->data;
            QCOMPARE(found.size(), groups.size());
            const std::string attn = "blocks.1.attn.", ffn = "blocks.0.ffn.";
            const auto close = [&](std::size_t group, const std::vector<std::string>& names) {
                return std::abs(found[group] / ratio(before, after, names) - 1) < 1e-12;
            };
            QVERIFY(close(0, {"tok_emb", "pos_emb"}));
            QVERIFY(close(3, {attn + "wq", attn + "wk", attn + "wv", attn + "wo", attn + "bq", attn + "bk",
                              attn + "bv", attn + "bo"}));
            QVERIFY(close(2, {ffn + "w1", ffn + "b1", ffn + "w2", ffn + "b2"}));
            QVERIFY(close(groups.size() - 1, {"head.weight"}));
            const auto expected = shares(before, after,
                                         {attn + "wq", attn + "wk", attn + "wv", attn + "wo", attn + "bq",
                                          attn + "bk", attn + "bv", attn + "bo"},
                                         step + 1, experiment.recipe().train.optimizer);
            const double under = sample.find("under_eps")->data[3],
                         unmoved = sample.find("bf16_unmoved")->data[3];
            QVERIFY(under == expected.first || (std::isnan(under) && std::isnan(expected.first)));
            QVERIFY2(std::abs(unmoved - expected.second) < 1e-12,
                     qPrintable(QString("%1 %2").arg(unmoved).arg(expected.second)));
            QVERIFY(std::isnan(under) || (under > 0 && under < 1));
            QVERIFY(unmoved > 0 && unmoved < 1);
            if (groups.size() == 8) QCOMPARE(std::isnan(found[6]), step == 0);  // gates start at zero
        }
    }

    void aTrialGivesTheSameAndLeavesNoTrace_data() { add_recipes(); }
    void aTrialGivesTheSameAndLeavesNoTrace() {
        QFETCH(QString, more);
        Experiment watched(recipe_of(more.toStdString()), "a", "A"),
            plain(recipe_of(more.toStdString()), "a", "A");
        while (!plain.ended()) {
            const RunState state = watched.outcome().state;
            const Checkpoint before = watched.checkpoint();
            const ProbeResult trial = watched.measure("updates", pool_);
            QCOMPARE(watched.checkpoint(), before);
            QCOMPARE(watched.outcome().state, state);
            const RunDelta a = watched.advance(pool_), b = plain.advance(pool_);
            QCOMPARE(a.steps.front().values.front().second, b.steps.front().values.front().second);
            const auto &trial_ratio = trial.find("update_ratio")->data,
                       &made = b.probes.front().find("update_ratio")->data;
            for (std::size_t i = 0; i < trial_ratio.size(); ++i)
                QVERIFY(trial_ratio[i] == made[i] || (std::isnan(trial_ratio[i]) && std::isnan(made[i])));
        }
        QCOMPARE(watched.checkpoint(), plain.checkpoint());
    }

    void aSkippedUpdateHasNoValue() {
        Experiment experiment(recipe_of(R"(}, "optimizer": {"lr": 1e30})"), "a", "A");
        std::vector<ProbeResult> samples;
        while (!experiment.ended())
            for (const ProbeResult& sample : experiment.advance(pool_).probes)
                if (sample.probe == "updates")
                    samples.push_back(sample);  // the end writes the flight besides
        QVERIFY(samples.size() > 1);
        for (const ProbeResult& sample : samples)
            QCOMPARE(sample.labels.at("sampled"), std::vector<std::string>{"training batch"});
        QCOMPARE(experiment.outcome().state, RunState::Diverged);
        for (const double r : samples.front().find("update_ratio")->data) QVERIFY(r > 1e20);
        for (const double r : samples.back().find("update_ratio")->data) QVERIFY(std::isnan(r));
    }
};

NORMSCOPE_TEST(UpdatesTest)
#include "updates_test.moc"
