// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/growth_panel.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"
#include "widgets/figures/panels/panel_registry.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

/// Hidden state k of a stack of D layers has rms first·factor^k; the bound is `bound` times that.
RunData grown(const std::string& name, int depth, double first, double factor, double bound,
              std::int64_t step = 0) {
    RunData r = syn::run(name);
    const auto rms = syn::values(2 * depth + 1, [&](int k) { return first * std::pow(factor, k); });
    const auto limit = syn::values(2 * depth + 1, [&](int k) { return bound * first * std::pow(factor, k); });
    syn::add(
        r, "growth", step,
        {syn::vector("rms", rms), syn::vector("ma", rms), syn::vector("var", rms),
         syn::vector("block_rms", rms), syn::vector("bound_ma", limit), syn::vector("bound_var", limit)});
    return r;
}

/// At step s every value is s + 1.
RunData sampled(const std::string& name, const std::vector<std::int64_t>& steps) {
    RunData r = syn::run(name);
    for (const std::int64_t step : steps) {
        const double value = double(step) + 1;
        syn::add(r, "growth", step, {syn::vector("rms", {value, value, value})});
    }
    return r;
}

QStringList chipTexts(const Plot& plot) {
    QStringList texts;
    for (const Chip& chip : plot.chips) texts << chip.text;
    return texts;
}

const Curve* curve(const Plot& plot, const QString& name) {
    for (const Curve& c : plot.curves)
        if (c.name == name) return &c;
    return nullptr;
}

}  // namespace

class GrowthPanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void drawsOneCurvePerRunOverTheDepth() {
        const RunData a = grown("Pre-LN", 12, 1, 2, kNaN), b = grown("Post-LN", 12, 3, 1, kNaN);
        PanelInput input;
        input.runs = {&a, &b};
        input.exploring = true;
        const Figure f = buildGrowth(input);
        QCOMPARE(f.panel, "growth");
        QCOMPARE(f.title, "Growth");
        QCOMPARE(f.subtitle, "at step 0");
        QVERIFY(f.empty_text.isEmpty());
        QVERIFY(!f.side_by_side);
        QCOMPARE(f.plots.size(), 2u);
        const Plot& plot = f.plots.front();
        QCOMPARE(plot.y.scale, Scale::Log);
        QCOMPARE(plot.x.scale, Scale::Linear);
        QCOMPARE(plot.curves.size(), 2u);
        QCOMPARE(plot.curves[0].name, "Pre-LN");
        QCOMPARE(plot.curves[1].role.run, 1);
        QCOMPARE(plot.curves[0].kind, LineKind::Measured);
        QVERIFY(plot.curves[0].markers);
        QCOMPARE(plot.curves[0].x.size(), 25u);
        QCOMPARE(plot.curves[0].x[3], 1.5);
        QCOMPARE(plot.curves[0].x.back(), 12.0);
        QCOMPARE(plot.curves[0].y[3], 8.0);
        QCOMPARE(plot.curves[1].y[3], 3.0);
        QVERIFY(f.summary.contains("Pre-LN goes from 1 to 1.7×10⁷ at layer 12 (×1.7×10⁷)"));
    }

    void namesTicksAndDepths() {
        const RunData a = grown("A", 12, 1, 2, kNaN);
        PanelInput input;
        input.runs = {&a};
        const Figure f = buildGrowth(input);
        QCOMPARE(f.x_names.size(), 25);
        QCOMPARE(f.x_name_at.size(), 25u);
        QCOMPARE(f.x_names[0], "embedding");
        QCOMPARE(f.x_names[5], "layer 3 · attn");
        QCOMPARE(f.x_names[6], "layer 3 · ffn");
        QCOMPARE(f.x_name_at[6], 3.0);
        QStringList labels;
        for (const NamedTick& tick : f.plots[0].x.ticks)
            if (!tick.minor) labels << tick.label;
        QCOMPARE(labels, QStringList({"emb", "2", "4", "6", "8", "10", "12"}));
        QCOMPARE(f.plots[0].x.ticks.size(), 13u);
        QCOMPARE(f.plots.size(), 1u);  // one run: nothing to compare
    }

    void theStripShowsTheRatioAroundOne() {
        const RunData a = grown("A", 2, 1, 2, kNaN), b = grown("B", 2, 4, 1, kNaN);
        PanelInput input;
        input.runs = {&a, &b};
        const Figure f = buildGrowth(input);
        QCOMPARE(f.plots.size(), 2u);
        const Plot& strip = f.plots[1];
        QVERIFY(strip.height_share < 0.3);
        QCOMPARE(strip.y.scale, Scale::Log);
        QCOMPARE(strip.y.label, "B over A");
        QCOMPARE(strip.curves.size(), 1u);
        QCOMPARE(strip.curves[0].role.run, 1);
        QCOMPARE(strip.curves[0].y, std::vector<double>({4, 2, 1, 0.5, 0.25}));
        QCOMPARE(strip.references.size(), 1u);
        QCOMPARE(strip.references[0].value, 1.0);
        QVERIFY(strip.y.range.has_value());
        QVERIFY(std::abs(strip.y.range->first * strip.y.range->second - 1) < 1e-12);
        QVERIFY(strip.y.range->second > 4);
        QStringList ticks;
        for (const NamedTick& tick : strip.y.ticks) ticks << tick.label;
        QCOMPARE(ticks, QStringList({"0.5", "1", "2"}));
    }

    void runsOfDifferentDepthCompareWhereBothAre() {
        const RunData a = grown("A", 2, 1, 1, kNaN), b = grown("B", 4, 5, 1, kNaN);
        PanelInput input;
        input.runs = {&a, &b};
        const Figure f = buildGrowth(input);
        QCOMPARE(f.plots[0].curves[0].x.size(), 5u);
        QCOMPARE(f.plots[0].curves[1].x.size(), 9u);
        QCOMPARE(f.plots[1].curves[0].x.size(), 5u);
        QCOMPARE(f.plots[1].curves[0].x.back(), 2.0);
        QCOMPARE(f.x_names.size(), 9);
        QCOMPARE(f.plots[0].x.ticks.size(), 5u);
    }

    void nonFiniteValuesStayAndHaveNoRatio() {
        RunData a = grown("A", 2, 1, 1, kNaN);
        const RunData b = grown("B", 2, 2, 1, kNaN);
        a.probes["growth"][0].arrays[0].data = {1, kNaN, INFINITY, 0, 1};
        PanelInput input;
        input.runs = {&a, &b};
        const Figure f = buildGrowth(input);
        QVERIFY(std::isnan(f.plots[0].curves[0].y[1]));
        QVERIFY(std::isinf(f.plots[0].curves[0].y[2]));
        const auto& ratio = f.plots[1].curves[0].y;
        QCOMPARE(ratio[0], 2.0);
        for (const int i : {1, 2, 3}) QVERIFY(std::isnan(ratio[i]));
        QCOMPARE(ratio[4], 2.0);
        QVERIFY(std::isfinite(f.plots[1].y.range->second));
    }

    void aNearBoundIsACurve() {
        const RunData a = grown("A", 2, 1, 1, 5);
        PanelInput input;
        input.runs = {&a};
        input.options = {{"growth_class", "off"}};
        const Figure f = buildGrowth(input);
        const Curve* bound = curve(f.plots[0], "A bound");
        QVERIFY(bound);
        QCOMPARE(bound->kind, LineKind::Bound);
        QCOMPARE(bound->y, std::vector<double>(5, 5.0));
        QVERIFY(!bound->label_at_end);
        QVERIFY(f.plots[0].chips.empty());
        input.options = {{"bound", "off"}};
        QVERIFY(!curve(buildGrowth(input).plots[0], "A bound"));
        input.options = {{"quantity", "block_rms"}};
        QVERIFY(!curve(buildGrowth(input).plots[0], "A bound"));
    }

    void aFarBoundIsAChip() {
        const RunData a = grown("A", 2, 1, 1, 3e9);
        PanelInput input;
        input.runs = {&a};
        input.options = {{"growth_class", "off"}};
        const Figure f = buildGrowth(input);
        QCOMPARE(f.plots[0].curves.size(), 1u);
        QCOMPARE(chipTexts(f.plots[0]), QStringList{"bound 3×10⁹ ↑"});
        QCOMPARE(f.plots[0].chips[0].edge, Chip::Edge::TopRight);
        QCOMPARE(f.plots[0].chips[0].role->run, 0);
    }

    void aBoundIsCutWhereItLeavesTheView() {
        RunData a = grown("A", 2, 1, 1, 1);
        a.probes["growth"][0].arrays[4].data = {1, 9, 11, 100, kNaN};  // bound_ma
        PanelInput input;
        input.runs = {&a};
        input.options = {{"growth_class", "off"}};
        const Figure f = buildGrowth(input);
        const Curve* bound = curve(f.plots[0], "A bound");
        QVERIFY(bound);
        QCOMPARE(bound->y[1], 9.0);
        for (const int i : {2, 3, 4}) QVERIFY(std::isnan(bound->y[i]));
        QCOMPARE(chipTexts(f.plots[0]), QStringList{"bound 10² ↑"});
    }

    void normalisesByTheEmbedding() {
        const RunData a = grown("A", 2, 4, 2, 2);
        PanelInput input;
        input.runs = {&a};
        input.options = {{"normalise", "x0"}};
        const Figure f = buildGrowth(input);
        QCOMPARE(f.plots[0].curves[0].y, std::vector<double>({1, 2, 4, 8, 16}));
        QCOMPARE(curve(f.plots[0], "A bound")->y, std::vector<double>({2, 4, 8, 16, 32}));
        QVERIFY(f.quantity.contains("relative to the embedding"));
        RunData zero = grown("Z", 2, 0, 1, kNaN);
        input.runs = {&zero};
        const Figure undefined = buildGrowth(input);
        for (const double y : undefined.plots[0].curves[0].y) QVERIFY(std::isnan(y));
    }

    void wordsOfOlderSessionsAreUnderstood() {
        const RunData a = grown("A", 2, 4, 2, 2);
        PanelInput input;
        input.runs = {&a};
        input.options = {{"normalise", "x0"}, {"bound", "on"}};
        const Figure old = buildGrowth(input);
        input.options = {{"normalise", "on"}, {"bound", "sharp"}};
        const Figure now = buildGrowth(input);
        QCOMPARE(old.plots[0].curves[0].y, now.plots[0].curves[0].y);
        QCOMPARE(curve(old.plots[0], "A bound")->y, curve(now.plots[0], "A bound")->y);
        input.options = {{"bound", "x0"}};
        QVERIFY_THROWS_EXCEPTION(InputError, buildGrowth(input));
    }

    void theLooserBoundAndTheEstimate() {
        RunData a = syn::run("A");
        syn::add(a, "growth", 0,
                 {syn::vector("rms", {1, 1, 1}), syn::vector("ma", {1, 1, 1}), syn::vector("var", {1, 1, 1}),
                  syn::vector("bound_ma", {1, 2, 3}), syn::vector("bound_var", {1.5, 6, 9}),
                  syn::vector("bound_uniform_ma", {1, 2, 2.5}), syn::vector("gpas_estimate", {1, 2, 4})});
        PanelInput input;
        input.runs = {&a};
        QVERIFY(!curve(buildGrowth(input).plots[0], "A GPAS estimate"));
        input.options = {{"bound", "uniform"}};
        QCOMPARE(curve(buildGrowth(input).plots[0], "A bound")->y, std::vector<double>({1, 2, 2.5}));
        input.options = {{"bound", "uniform"}, {"quantity", "var"}};
        const Figure f = buildGrowth(input);
        QCOMPARE(curve(f.plots[0], "A bound")->y, std::vector<double>({1.5, 6, 9.375}));
        QCOMPARE(curve(f.plots[0], "A GPAS estimate")->y, std::vector<double>({1, 2, 4}));
        QVERIFY(f.formula.contains("is not a bound") && f.source.contains("GPAS, eq. 16"));
        // Where no output norm bounds anything, the form of input norms.
        a.probes["growth"][0].arrays[5].data = {kNaN, kNaN, kNaN};
        a.probes["growth"][0].arrays.push_back(syn::vector("bound_product_ma", {1, 2, 6}));
        input.options = {{"bound", "uniform"}};
        QCOMPARE(curve(buildGrowth(input).plots[0], "A bound")->y, std::vector<double>({1, 2, 6}));
        input.options = {{"bound", "uniform"}, {"quantity", "var"}};
        QCOMPARE(curve(buildGrowth(input).plots[0], "A bound")->y[1], 4 * 1.5);
        input.options = {{"estimate", "off"}, {"quantity", "var"}};
        QVERIFY(!curve(buildGrowth(input).plots[0], "A GPAS estimate"));
    }

    void statesTheClassOfGrowth() {
        const auto grow = [](const std::string& name, int depth, const std::function<double(int)>& at) {
            RunData r = syn::run(name);
            syn::add(r, "growth", 0, {syn::vector("rms", syn::values(2 * depth + 1, at))});
            return r;
        };
        // Every second state is a layer's; those in between are ignored.
        const RunData root = grow("Root", 12, [](int k) { return k % 2 ? 7.0 : std::sqrt(1 + k); }),
                      line = grow("Line", 12, [](int k) { return 1 + 0.5 * k; }),
                      rise = grow("Rise", 12, [](int k) { return std::exp(0.2 * k); }),
                      flat = grow("Flat", 12, [](int) { return 2.0; }),
                      small = grow("Small", 7, [](int) { return 2.0; }),
                      bad = grow("Bad", 12, [](int k) { return k == 4 ? kNaN : 1.0; }),
                      either = grow("Either", 9, [](int k) { return 1 + 0.02 * k + 0.06 * ((k / 2) % 3); });
        PanelInput input;
        input.runs = {&root, &line, &rise, &flat, &small, &bad, &either};
        input.ghosts = {&line};
        const Figure f = buildGrowth(input);
        const QStringList texts = chipTexts(f.plots[0]);
        QCOMPARE(texts.size(), 6);
        QCOMPARE(texts[0], "Root: ~√ℓ");
        QCOMPARE(texts[1], "Line: ~ℓ");
        QCOMPARE(texts[2], "Rise: ~exp(rℓ), r 0.4");
        QCOMPARE(texts[3], "Flat: ~constant");
        QCOMPARE(texts[4], "Small: fewer than 8 layers");
        QVERIFY2(texts[5].startsWith("Either: undecided between "), qPrintable(texts[5]));
        QCOMPARE(f.plots[0].chips[0].role->run, 0);
        const RunData low = grow("Low", 3, [](int) { return 2.0; });
        PanelInput shallow;
        shallow.runs = {&small, &low};
        QCOMPARE(chipTexts(buildGrowth(shallow).plots[0]),
                 QStringList{"No class of growth: fewer than 8 layers"});
        shallow.runs = {&small, &flat};
        QCOMPARE(chipTexts(buildGrowth(shallow).plots[0]).value(0), "Small: fewer than 8 layers");
        QVERIFY(f.formula.contains("AICc") && f.summary.contains("Flat: ~constant"));
        // Mostly linear: b·ℓ rises to 11.25, c·ℓ² to 3.75.
        const RunData bent = grow("Bent", 12, [](int k) { return 1 + 0.46875 * k + 3.75 / 576 * k * k; });
        input.runs = {&bent};
        const QString both = chipTexts(buildGrowth(input).plots[0]).value(0);
        QCOMPARE(both, "Bent: ~ℓ² (25 % of the rise is ℓ²)");
        input.runs = {&root, &line};
        input.options = {{"growth_class", "off"}};
        QVERIFY(chipTexts(buildGrowth(input).plots[0]).isEmpty());
    }

    void everyQuantityReadsItsArray() {
        RunData a = syn::run("A");
        syn::add(a, "growth", 0,
                 {syn::vector("rms", {1, 1, 1}), syn::vector("ma", {2, 2, 2}), syn::vector("var", {3, 3, 3}),
                  syn::vector("block_rms", {4, 4, 4}), syn::vector("bound_ma", {5, 5, 5}),
                  syn::vector("bound_var", {6, 6, 6})});
        PanelInput input;
        input.runs = {&a};
        const std::vector<std::tuple<std::string, double, double>> cases = {
            {"rms", 1, 5}, {"ma", 2, 5}, {"var", 3, 6}, {"block_rms", 4, 0}};
        for (const auto& [quantity, value, bound] : cases) {
            input.options = {{"quantity", quantity}};
            const Figure f = buildGrowth(input);
            QCOMPARE(f.plots[0].curves[0].y[1], value);
            const Curve* b = curve(f.plots[0], "A bound");
            QCOMPARE(b ? b->y[1] : 0, bound);
            QVERIFY(!f.quantity.isEmpty() && !f.formula.isEmpty() && !f.source.isEmpty());
        }
    }

    void aScrubbedStepShowsTheNearestSampleWithItsAge() {
        RunData a = sampled("A", {0, 18, 20, 30}), b = sampled("B", {0, 18, 30});
        for (RunData* run : {&a, &b})
            for (std::int64_t step = 0; step <= 40; ++step) run->steps.append({step, {{"loss", 1}}});
        PanelInput input;
        input.runs = {&a, &b};
        input.step = 20;
        Figure f = buildPanel("growth", input);
        QCOMPARE(f.subtitle, "at step 20 (B: 18)");
        QCOMPARE(f.plots.size(), 1u);  // no ratio to a step that was not measured
        QCOMPARE(f.plots[0].curves.size(), 2u);
        QCOMPARE(f.plots[0].curves[0].y[0], 21.0);
        QCOMPARE(*f.plots[0].curves[0].step, 20);
        QVERIFY(!f.plots[0].curves[0].aged && f.plots[0].curves[1].aged);
        QCOMPARE(chipTexts(f.plots[0]),
                 QStringList({"No class of growth: fewer than 8 layers", "B of step 18, 2 steps earlier"}));
        QCOMPARE(f.plots[0].chips.back().role->run, 1);
        QCOMPARE(f.unmeasured, std::optional<std::int64_t>(20));
        input.step = 29;  // both at 30: those are comparable
        f = buildPanel("growth", input);
        QCOMPARE(f.subtitle, "at step 30");
        QCOMPARE(f.plots.size(), 2u);
        for (const Plot& plot : f.plots)
            for (const Curve& curve : plot.curves) QVERIFY(curve.aged);
        QCOMPARE(chipTexts(f.plots[0]).back(), "of step 30, 1 step later");
        QVERIFY(f.summary.endsWith(". Not measured at step 29"));
        input.step = 19;  // as near to both: the earlier one
        QCOMPARE(*buildPanel("growth", input).plots[0].curves[0].step, 18);
        input.step = 18;
        f = buildPanel("growth", input);
        QCOMPARE(f.plots.size(), 2u);
        QCOMPARE(f.plots[1].curves[0].y[0], 1.0);
        QCOMPARE(*f.plots[1].curves[0].step, 18);
        QVERIFY(!f.unmeasured && !f.plots[0].curves[0].aged);
        input.exploring = true;
        f = buildPanel("growth", input);
        QCOMPARE(f.subtitle, "at step 0");
        QCOMPARE(f.plots[0].curves[0].y[0], 1.0);
        QVERIFY(!f.unmeasured);
    }

    void followingTheNewestIsTheNewestStepThatBothHave() {
        const RunData a = sampled("A", {0, 8, 20, 30}), b = sampled("B", {0, 8, 20});
        PanelInput input;
        input.runs = {&a, &b};
        Figure f = buildGrowth(input);
        QCOMPARE(f.subtitle, "at step 20");
        QCOMPARE(f.plots[0].curves[0].y[0], 21.0);
        QCOMPARE(f.plots[0].curves[1].y[0], 21.0);
        QCOMPARE(f.plots.size(), 2u);

        const RunData odd = sampled("Odd", {1, 19});  // none shared: each its own, named, and not divided
        input.runs = {&a, &odd};
        f = buildGrowth(input);
        QCOMPARE(f.subtitle, "at step 30 (Odd: 19)");
        QCOMPARE(f.plots[0].curves[0].y[0], 31.0);
        QCOMPARE(f.plots[0].curves[1].y[0], 20.0);
        QCOMPARE(f.plots.size(), 1u);

        // Long names would not fit into the line.
        const RunData fork = sampled("Post-LN Δt 0.4082, fork at 175", {3, 17}),
                      late = sampled("Late", {2, 44});
        input.runs = {&a, &fork, &late};
        QCOMPARE(buildGrowth(input).subtitle, "at steps 17 to 44");
    }

    void aRunThatEndedEarlyKeepsItsLastSampleWithoutARatio() {
        RunData a = sampled("A", {0, 8, 20, 30}), b = sampled("B", {0, 8, 12}), c = sampled("C", {0, 8, 20});
        const auto recorded = [](RunData& r, std::int64_t last) {
            for (std::int64_t step = 0; step <= last; ++step) r.steps.append({step, {{"loss", 1}}});
        };
        recorded(a, 31);
        recorded(b, 12);
        recorded(c, 29);
        b.outcome = {RunState::Diverged, 12, "", 0};
        c.outcome.state = RunState::Running;  // lags one step, as the run that trains next
        PanelInput input;
        input.runs = {&a, &b, &c};
        Figure f = buildGrowth(input);
        QCOMPARE(f.subtitle, "at step 20 (B: 12)");
        QCOMPARE(f.plots[0].curves[1].y[0], 13.0);
        QCOMPARE(f.plots.size(), 2u);
        QCOMPARE(f.plots[1].curves.size(), 1u);
        QCOMPARE(f.plots[1].curves[0].name, "C over A");
        input.step = 30;
        f = buildPanel("growth", input);
        QVERIFY(chipTexts(f.plots[0]).contains("B ended at step 12"));
        QVERIFY(!f.plots[0].curves[0].aged && f.plots[0].curves[1].aged);
        QCOMPARE(f.unmeasured, std::nullopt);  // C has no step 30, B neither

        // A run that has not begun does not keep the others at step 0.
        const RunData fresh = sampled("Fresh", {0});
        input = {};
        input.runs = {&a, &fresh};
        f = buildGrowth(input);
        QCOMPARE(f.subtitle, "at step 30 (Fresh: 0)");
        QCOMPARE(f.plots.size(), 1u);
    }

    void theErrorOfAnAverageIsABandWhereItExceedsTheLine() {
        RunData a = syn::run("A"), b = syn::run("B");
        syn::add(a, "growth", 0,
                 {syn::vector("rms", {1, 2, 4}), syn::vector("rms_error", {0.1, 0.001, 0.4})});
        syn::add(b, "growth", 0,
                 {syn::vector("rms", {1, 2, 4}), syn::vector("rms_error", {1e-4, 1e-4, 1e-4})});
        PanelInput input;
        input.runs = {&a, &b};
        Figure f = buildGrowth(input);
        const Plot& plot = f.plots[0];
        QCOMPARE(plot.curves[0].y_error, std::vector<double>({0.1, 0.001, 0.4}));
        QCOMPARE(plot.curves[1].y_error, std::vector<double>(3, 1e-4));
        QCOMPARE(plot.bands.size(), 1u);  // B's is thinner than its line
        QVERIFY(plot.bands[0].is_error);
        QCOMPARE(plot.bands[0].role.run, 0);
        QCOMPARE(plot.bands[0].low[0], std::exp(-0.1));
        QCOMPARE(plot.bands[0].high[0], std::exp(0.1));
        input.options = {{"normalise", "x0"}};  // the error of a ratio is another one
        f = buildGrowth(input);
        QVERIFY(f.plots[0].bands.empty() && f.plots[0].curves[0].y_error.empty());
    }

    void ghostsPreviewsAndDrafts() {
        const RunData a = grown("A", 2, 1, 1, kNaN), old = grown("old", 2, 2, 1, kNaN),
                      deeper = grown("deeper", 3, 3, 1, kNaN);
        PanelInput input;
        input.runs = {&a};
        input.ghosts = {&old};
        input.previews = {&deeper};
        input.draft = {true};
        const Figure f = buildGrowth(input);
        const auto& curves = f.plots[0].curves;
        QCOMPARE(curves.size(), 3u);
        QCOMPARE(curves[0].kind, LineKind::Ghost);
        QCOMPARE(curves[1].kind, LineKind::Preview);
        QCOMPARE(curves[2].kind, LineKind::Draft);
        QCOMPARE(curves[2].name, "A");
        QVERIFY(curves[2].label_at_end && !curves[0].label_at_end && !curves[1].label_at_end);
        QCOMPARE(f.plots.size(), 1u);  // a ghost is not a second run
    }

    void missingProbesStateWhy() {
        const RunData a = grown("A", 2, 1, 1, kNaN, 10), bare = syn::run("Bare");
        PanelInput input;
        input.runs = {&bare};
        Figure f = buildGrowth(input);
        QVERIFY(f.plots.empty());
        QCOMPARE(f.empty_text, "Bare: not measured yet, M measures it at this step");
        input.runs = {&a};
        input.step = 5;
        QCOMPARE(*buildGrowth(input).plots[0].curves[0].step, 10);
        input.step = 10;
        input.runs = {&a, &bare};
        f = buildGrowth(input);
        QVERIFY(f.empty_text.isEmpty());
        QCOMPARE(f.plots[0].curves.size(), 1u);
        QVERIFY(chipTexts(f.plots[0]).contains("Bare: not measured yet, M measures it at this step"));
        input.runs = {};
        QCOMPARE(buildGrowth(input).empty_text, "No run to show");
    }

    void foreignShapesAreIgnored() {
        RunData even = syn::run("even"), hollow = syn::run("hollow");
        syn::add(even, "growth", 0, {syn::vector("rms", {1, 2})});
        syn::add(hollow, "growth", 0, {syn::array("rms", {5}, {1, 2, 3})});
        PanelInput input;
        for (const RunData* r : {&even, &hollow}) {
            input.runs = {r};
            QVERIFY(buildGrowth(input).empty_text.contains("lacks this quantity"));
        }
    }

    void aDivergedRunMarksItsFirstBadLayer() {
        RunData a = grown("A", 8, 1, 1, kNaN, 0);
        a.outcome = {RunState::Diverged, 212, "step 212 · L7 ffn.w2 · inf", 6};
        PanelInput input;
        input.runs = {&a};
        const Figure f = buildGrowth(input);
        QCOMPARE(f.plots[0].frame_marks.size(), 1u);
        QCOMPARE(f.plots[0].frame_marks[0].x, 7.0);
        QCOMPARE(f.plots[0].frame_marks[0].glyph, "▲");
        syn::add(a, "growth", 211, {syn::vector("rms", std::vector<double>(17, 1.0))});
        input.step = 211;
        QVERIFY(buildGrowth(input).plots[0].frame_marks.empty());
    }

    void overTheStepsLayersAreASequentialMap() {
        RunData a = grown("A", 12, 1, 2, kNaN, 0), b = grown("B", 2, 1, 1, kNaN, 0);
        const auto sample = a.probes["growth"][0];
        a.probes["growth"].push_back(sample);
        a.probes["growth"][1].step = 50;
        PanelInput input;
        input.runs = {&a, &b};
        input.options = {{"x", "step"}};
        input.selected_layer = 2;
        const Figure f = buildGrowth(input);
        QVERIFY(f.side_by_side);
        QCOMPARE(f.plots.size(), 2u);
        QCOMPARE(f.plots[0].heading, "A");
        QCOMPARE(f.plots[0].curves.size(), 25u);
        const Curve& c = f.plots[0].curves[6];
        QCOMPARE(c.name, "layer 3 · ffn");
        QCOMPARE(c.role.kind, widgets::Role::Kind::Sequential);
        QCOMPARE(c.role.position, 0.25);
        QCOMPARE(c.x, std::vector<double>({0, 50}));
        QCOMPARE(c.y, std::vector<double>({64, 64}));
        QStringList labelled;
        for (const Curve& layer : f.plots[0].curves)
            if (layer.label_at_end) labelled << layer.name;
        QCOMPARE(labelled, QStringList({"embedding", "layer 3 · ffn", "layer 6 · ffn", "layer 12 · ffn"}));
    }

    void deepStacksAreThinnedOverTheSteps() {
        const RunData a = grown("A", 100, 1, 1, kNaN);
        PanelInput input;
        input.runs = {&a};
        input.options = {{"x", "step"}};
        const Figure f = buildGrowth(input);
        QVERIFY(f.plots[0].curves.size() <= 65u);
        QCOMPARE(f.plots[0].curves.back().name, "layer 100 · ffn");
        QCOMPARE(chipTexts(f.plots[0]), QStringList{"1 in 4 sub-layers"});
        int labelled = 0;
        for (const Curve& c : f.plots[0].curves) labelled += c.label_at_end;
        QCOMPARE(labelled, 3);
    }

    void unknownOptionsNameTheAllowedOnes() {
        PanelInput input;
        input.options = {{"quantity", "median"}};
        try {
            buildGrowth(input);
            QFAIL("accepted");
        } catch (const InputError& e) {
            QCOMPARE(QString(e.what()),
                     "panel growth, option quantity: unknown value 'median', allowed: rms, ma, "
                     "var, block_rms");
        }
        input.options = {{"colour", "red"}};
        QVERIFY_THROWS_EXCEPTION(InputError, buildGrowth(input));
    }
};

NORMSCOPE_TEST(GrowthPanelTest)
#include "growth_panel_test.moc"
