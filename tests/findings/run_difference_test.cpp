// SPDX-License-Identifier: GPL-3.0-or-later
// The first step and place at which two runs differ: of trained runs that differ in one known way, and of
// made-up ones for what is compared and in which order.
#include "core/findings/run_difference.h"

#include "core/backend/devices/devices.h"
#include "core/run/complete.h"
#include "core/run/complete_run.h"
#include "tests/findings/sample_data.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace normscope;

namespace {

Recipe small_pre_ln() {
    return load_recipe("pre-ln",
                       {"stack.depth=4", "stack.d_model=16", "stack.context=16", "batch=2", "steps=12"});
}

/// A run of `steps` steps whose hidden states are `rms` at every step.
RunData recorded(const std::vector<double>& rms, std::int64_t steps = 3) {
    RunData run = sample::run("A");
    run.steps.names = {"loss", "batch_hash"};
    run.steps.columns.resize(2);
    for (std::int64_t s = 0; s < steps; ++s) {
        run.steps.step.push_back(s);
        run.steps.columns[0].push_back(3.0 - 0.1 * static_cast<double>(s));
        run.steps.columns[1].push_back(100.0 + static_cast<double>(s));
        sample::add(run, "growth", s, {sample::vector("rms", rms)});
        sample::add(run, "gradients", s, {sample::vector("hidden", rms)});
    }
    return run;
}

double& entry(RunData& run, const char* probe, std::size_t step, std::size_t at) {
    return run.probes.at(probe)[step].arrays[0].data[at];
}

}  // namespace

class RunDifferenceTest : public QObject {
    Q_OBJECT

    ThreadPool pool_{2};

    RunData trained(const Recipe& recipe) { return complete_run(recipe, "run", pool_); }

  private Q_SLOTS:
    void theSameRecipeGivesTheSameBits() {
        const RunData a = trained(small_pre_ln()), b = trained(small_pre_ln());
        const RunDifference found = difference_of(a, b, rounding_tolerance(a, b));
        QVERIFY(!found.first_bit && !found.first && found.recipe.empty() && found.not_compared.empty());
        QCOMPARE(found.steps_compared, 12);
    }

    void anotherEpsilonIsFoundInTheFirstLayer() {
        Recipe other = small_pre_ln();
        other.stack.norm.eps = 1e-6;
        const RunData a = trained(small_pre_ln()), b = trained(other);
        const RunDifference found = difference_of(a, b, rounding_tolerance(a, b));
        QVERIFY(found.first.has_value());
        QCOMPARE(found.first->step, 0);
        QCOMPARE(QString::fromStdString(found.first->place), QStringLiteral("layer 1, attention"));
        QCOMPARE(found.recipe.size(), std::size_t{1});
        QCOMPARE(found.recipe[0].key, std::string("stack.norm.eps"));
    }

    void weightsOfOneLayerAreFoundThere() {
        const auto run = [&](bool other) {
            Recipe recipe = small_pre_ln();
            auto corpus = complete_and_validate(recipe);
            Experiment experiment(recipe, "a", "run", std::move(corpus), cpu_device());
            std::vector<StoredTensor> weights = experiment.checkpoint().params;
            for (StoredTensor& tensor : weights)
                if (other && tensor.name == "blocks.2.ffn.w1") {
                    float first = 0;
                    std::memcpy(&first, tensor.bytes.data(), sizeof first);
                    first += 0.5F;
                    std::memcpy(tensor.bytes.data(), &first, sizeof first);
                }
            experiment.load_weights(weights, "test");
            RunData data = experiment.header();
            while (!experiment.ended() && experiment.steps_done() < recipe.train.steps)
                append(data, experiment.advance(pool_));
            return data;
        };
        const RunData a = run(false), b = run(true);
        const RunDifference found = difference_of(a, b, rounding_tolerance(a, b));
        QCOMPARE(found.first->step, 0);
        QCOMPARE(QString::fromStdString(found.first->place), QStringLiteral("layer 3, feed-forward map"));
        QCOMPARE(found.first->layer, 2);
    }

    void theEmulatedGridDiffersByRounding() {
        Device* grid = nullptr;
        for (const KnownDevice& known : known_devices())
            if (known.backend == "cuda-emulated" && known.missing.empty())
                grid = &device_named(known.backend);
        QVERIFY2(grid, "the emulated grid is in every build that runs this test");
        Recipe recipe = small_pre_ln();
        recipe.train.steps = 2;
        const RunData a = trained(recipe), b = complete_run(recipe, "run", pool_, nullptr, *grid);
        const RunDifference found = difference_of(a, b, rounding_tolerance(a, b));
        QVERIFY(found.first_bit.has_value());
        QVERIFY2(!found.first, found.first ? found.first->place.c_str() : "");
    }

