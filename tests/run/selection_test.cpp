// SPDX-License-Identifier: GPL-3.0-or-later
// The places that a recipe selects for its probes, from training to the file.
#include "core/base/error.h"
#include "core/probe/interface/places.h"
#include "core/run/checkpoints/replay.h"
#include "core/run/complete_run.h"
#include "core/run/probe_steps.h"
#include "core/run/probes_preset.h"
#include "core/session/session.h"
#include "core/session/validate.h"
#include "core/sweep/sweep_scalar.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <cstring>

using namespace normscope;

namespace {

const std::string kOnly = "blocks.0, blocks.2.attn";

Recipe recipe_of(const std::string& scheme, const std::string& only, const std::string& precision = "fp32") {
    Recipe recipe = parse_recipe(R"({"format": "normscope-recipe", "version": 1, "batch": 2, "steps": 12,
        "precision": ")" + precision +
                                     R"(",
        "stack": {"depth": 3, "d_model": 16, "heads": 2, "context": 12, "scheme": ")" +
                                     scheme + R"("}})",
                                 "test");
    complete_and_validate(recipe);
    recipe.probes.clear();
    for (const ProbeInfo& probe : probe_registry())
        if (std::string(probe.id) != "spectra") recipe.probes.push_back({probe.id, 5});
    select_places(recipe.probes, PlaceSelection::parse(only, "only"));
    return recipe;
}

RunData trained(const Recipe& recipe) {
    ThreadPool pool(2);
    return complete_run(recipe, "run", pool);
}

