// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/preflight/preflight.h"

#include "core/base/error.h"
#include "core/model/gradient_ratio.h"
#include "core/preflight/report_ending.h"
#include "core/probe/interface/probe_input.h"
#include "core/run/complete.h"
#include "core/run/experiment.h"
#include "core/theory/growth_classifier.h"
#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;

namespace {

using Theory = PreflightRow::Theory;

Recipe stack_of(Scheme scheme, int depth = 8) {
    Recipe recipe;
    recipe.stack.scheme = scheme;
    recipe.stack.depth = depth;
    recipe.stack.d_model = 16;
    recipe.stack.heads = 2;
    recipe.stack.context = 16;
    recipe.train.batch = 2;
    return recipe;
}

Preflight measured(const Recipe& recipe) {
    ThreadPool pool(1);
    return preflight(recipe, pool);
}

/// A copy: the section may be a temporary.
PreflightRow row_of(const PreflightSection& section, const std::string& name) {
    for (const PreflightRow& row : section.rows)
        if (row.name == name) return row;
    throw std::runtime_error("no row " + name);
}

PreflightRow class_of(const PreflightSection& section) {
    return row_of(section, "class of the state's size");
}

/// The well-posedness of a recipe that is completed here.
PreflightSection rule_of(Recipe recipe) {
    complete_and_validate(recipe);
    return well_posedness(recipe);
}

std::string message_of(const Recipe& recipe) {
    try {
        measured(recipe);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

/// The value of an array's last entry, of a run's own sample at step 0.
double last_of(const Recipe& given, const char* probe, const char* array) {
    Recipe recipe = given;
    auto corpus = complete_and_validate(recipe);
    ThreadPool pool(1);
    Experiment experiment(recipe, "a", "run", std::move(corpus));
    return experiment.measure(probe, pool).find(array)->data.back();
}

class PreflightTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// Every number is that of the probe which a run of the recipe has at step 0.
    void numbersAreTheProbes_data() {
        QTest::addColumn<int>("scheme");
        for (const Scheme scheme : {Scheme::Pre, Scheme::Peri, Scheme::Post, Scheme::None})
            QTest::newRow(scheme_row(scheme).word) << int(scheme);
    }
    void numbersAreTheProbes() {
        QFETCH(int, scheme);
        const Recipe recipe = stack_of(Scheme(scheme));
        const Preflight result = measured(recipe);
        const auto& growth = result.sections[1];
        const auto& backward = result.sections[2];
        const auto& shift = result.sections[3];
        struct Expected {
            const PreflightSection& section;
            const char *name, *probe, *value, *bound;
        };
        const Expected table[] = {
            {growth, "RMS after the last layer", "growth", "rms", ""},
            {growth, "mean |x| after the last layer", "growth", "ma", "bound_ma"},
            {growth, "variance after the last layer", "growth", "var", "bound_var"},
            {growth, "mean |x|, [K] Thm 4 as stated", "growth", "ma", "bound_uniform_ma"},
            {growth, "mean |x|, [K] Thm 3 with √d", "growth", "ma", "bound_product_ma"},
            {backward, "exact nulls, embedding to last state", "jacobian", "end_to_end_exact_nulls", ""},
            {backward, "σ_min, embedding to last state", "jacobian", "full_end_to_end", ""},
            {shift, "variance over inputs, largest entry", "shift", "variance_max", "variance_bound"},
            {shift, "exact W₂, clean to perturbed", "shift", "w2", "w2_bound"},
            {shift, "mismatch, all in BF16", "mismatch", "bf16_hidden", ""},
            {shift, "mismatch, all in FP16", "mismatch", "fp16_hidden", ""},
            {shift, "mismatch, GEMM alone in BF16", "mismatch", "bf16_autocast_hidden", ""},
        };
        for (const Expected& expected : table) {
            const PreflightRow row = row_of(expected.section, expected.name);
            const double value = last_of(recipe, expected.probe, expected.value);
            // An error as large as the value is no value.
            if (row.name == "σ_min, embedding to last state" && value > 0 &&
                last_of(recipe, expected.probe, "full_end_to_end_error") >= value) {
                QVERIFY(row.word.starts_with("below ") && row.word.ends_with(", not resolved"));
                QVERIFY(std::isnan(row.value));
                continue;
            }
            QVERIFY2(std::isnan(value) ? std::isnan(row.value) : row.value == value, expected.name);
            // Without norms a value overflows FP16, and the row states so.
            const bool overflows = Scheme(scheme) == Scheme::None && row.name == "mismatch, all in FP16";
            QCOMPARE(std::isfinite(value), !overflows);
            if (overflows) QCOMPARE(row.sentence, std::string("A value is not finite in this format."));
            const double bound =
                *expected.bound ? last_of(recipe, expected.probe, expected.bound) : PreflightRow::kNone;
            QVERIFY2(std::isnan(bound) ? std::isnan(row.bound) : row.bound == bound, expected.name);
            if (std::isfinite(row.bound)) QVERIFY2(row.value <= row.bound * (1 + 1e-5), expected.name);
            QVERIFY2(!row.validity.empty(), expected.name);
        }
        const ProbeResult& gradients = result.run.probes.at("gradients").front();
        QCOMPARE(row_of(backward, "gradient, first over last layer").value,
                 gradient_ratio(gradients.find("hidden")->data));
        // The largest gain found of all layers, with the bound of the same layer.
        const ProbeResult& lipschitz = result.run.probes.at("lipschitz").front();
        const PreflightRow gain = row_of(backward, "largest gain found of a layer");
        const auto &found = lipschitz.find("layer_measured")->data, &bounds = lipschitz.find("layer")->data;
        std::size_t at = 0;
        while (at < found.size() && found[at] != gain.value) ++at;
        QVERIFY(at < found.size());
        QCOMPARE(gain.bound, bounds[at]);
        for (const double other : found) QVERIFY(std::isnan(other) || other <= gain.value);
        QVERIFY(gain.value <= gain.bound);
    }

    void theClassOfGrowthIsTheClassifiers() {
        const Preflight result = measured(stack_of(Scheme::Pre, 12));
        const auto& ma = result.run.probes.at("growth").front().find("ma")->data;
        std::vector<double> layers;
        for (std::size_t k = 0; k < ma.size(); k += 2) layers.push_back(ma[k]);
        const GrowthClass growth = classify_growth(layers);
        const PreflightRow row = row_of(result.sections[1], "class of growth with depth");
        QCOMPARE(std::isfinite(row.value), std::isfinite(growth.lead));
        if (std::isfinite(growth.lead)) QCOMPARE(row.value, growth.lead);
        QCOMPARE(row.bound, growth_decisive_lead);
        const bool decided = growth.verdict == GrowthClass::Verdict::decided;
        QCOMPARE(row.word, decided ? std::string(growth_model_name(growth.best)) : std::string("undecided"));
        // Seven layers are too few to tell.
        const PreflightRow few = row_of(measured(stack_of(Scheme::Pre, 7)).sections[1], row.name);
        QCOMPARE(few.word, std::string("undecided"));
        QVERIFY(std::isnan(few.value));
    }

    void theClassFollowsTheRule() {
        const auto word = [](const Recipe& recipe) { return class_of(rule_of(recipe)).word; };
        QCOMPARE(word(stack_of(Scheme::Pre)), std::string("linear at most, by the weights"));
        QCOMPARE(word(stack_of(Scheme::Lns)), std::string("linear at most, by the weights"));
        QCOMPARE(word(stack_of(Scheme::Mix)), std::string("linear at most, by the weights"));
        QCOMPARE(word(stack_of(Scheme::Peri)), std::string("linear at most, for any weights"));
        QCOMPARE(word(stack_of(Scheme::Output)), std::string("linear at most, for any weights"));
        QCOMPARE(word(stack_of(Scheme::Post)), std::string("bounded at any depth"));
        QCOMPARE(word(stack_of(Scheme::DeepNorm)), std::string("bounded at any depth"));
        QCOMPARE(word(stack_of(Scheme::None)), std::string("not bounded by the rule"));
    }

    /// One norm less changes the class, and the bounds end where it is missing.
    void aMissingNormChangesTheClass() {
        Recipe recipe = stack_of(Scheme::Pre);
        LayerOverride layer;
        layer.index = 2;
        layer.ffn.in = false;
        recipe.stack.layers.push_back(layer);
        const Preflight result = measured(recipe);
        const PreflightRow row = class_of(result.sections[0]);
        QCOMPARE(row.word, std::string("not bounded by the rule"));
        QCOMPARE(row.validity, std::string("broken from layer 3 ffn on: no norm bounds that branch"));
        QCOMPARE(row_of(result.sections[0], "branches without a norm").value, 1.0);
        QCOMPARE(row_of(result.sections[0], "branches that only read a normed input").value, 15.0);
        const PreflightRow bound = row_of(result.sections[1], "mean |x| after the last layer");
        QVERIFY(std::isnan(bound.bound));
        QCOMPARE(bound.validity, std::string("broken at layer 3 ffn: its branch has no norm"));
        QCOMPARE(row_of(result.sections[3], "exact W₂, clean to perturbed").validity, bound.validity);
    }

    void aShortcutAboveOneIsGeometric() {
        Recipe recipe = stack_of(Scheme::Peri);
        LayerOverride layer;
        layer.index = 0;
        layer.attn.a = 1.5;
        recipe.stack.layers.push_back(layer);
        const PreflightSection section = rule_of(recipe);
        QCOMPARE(class_of(section).word, std::string("geometric at most"));
        QCOMPARE(row_of(section, "largest factor |a| of a shortcut").value, 1.5);
    }

    void aParallelLayerHasOneSum() {
        Recipe recipe = stack_of(Scheme::Post);
        recipe.stack.layout = Layout::Parallel;
        const PreflightSection section = rule_of(recipe);
        QCOMPARE(row_of(section, "sums that are normed again").value, 16.0);
        QCOMPARE(class_of(section).word, std::string("bounded at any depth"));
    }

    /// A branch without norms of its own is bounded by its weights where the state before it was normed.
    void aNormBeforeTheBranchBoundsIt() {
        Recipe recipe = stack_of(Scheme::Post);
        LayerOverride layer;
        layer.index = 3;
        layer.ffn.post = false;
        recipe.stack.layers.push_back(layer);
        PreflightSection section = rule_of(recipe);
        QCOMPARE(row_of(section, "branches that only read a normed input").value, 1.0);
        QCOMPARE(class_of(section).word, std::string("linear at most, by the weights"));
        // The next branch reads a sum that is not normed, but its own is.
        QCOMPARE(row_of(section, "branches without a norm").value, 0.0);
        recipe.stack.layers.front().attn.post = false;
        section = rule_of(recipe);
        QCOMPARE(row_of(section, "branches without a norm").value, 1.0);
        QCOMPARE(class_of(section).validity,
                 std::string("broken from layer 4 ffn on: no norm bounds that branch"));
    }

    void epsilonZeroIsNamed() {
        Recipe recipe = stack_of(Scheme::Pre);
        QCOMPARE(row_of(rule_of(recipe), "ε of the norms").validity, std::string("ε > 0"));
        recipe.stack.norm.eps = 0;
        QCOMPARE(row_of(rule_of(recipe), "ε of the norms").validity, std::string("broken: ε = 0"));
    }

    /// What no number decides has none.
    void theOptimumHasNoVerdict() {
        const PreflightSection section = rule_of(stack_of(Scheme::Peri));
        const PreflightRow row = row_of(section, "existence of an optimum (HJB)");
        QCOMPARE(row.word, std::string("no number decides it"));
        QVERIFY(std::isnan(row.value) && std::isnan(row.bound));
    }

    void nothingIsMeasuredTwiceAndNothingTrained() {
        const Preflight result = measured(stack_of(Scheme::Pre, 2));
        QCOMPARE(result.run.probes.size(), preflight_probes().size());
        for (const auto& [id, samples] : result.run.probes) {
            QCOMPARE(samples.size(), std::size_t{1});
            QCOMPARE(samples.front().step, std::int64_t{0});
        }
        QCOMPARE(result.run.steps.rows(), std::size_t{0});
    }

    void withoutSamplesRowsStateSo() {
        Recipe recipe = stack_of(Scheme::Pre);
        complete_and_validate(recipe);
        RunData run;
        run.recipe = recipe;
        QCOMPARE(forward_growth(run).rows.front().validity, std::string("growth was not measured"));
        for (const PreflightSection& section :
             {forward_growth(run), backward_sensitivity(run), uncertainty(run)})
            for (const PreflightRow& row : section.rows) {
                QVERIFY2(std::isnan(row.value), row.name.c_str());
                QVERIFY2(!row.validity.empty(), row.name.c_str());
            }
    }

    void aStackThatIsTooLargeIsOneLine() {
        Recipe recipe = stack_of(Scheme::Pre, 48);
        recipe.stack.d_model = 4096;
        recipe.stack.heads = 32;
        const std::string message = message_of(recipe);
        QVERIFY2(message.starts_with("stack: ") && message.ends_with("allowed: up to 50000000 weights"),
                 message.c_str());
        QCOMPARE(QString::fromStdString(message).count('\n'), 0);
        recipe = stack_of(Scheme::Pre);
        recipe.stack.heads = 3;
        QVERIFY(message_of(recipe).starts_with("stack.heads: "));
    }

    void canBeCancelled() {
        std::atomic<bool> cancel = true;
        ThreadPool pool(1);
        QVERIFY_THROWS_EXCEPTION(Cancelled, preflight(stack_of(Scheme::Pre), pool, &cancel));
    }

    /// Its rows are about the whole stack, whatever a training of the recipe would measure.
    void aSelectionOfPlacesChangesNoRow() {
        Recipe part = stack_of(Scheme::Post, 3);
        part.probes = {{"gradients", 0, {}, "blocks.1"}, {"jacobian", 0, {}, "blocks.1"}, {"growth", 0}};
        const Preflight whole = measured(stack_of(Scheme::Post, 3)), selected = measured(part);
        QCOMPARE(selected.sections.size(), whole.sections.size());
        for (std::size_t s = 0; s < whole.sections.size(); ++s) {
            QCOMPARE(selected.sections[s].rows.size(), whole.sections[s].rows.size());
            for (std::size_t r = 0; r < whole.sections[s].rows.size(); ++r) {
                const PreflightRow &a = selected.sections[s].rows[r], &b = whole.sections[s].rows[r];
                QCOMPARE(a.sentence, b.sentence);
                QVERIFY2(a.value == b.value || (std::isnan(a.value) && std::isnan(b.value)), a.name.c_str());
            }
        }
    }

    void theEndingDecidesTheFormat() {
        QVERIFY(report_format("a.pdf") == ReportFormat::Pdf);
        QVERIFY(report_format("folder.pdf/a.HTML") == ReportFormat::Html);
        for (const char* path : {"a.svg", "a", "pdf", "a.pdf.txt", ""})
            QVERIFY_THROWS_EXCEPTION(InputError, report_format(path));
    }
};

}  // namespace

NORMSCOPE_TEST(PreflightTest)
#include "preflight_test.moc"
