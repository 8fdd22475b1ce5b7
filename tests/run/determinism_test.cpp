// SPDX-License-Identifier: GPL-3.0-or-later
// The same recipe gives the same bits, whatever the threads and whatever is measured on the way.
#include "core/run/experiment.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <cmath>

using namespace normscope;

namespace {

constexpr int kSteps = 12;

Recipe small_recipe(const std::string& scheme) {
    Recipe recipe = parse_recipe(R"({"format": "normscope-recipe", "version": 1, "batch": 3, "steps": 12,
        "validate": {"every": 5}, "stack": {"depth": 3, "d_model": 16, "heads": 2, "context": 12, "scheme": ")" +
                                     scheme + "\"}}",
                                 "test");
    complete_and_validate(recipe);
    return recipe;
}

RunData train(const Recipe& recipe, int threads, Checkpoint* last = nullptr) {
    ThreadPool pool(threads);
    Experiment experiment(recipe, "a", "test");
    RunData run = experiment.header();
    while (!experiment.ended()) append(run, experiment.advance(pool));
    if (last) *last = experiment.checkpoint();
    return run;
}

/// Columns that tell time differ from run to run.
void compare_bits(const RunData& a, const RunData& b) {
    QCOMPARE(a.steps.step, b.steps.step);
    for (const char* name : {"loss", "val_loss", "grad_norm", "grad_ratio", "lr", "temperature"}) {
        const auto *x = a.steps.find(name), *y = b.steps.find(name);
        QVERIFY(x && y);
        QCOMPARE(x->size(), y->size());
        QVERIFY2(std::memcmp(x->data(), y->data(), x->size() * sizeof(double)) == 0, name);
    }
}

}  // namespace

class DeterminismTest : public QObject {
    Q_OBJECT

    static void add_schemes() {
        QTest::addColumn<QString>("scheme");
        for (const char* scheme : {"none", "post", "pre", "peri"}) QTest::newRow(scheme) << scheme;
    }

  private Q_SLOTS:
    void threadsDoNotMatter_data() { add_schemes(); }
    void threadsDoNotMatter() {
        QFETCH(QString, scheme);
        const Recipe recipe = small_recipe(scheme.toStdString());
        Checkpoint one, again, two;
        const RunData a = train(recipe, 1, &one), b = train(recipe, 1, &again), c = train(recipe, 2, &two);
        compare_bits(a, b);
        compare_bits(a, c);
        QCOMPARE(one, again);
        QCOMPARE(one, two);
    }

    void probesDoNotDisturb_data() { add_schemes(); }
    void probesDoNotDisturb() {
        QFETCH(QString, scheme);
        Recipe recipe = small_recipe(scheme.toStdString());
        Recipe unwatched = recipe;
        unwatched.probes.clear();
        recipe.probes.clear();
        for (const ProbeInfo& probe : probe_registry()) recipe.probes.push_back({probe.id, 1});
        Checkpoint with, without;
        const RunData watched = train(recipe, 2, &with), bare = train(unwatched, 2, &without);
        compare_bits(watched, bare);
        QCOMPARE(with.params, without.params);
        QCOMPARE(with.moment1, without.moment1);
        QCOMPARE(with.moment2, without.moment2);
        // The flight recorder is no probe: it watches either run.
        QCOMPARE(bare.probes.size(), std::size_t{1});
        QCOMPARE(watched.probes.size(), probe_registry().size() + 1);
        for (const auto& [id, samples] : watched.probes) {
            QCOMPARE(samples.size(), static_cast<std::size_t>(kSteps));
            for (std::size_t i = 0; i < samples.size(); ++i) {
                QCOMPARE(samples[i].step, static_cast<std::int64_t>(i));
                for (const NamedArray& array : samples[i].arrays) {
                    // NaN is expected where a bound or a branch does not exist, and there at every
                    // step.
                    const NamedArray& first = *samples[0].find(array.name);
                    QCOMPARE(array.data.size(), first.data.size());
                    // A head's lowest row is another at every step, NaN after its end; a row always begins
                    // with a number.
                    const bool of_one_row = array.name == "lowest_row" || array.name == "lowest_subset";
                    // This form ends at the first bias that is not zero, and training moves them.
                    const bool until_biased = array.name == "bound_product_ma" && i > 0;
                    for (std::size_t k = 0; k < array.data.size(); ++k) {
                        const bool may_differ = until_biased || (of_one_row && k % array.shape.back() != 0);
                        QVERIFY2(may_differ || std::isnan(array.data[k]) == std::isnan(first.data[k]),
                                 (id + "/" + array.name).c_str());
                        QVERIFY2(!std::isinf(array.data[k]), (id + "/" + array.name).c_str());
                    }
                }
            }
        }
        const auto finite = [&](const char* probe, const char* array) {
            for (const ProbeResult& sample : watched.probes.at(probe))
                for (double v : sample.find(array)->data)
                    if (!std::isfinite(v)) return false;
            return true;
        };
        for (const char* array : {"ma", "var", "rms", "block_rms"}) QVERIFY2(finite("growth", array), array);
        for (const char* array : {"hidden", "params", "total"}) QVERIFY2(finite("gradients", array), array);
        for (const char* array : {"max", "mean", "below_099", "width"})
            QVERIFY2(finite("theta", array), array);
        for (const char* array : {"gain", "erased_backward", "bf16_rho_ln", "fp16_rho_ln"})
            QVERIFY2(finite("null_space", array), array);
        for (const char* array : {"sublayer_sv", "layer_sv", "end_to_end_sv"})
            QVERIFY2(finite("jacobian", array), array);
    }

    void anotherSeedDiffers() {
        Recipe recipe = small_recipe("pre");
        const RunData a = train(recipe, 1);
        recipe.train.seed = 43;
        const RunData b = train(recipe, 1);
        QVERIFY(*a.steps.find("loss") != *b.steps.find("loss"));
    }

    void restoredRunContinuesBitForBit() {
        const Recipe recipe = small_recipe("pre");
        ThreadPool pool(2);
        const RunData whole = train(recipe, 1);
        Experiment first(recipe, "a", "test");
        RunData run = first.header();
        for (int i = 0; i < 5; ++i) append(run, first.advance(pool));
        Experiment second(recipe, "a", "test");
        second.restore(first.checkpoint());
        while (!second.ended()) append(run, second.advance(pool));
        compare_bits(whole, run);
    }
};

NORMSCOPE_TEST(DeterminismTest)
#include "determinism_test.moc"