bool same_bits(double a, double b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

std::string problem_of(Recipe recipe) {
    try {
        complete_and_validate(recipe);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

class SelectionTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// The steps are the same bits; of the samples the entries are the same or NaN, `updates` too, which the
    /// training measures; the others are not all NaN.
    void aRunWithASelectionIsTheSameRun_data() {
        QTest::addColumn<QString>("scheme");
        QTest::addColumn<QString>("precision");
        for (const char* scheme : {"pre", "post", "peri"})
            for (const char* precision : {"fp32", "fp64", "bf16"})
                QTest::addRow("%s %s", scheme, precision) << QString(scheme) << QString(precision);
    }
    void aRunWithASelectionIsTheSameRun() {
        QFETCH(QString, scheme);
        QFETCH(QString, precision);
        const RunData whole = trained(recipe_of(scheme.toStdString(), "", precision.toStdString())),
                      part = trained(recipe_of(scheme.toStdString(), kOnly, precision.toStdString()));
        QCOMPARE(*part.steps.find("loss"), *whole.steps.find("loss"));
        QCOMPARE(*part.steps.find("grad_norm"), *whole.steps.find("grad_norm"));
        for (const auto& [probe, samples] : whole.probes) {
            const ProbeInfo* info = find_probe(probe);
            if (!info) continue;  // the flight recorder
            const auto& others = part.probes.at(probe);
            QCOMPARE(others.size(), samples.size());
            int kept = 0, excluded = 0;
            for (std::size_t s = 0; s < samples.size(); ++s) {
                QCOMPARE(others[s].only(), has_places(*info) ? kOnly : std::string());
                for (std::size_t a = 0; a < samples[s].arrays.size(); ++a) {
                    const NamedArray &all = samples[s].arrays[a], &some = others[s].arrays[a];
                    QCOMPARE(some.name, all.name);
                    QCOMPARE(some.shape, all.shape);
                    for (std::size_t i = 0; i < all.data.size(); ++i) {
                        if (std::isnan(all.data[i])) continue;
                        excluded += std::isnan(some.data[i]);
                        kept += !std::isnan(some.data[i]);
                        if (!std::isnan(some.data[i]))
                            QVERIFY2(same_bits(some.data[i], all.data[i]), all.name.c_str());
                    }
                }
            }
            if (probe == "gates") continue;  // there are none
            QVERIFY2(kept > 0, probe.c_str());
            QVERIFY2((excluded > 0) == has_places(*info), probe.c_str());
        }
    }

    void aReplayedStepHasTheSameSelection() {
        const Recipe recipe = recipe_of("post", kOnly);
        ThreadPool pool(2);
        const RunData run = trained(recipe);
        const auto again = replay({run, nullptr, 5, {"residual", "theta", "growth", "updates"}}, pool);
        for (const ProbeResult& sample : again) {
            const ProbeResult* there = run.sample_of(sample.probe, 5);
            QVERIFY(there);
            QCOMPARE(sample.only(), there->only());
            for (std::size_t a = 0; a < sample.arrays.size(); ++a)
                for (std::size_t i = 0; i < sample.arrays[a].data.size(); ++i) {
                    const double x = sample.arrays[a].data[i], y = there->arrays[a].data[i];
                    QVERIFY2(same_bits(x, y) || (std::isnan(x) && std::isnan(y)), sample.probe.c_str());
                }
        }
    }

    /// NaN of what was not selected is not a problem of a file; NaN without a selection is.
    void aFileKeepsTheSelectionAndIsSound() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("run.h5").toStdString();
        RunData run = trained(recipe_of("pre", kOnly));
        save_session(path, std::vector<const RunData*>{&run}, "{}");
        const auto problems = validate_session(path);
        QVERIFY2(problems.empty(), problems.empty() ? "" : problems.front().c_str());
        const RunData read = open_session(path).runs.at(0);
        QCOMPARE(read.recipe.get()->probes[1].only, kOnly);
        QCOMPARE(read.probes.at("gradients").front().only(), kOnly);
        QCOMPARE(read.probes.at("growth").front().only(), std::string());
        for (ProbeResult& sample : run.probes.at("gradients")) sample.labels.erase("only");
        save_session(path, std::vector<const RunData*>{&run}, "{}");
        QVERIFY(!validate_session(path).empty());
    }

    /// Operation counts and shares follow the selection; with less to do a planned probe is not measured
    /// less.
    void theCostFollowsTheSelection() {
        Recipe whole = parse_recipe(R"({"format": "normscope-recipe", "version": 1, "steps": 400,
            "stack": {"depth": 12}})",
                                    "test");
        complete_and_validate(whole);
        for (const ProbesPreset preset :
             {ProbesPreset::Standard, ProbesPreset::Full, ProbesPreset::Economy}) {
            Recipe all = with_probes_of(preset, whole), some = all;
            select_places(some.probes, PlaceSelection::parse("blocks.0", "only"));
            Recipe at_same_steps = some;  // as `all` has them
            plan_probe_steps(some);
            const ProbesShare before = predicted_share(all), after = predicted_share(at_same_steps);
            QVERIFY2(after.first < before.first && after.later <= before.later, word_of(preset));
            const auto lists = probe_steps(all), more = probe_steps(some);
            std::int64_t samples = 0, samples_more = 0;
            for (std::size_t i = 0; i < lists.size(); ++i) {
                samples += lists[i].count(0, 399);
                samples_more += more[i].count(0, 399);
            }
            QVERIFY2(samples_more >= samples, word_of(preset));
        }
        // Runs that differ in the scheme alone are measured at the same steps.
        std::string steps;
        for (const char* scheme : {"pre", "post", "sandwich"}) {
            Recipe recipe = parse_recipe(R"({"format": "normscope-recipe", "version": 1, "steps": 400,
                "stack": {"scheme": ")" + std::string(scheme) +
                                             R"("},
                "probes": [{"id": "null_space", "only": "blocks.*.norm_in, final_norm"}]})",
                                         "test");
            complete_and_validate(recipe);
            if (!steps.empty()) QCOMPARE(recipe.probes[0].steps, steps);
            steps = recipe.probes[0].steps;
        }
    }

    void aWrongSelectionIsNamed() {
        Recipe recipe = recipe_of("pre", "");
        const auto with = [&](std::size_t i, const std::string& only) {
            Recipe changed = recipe;
            changed.probes[i].only = only;
            return problem_of(changed);
        };
        QVERIFY(with(1, kOnly).empty());
        const std::string beyond = with(1, "blocks.3");
        QVERIFY2(beyond.starts_with("probes[1].only: \"blocks.3\" selects no place of this stack, allowed: "),
                 beyond.c_str());
        QVERIFY(with(1, "blocks.0,").starts_with("probes[1].only: an empty pattern"));
        const std::string growth = with(0, "blocks.0");
        QVERIFY2(
            growth.starts_with("probes[0].only: growth measures the whole stack, allowed: with gradients, "),
            growth.c_str());
        Recipe outside = recipe;
        outside.probes[1].only = "blocks.7";
        QVERIFY_EXCEPTION_THROWN(complete_without_data(outside), InputError);
    }

    void wrongFormatsAreNamed() {
        const auto of = [](const std::string& id, const std::string& formats) {
            Recipe recipe = recipe_of("pre", "");
            recipe.probes = {{id, 10}};
            recipe.probes.front().formats = formats;
            return recipe;
        };
        QVERIFY(problem_of(of("mismatch", "fp16 , split")).empty());
        QCOMPARE(probe_formats(of("mismatch", "fp16 , split,fp16")).at("mismatch"),
                 (std::vector<std::string>{"fp16", "split"}));
        QVERIFY(probe_formats(of("mismatch", " ")).empty());
        QCOMPARE(problem_of(of("growth", "fp16")),
                 std::string("probes[0].formats: growth has no formats, allowed: with mismatch"));
        for (const char* wrong : {"fp8", "fp16,", "fp16;bf16"})
            QVERIFY2(problem_of(of("mismatch", wrong)).find("is not known, allowed: bf16, fp16, ") !=
                         std::string::npos,
                     wrong);
        // What is planned for it follows from its share of the operations.
        const auto cost = [&](const std::string& formats) {
            const Recipe recipe = of("mismatch", formats);
            return sample_operations(recipe.probes.front(), probe_shape(recipe));
        };
        QVERIFY(cost("fp16") < 0.1 * cost(""));
        QVERIFY(std::abs(cost("bf16,fp16,bf16_autocast,fp16_autocast,e4m3,e5m2,mxe4m3,split") / cost("") -
                         1) < 1e-9);
    }

    void theCommonSelectionIsKnown() {
        Recipe recipe = recipe_of("pre", "blocks.0,blocks.1");
        QCOMPARE(common_selection(recipe.probes).value(), std::string("blocks.0, blocks.1"));
        QVERIFY(recipe.probes[0].only.empty());  // growth
        recipe.probes[1].only.clear();
        QVERIFY(!common_selection(recipe.probes));
        select_places(recipe.probes, {});
        QCOMPARE(common_selection(recipe.probes).value(), std::string());
    }

    /// A mean or an extreme over selected entries is not that of the stack.
    void aNumberOverAllEntriesIsNotMeasured() {
        using Over = SweepScalar::Over;
        const RunData run = trained(recipe_of("pre", kOnly)), whole = trained(recipe_of("pre", ""));
        for (const Over over : {Over::Mean, Over::Largest, Over::Smallest}) {
            QVERIFY(scalar_of(whole, {"residual", "branch_ratio", over}));
            QVERIFY(!scalar_of(run, {"residual", "branch_ratio", over}));
            QVERIFY(scalar_of(run, {"growth", "rms", over}));
        }
        QVERIFY(scalar_of(run, {"residual", "branch_ratio", Over::First}));
        QVERIFY(!scalar_of(run, {"residual", "branch_ratio", Over::Last}));
    }
};

NORMSCOPE_TEST(SelectionTest)
#include "selection_test.moc"
