// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/null_space_panel.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"
#include "widgets/figures/parts/norm_sites.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

RunData withSites(const std::string& name, std::vector<std::string> sites, std::vector<double> gain,
                  const char* recipe = R"({"stack": {"d_model": 64}})") {
    RunData r = syn::run(name, recipe);
    const auto n = int(sites.size());
    syn::add(r, "null_space", 0,
             {syn::vector("gain", std::move(gain)),
              syn::vector("erased_backward", syn::values(n, [](int) { return 0.25; })),
              syn::vector("erased_forward", syn::values(n, [](int) { return 0.5; }))},
             {{"sites", std::move(sites)}});
    return r;
}

const std::vector<std::string> kPre = {"blocks.0.attn.norm_in", "blocks.0.ffn.norm_in", "final_norm"};
const std::vector<std::string> kPost = {"blocks.0.attn.norm_post", "blocks.0.ffn.norm_post"};

}  // namespace

class NullSpacePanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void sitesArePlacedAlongTheDepth() {
        const auto placed = placeNormSites({"emb_norm", "blocks.3.attn.norm_in", "blocks.3.ffn.norm_out",
                                            "blocks.3.ffn.norm_post", "final_norm", "odd"});
        const std::vector<double> x = {0, 3.125, 3.75, 3.875, 4.125, 4.25};
        for (std::size_t i = 0; i < x.size(); ++i) QCOMPARE(placed[i].x, x[i]);
        QCOMPARE(placed[1].name, "layer 4 · attn · norm in");
        QCOMPARE(placed[3].name, "layer 4 · ffn · norm post");
        QCOMPARE(placed[5].name, "odd");
        QVERIFY(isPostNorm("blocks.3.ffn.norm_post") && !isPostNorm("final_norm"));
    }

    void lollipopsAndErasedEnergy() {
        const RunData a = withSites("Pre", kPre, {1, 0.5, 0.25}), b = withSites("Post", kPost, {0.7, 0.8});
        PanelInput input;
        input.runs = {&a, &b};
        const Figure f = buildNullSpace(input);
        QCOMPARE(f.title, "Norm sites");
        QCOMPARE(f.plots.size(), 2u);  // no site in common: no strip
        const Plot& gains = f.plots[0];
        QCOMPARE(gains.stems.size(), 2u);
        QCOMPARE(gains.stems[0].x, std::vector<double>({0.125, 0.625, 1.125}));
        QCOMPARE(gains.stems[0].y, std::vector<double>({1, 0.5, 0.25}));
        QCOMPARE(gains.stems[1].role.run, 1);
        QCOMPARE(gains.y.scale, Scale::Log);
        QCOMPARE(gains.x.ticks.back().label, "1");  // one layer, though the final norm is after it
        const Plot& erased = f.plots[1];
        QCOMPARE(erased.stems[0].y, std::vector<double>(3, 0.25));
        QCOMPARE(erased.references.size(), 1u);
        QCOMPARE(erased.references[0].value, 2.0 / 64);
        QCOMPARE(f.x_names.size(), 5);
        QCOMPARE(f.x_names[1], "layer 1 · attn · norm post");
        QCOMPARE(f.x_name_at[1], 0.375);
        QVERIFY(f.summary.contains("Pre: 3 norms, gain 0.25 to 1, share erased up to 0.25"));
        input.options = {{"erased", "forward"}};
        QCOMPARE(buildNullSpace(input).plots[1].stems[0].y, std::vector<double>(3, 0.5));
    }

    void epsilonsShare() {
        RunData a = withSites("A", kPre, {1, 1, 1});
        a.probes["null_space"][0].arrays.push_back(syn::vector("epsilon_share", {0.03, 0.5, 0.25}));
        PanelInput input;
        input.runs = {&a};
        input.options = {{"quantity", "epsilon_share"}};
        const Figure f = buildNullSpace(input);
        QCOMPARE(f.plots[0].stems[0].y, std::vector<double>({0.03, 0.5, 0.25}));
        QVERIFY(f.formula.contains("ε/(var + ε)") && !f.formula.contains("ρ_LN"));
        QVERIFY(f.summary.contains("A: 3 norms, ε's share 0.03 to 0.5, share erased up to 0.25"));
    }

    void rhoOfEitherFormat() {
        RunData a = withSites("A", kPre, {1, 1, 1});
        auto& arrays = a.probes["null_space"][0].arrays;
        arrays.push_back(syn::vector("fp16_rho_ln", {0.5, 2, 8}));
        arrays.push_back(syn::vector("bf16_rho_ln", {4, 16, 64}));
        PanelInput input;
        input.runs = {&a};
        QVERIFY(!buildNullSpace(input).formula.contains("ρ_LN"));
        input.options = {{"quantity", "fp16_rho_ln"}};
        const Figure f = buildNullSpace(input);
        QCOMPARE(f.plots[0].stems[0].y, std::vector<double>({0.5, 2, 8}));
        QCOMPARE(f.plots[0].references[0].value, 1.0);
        QCOMPARE(f.plots[0].y.label, "ρ_LN in FP16");
        QVERIFY(f.formula.contains("(σ²/ε)·d·u") && f.formula.contains("2^-11 of FP16") &&
                f.formula.contains("does not mean that ε dominates"));
        QVERIFY(f.source.contains("Baek") && f.erratum.contains("output"));
        QVERIFY(f.summary.contains("A: 3 norms, ρ_LN 0.5 to 8, share erased up to 0.25"));
        input.options = {{"quantity", "bf16_rho_ln"}};
        const Figure wide = buildNullSpace(input);
        QCOMPARE(wide.plots[0].stems[0].y, std::vector<double>({4, 16, 64}));
        QVERIFY(wide.formula.contains("2^-8 of BF16"));
    }

    /// A session of an older program has the gains alone; ε = 0 leaves ρ_LN undefined.
    void withoutRhoThereIsAMessage() {
        RunData a = withSites("A", kPost, {1, 1});
        PanelInput input;
        input.runs = {&a};
        input.options = {{"quantity", "fp16_rho_ln"}};
        QVERIFY(buildNullSpace(input).empty_text.contains("lacks this quantity"));
        a.probes["null_space"][0].arrays.push_back(syn::vector("fp16_rho_ln", {kNaN, kNaN}));
        QVERIFY(buildNullSpace(input).summary.contains("2 norms, ρ_LN not defined"));
    }

    void sameSitesAreCompared() {
        const RunData a = withSites("A", kPost, {0.5, 0.5}), b = withSites("B", kPost, {1, 0.25});
        PanelInput input;
        input.runs = {&a, &b};
        const Figure f = buildNullSpace(input);
        QCOMPARE(f.plots.size(), 3u);
        QCOMPARE(f.plots[1].curves[0].y, std::vector<double>({2, 0.5}));
    }

    void rmsNormLosesHalfAsMuch() {
        const RunData a =
            withSites("A", kPost, {1, 1}, R"({"stack": {"d_model": 64, "norm": {"kind": "rmsnorm"}}})");
        const RunData b = withSites("B", kPost, {1, 1});
        PanelInput input;
        input.runs = {&a, &b};
        const auto references = buildNullSpace(input).plots.back().references;
        QCOMPARE(references.size(), 2u);
        QCOMPARE(references[0].value, 1.0 / 64);
        QCOMPARE(references[0].label, "random (A)");
    }

    void aStackWithoutNormsHasAMessage() {
        const RunData a = withSites("A", {}, {});
        PanelInput input;
        input.runs = {&a};
        QCOMPARE(buildNullSpace(input).empty_text, "A: nothing for null_space to measure");
    }

    void unnamedSitesAreNotDrawn() {
        RunData a = withSites("A", kPost, {1, 1});
        a.probes["null_space"][0].labels["sites"].pop_back();
        PanelInput input;
        input.runs = {&a};
        QVERIFY(buildNullSpace(input).empty_text.contains("lacks this quantity"));
    }
};

NORMSCOPE_TEST(NullSpacePanelTest)
#include "null_space_panel_test.moc"