    /// 1,000 steps of 48 layers, sampled at each of them.
    void longDeepRunsAreCompared() {
        const std::vector<double> rms(97, 1.5);
        const RunData a = recorded(rms, 1000);
        RunData b = recorded(rms, 1000);
        entry(b, "growth", 998, 96) = 1.6;
        const RunDifference found = difference_of(a, b, 1e-6);
        QCOMPARE(found.first->step, 998);
        QCOMPARE(QString::fromStdString(found.first->place), QStringLiteral("layer 48, feed-forward map"));
    }

    void anotherDepthIsComparedInTheLayersOfBoth() {
        Recipe deeper = small_pre_ln();
        deeper.stack.depth = 6;
        const RunData a = trained(small_pre_ln()), b = trained(deeper);
        const RunDifference found = difference_of(a, b, rounding_tolerance(a, b));
        // The first four layers have the same weights and read the same text.
        QCOMPARE(QString::fromStdString(found.first->place), QStringLiteral("loss"));
        QCOMPARE(found.first->step, 0);
        QVERIFY(
            std::count(found.not_compared.begin(), found.not_compared.end(), "layers 5 to 6 are in B alone"));
        QCOMPARE(found.growth.front().stream, 0.0);
    }

    void anotherBatchIsNamedBeforeWhatFollowsFromIt() {
        const RunData a = recorded({1, 2, 3});
        RunData b = recorded({1, 2, 3.5});
        b.steps.columns[1][0] = 7;
        const RunDifference found = difference_of(a, b, 1e-6);
        QCOMPARE(QString::fromStdString(found.first->place), QStringLiteral("data: another batch"));
        b.recipe = [] {
            Recipe external;
            external.train.data.source = DataSource::External;
            return external;
        }();
        QCOMPARE(QString::fromStdString(difference_of(a, b, 1e-6).first->place),
                 QStringLiteral("layer 1, feed-forward map"));
        // Of batches of different sizes the hidden gradients differ by it alone.
        b.probes["growth"] = a.probes.at("growth");
        for (std::size_t step = 0; step < 3; ++step) entry(b, "gradients", step, 1) *= 1.5;
        const RunDifference mixed = difference_of(a, b, 1e-6);
        QVERIFY(!mixed.first);
        QVERIFY(QString::fromStdString(mixed.not_compared.back()).contains("training batches"));
        b.recipe = Recipe{};
        QVERIFY(difference_of(a, b, 1e-6).first);
    }

    /// Forward through the stack, then the loss, then back.
    void placesAreInTheOrderOfAStep() {
        const RunData a = recorded({1, 2, 3, 4, 5});
        RunData b = recorded({1, 2, 3, 4, 5});
        entry(b, "gradients", 1, 1) = 2.5;
        entry(b, "gradients", 1, 3) = 4.5;
        QCOMPARE(QString::fromStdString(difference_of(a, b, 1e-6).first->place),
                 QStringLiteral("gradient at layer 2, attention"));
        QCOMPARE(difference_of(a, b, 1e-6).first->layer, 1);
        b.steps.columns[0][1] += 0.5;
        QCOMPARE(QString::fromStdString(difference_of(a, b, 1e-6).first->place), QStringLiteral("loss"));
        entry(b, "growth", 1, 4) = 5.1;
        entry(b, "growth", 1, 2) = 3.1;
        const auto first = difference_of(a, b, 1e-6).first;
        QCOMPARE(first->step, 1);
        QCOMPARE(QString::fromStdString(first->place), QStringLiteral("layer 1, feed-forward map"));
        QCOMPARE(first->a, 3.0);
        QCOMPARE(first->b, 3.1);
        entry(b, "growth", 0, 0) = 1 + 1e-9;  // rounding is stated, and not what is looked for
        const RunDifference found = difference_of(a, b, 1e-6);
        QCOMPARE(found.first_bit->step, 0);
        QCOMPARE(found.first->step, 1);
    }

    void valuesThatAreNotFiniteDiffer() {
        const RunData a = recorded({1, 2, 3});
        RunData b = recorded({1, 2, 3});
        entry(b, "growth", 2, 1) = std::nan("");
        QCOMPARE(difference_of(a, b, 1e-6).first->step, 2);
        QVERIFY(!difference_of(b, b, 1e-6).first_bit);
    }

    void runsOfOtherLengthsAreComparedWhereBothAre() {
        const RunData a = recorded({1, 2, 3}, 3), b = recorded({1, 2, 3}, 5);
        const RunDifference found = difference_of(a, b, 1e-6);
        QCOMPARE(found.steps_compared, 3);
        QVERIFY(!found.first_bit && found.not_compared.size() == 1);
        QCOMPARE(difference_of(a, recorded({1, 2, 3}, 0), 1e-6).steps_compared, 0);
    }
};

NORMSCOPE_TEST(RunDifferenceTest)
#include "run_difference_test.moc"
