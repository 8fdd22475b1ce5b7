// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/jacobian_panel.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"
#include "widgets/figures/panels/panel_registry.h"
#include "widgets/plots/figure_layout.h"

#include <QtTest>
#include <algorithm>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

/// Two layers, d = 5: σ = 5, 4, 3, 2, 1 in layer 1, 10 times that in layer 2; the last `nulls` of each are
/// round-off, counted as exact nulls.
RunData withSpectra(const std::string& name, int nulls, std::vector<double> branch_norm, double dust = 1e-17,
                    const char* recipe = "{}") {
    RunData r = syn::run(name, recipe);
    const auto rows = [&](int count) {
        return syn::values(5 * count, [&](int i) {
            const int j = i % 5;
            return j >= 5 - nulls ? dust : (5 - j) * (i < 5 ? 1.0 : 10.0);
        });
    };
    syn::add(r, "jacobian", 0,
             {syn::array("layer_sv", {2, 5}, rows(2)), syn::array("sublayer_sv", {4, 5}, rows(4)),
              syn::vector("end_to_end_sv", rows(1)), syn::vector("branch_norm", std::move(branch_norm)),
              syn::vector("exact_nulls", std::vector<double>(4, nulls)),
              syn::vector("layer_exact_nulls", std::vector<double>(2, nulls)),
              syn::array("end_to_end_exact_nulls", {}, {double(nulls)})});
    return r;
}

std::vector<NamedArray>& arraysOf(RunData& run) {
    return run.probes["jacobian"][0].arrays;
}

const Curve* bound(const Plot& plot) {
    for (const Curve& c : plot.curves)
        if (c.kind == LineKind::Bound) return &c;
    return nullptr;
}

}  // namespace

class JacobianPanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void theFanHoldsTheQuantiles() {
        const RunData a = withSpectra("A", 0, {2, 2, 2, 2});
        PanelInput input;
        input.runs = {&a};
        const Figure f = buildJacobian(input);
        QCOMPARE(f.plots.size(), 1u);
        const Plot& plot = f.plots[0];
        QCOMPARE(plot.y.scale, Scale::Log);
        QCOMPARE(plot.bands.size(), 2u);
        QCOMPARE(plot.bands[0].x, std::vector<double>({1, 2}));
        QCOMPARE(plot.bands[0].low, std::vector<double>({1, 10}));
        QCOMPARE(plot.bands[0].high, std::vector<double>({5, 50}));
        QVERIFY(std::abs(plot.bands[1].low[0] - 1.2) < 1e-12);   // 5 % of 1 … 5
        QVERIFY(std::abs(plot.bands[1].high[0] - 4.8) < 1e-12);  // 95 %
        QCOMPARE(plot.curves[0].y, std::vector<double>({3, 30}));
        QCOMPARE(plot.references[0].value, 1.0);
        QCOMPARE(plot.lane_label, "0");
        QVERIFY(plot.frame_marks.empty());
        QCOMPARE(f.x_names.front(), "layer 1 · attn");
    }

    void exactNullsAreCountedNotDrawn() {
        const RunData a = withSpectra("A", 0, {2, 2, 2, 2}),
                      b = withSpectra("B", 2, {kNaN, kNaN, kNaN, kNaN});
        PanelInput input;
        input.runs = {&a, &b};
        const Figure f = buildJacobian(input);
        QCOMPARE(f.plots.size(), 2u);  // side by side, each with its own counts
        QVERIFY(f.side_by_side && f.shared_axes);
        QVERIFY(f.plots[0].frame_marks.empty());
        const Plot& plot = f.plots[1];
        QCOMPARE(plot.frame_marks.size(), 2u);
        for (int i = 0; i < 2; ++i) {
            QCOMPARE(plot.frame_marks[i].glyph, "2");
            QCOMPARE(plot.frame_marks[i].role.run, 1);
            QVERIFY(std::abs(plot.frame_marks[i].x - (i + 1)) < 0.2);
        }
        QCOMPARE(plot.bands[0].low, std::vector<double>({3, 30}));  // B: 3, 4, 5 remain
        QCOMPARE(plot.curves[0].y, std::vector<double>({4, 40}));
        QVERIFY(f.summary.contains("B: σ from 3 to 50, 4 exact nulls"));
    }

    /// One fan a run, each with its own row of counts; what the grid omits is counted.
    void eachFanOfAGridHasItsCounts() {
        std::vector<RunData> runs;
        for (int i = 0; i < 30; ++i) runs.push_back(withSpectra("r" + std::to_string(i), 2, {2, 2, 2, 2}));
        PanelInput input;
        for (const RunData& run : runs) input.runs.push_back(&run);
        const Figure f = buildPanel("jacobian", input);
        QCOMPARE(f.plots.size(), 24u);
        for (const Plot& plot : f.plots) {
            QCOMPARE(plot.frame_marks.size(), 2u);
            QVERIFY(plot.chips.empty());
        }
        QVERIFY(std::any_of(f.notes.begin(), f.notes.end(),
                            [](const Note& note) { return note.text == "the first 24 of 30 plots"; }));
    }

    /// Nulls are those counted by the probe, for any value and precision.
    void nullsAreTheProbesCount() {
        for (const char* recipe : {R"({"precision": "fp64"})", R"({"precision": "bf16"})"}) {
            RunData a = withSpectra("A", 1, {2, 2, 2, 2}, 5e-8, recipe);
            PanelInput input;
            input.runs = {&a};
            QCOMPARE(buildJacobian(input).plots[0].frame_marks.size(), 2u);
            for (NamedArray& array : a.probes["jacobian"][0].arrays)
                if (array.name == "layer_exact_nulls") array.data = {0, 0};
            const Figure none = buildJacobian(input);
            QVERIFY(none.plots[0].frame_marks.empty());
            QCOMPARE(none.plots[0].bands[0].low[0], 5e-8);
        }
    }

    void epsilonDirectionsAndWhatIsBelowTheResolution() {
        RunData a = withSpectra("A", 1, {2, 2, 2, 2});
        arraysOf(a).push_back(syn::vector("epsilon_directions", {1, 0, 1, 0}));
        arraysOf(a).push_back(syn::vector("below_resolution", {0, 1, 0, 0}));
        PanelInput input;
        input.runs = {&a};
        input.options = {{"map", "sublayers"}};
        const Figure f = buildJacobian(input);
        QStringList glyphs;
        for (const auto& mark : f.plots[0].frame_marks) glyphs << mark.glyph;
        QCOMPARE(glyphs, QStringList({"1ε", "1–2", "1ε", "1"}));
        QVERIFY(f.summary.contains("4 exact nulls, 2 ε-directions, 1 below float64's resolution"));
        QCOMPARE(f.plots[0].bands[0].low, std::vector<double>({2, 30, 20, 20}));
    }

    void olderRecordingsStateNotCounted() {
        RunData a = withSpectra("A", 2, {2, 2, 2, 2});
        arraysOf(a).resize(4);
        PanelInput input;
        input.runs = {&a};
        for (const char* view : {"fan", "ridges", "end_to_end"}) {
            input.options = {{"view", view}};
            const Figure f = buildJacobian(input);
            QVERIFY(f.plots[0].frame_marks.empty());
            QVERIFY(f.plots[0].chips.front().text.contains("nulls not counted"));
        }
    }

    void theMapIsNamed() {
        RunData a = withSpectra("A", 0, {2, 2, 2, 2});
        auto& sample = a.probes["jacobian"][0];
        sample.labels = {{"block", {"last token, sequence 1 of 8"}},
                         {"full_map", {"first 2 of 4 tokens"}},
                         {"positions", {"2", "4"}},
                         {"mean", {"mean over tokens 2, 4 of sequence 1 of 8"}}};
        const auto four = [](double first) { return std::vector<double>{first, 2, 3, 4}; };
        auto& arrays = arraysOf(a);
        arrays.push_back(syn::vector("full_top", four(9)));
        arrays.push_back(syn::vector("full_top_error", four(0.5)));
        arrays.push_back(syn::vector("full_bottom", {0.5, 0, 0.1, 0.1}));
        arrays.push_back(syn::vector("full_bottom_error", {0.1, 0, 0.1, 0.1}));
        arrays.push_back(syn::vector("full_end_to_end", {60, 0.004}));
        arrays.push_back(syn::vector("full_end_to_end_error", {0.5, 0.004}));
        arrays.push_back(
            syn::array("position_sv", {4, 2, 5}, syn::values(40, [](int i) { return 40.0 - i; })));
        arrays.push_back(syn::array("mean_sv", {4, 5}, syn::values(20, [](int i) { return 20.0 - i; })));
        PanelInput input;
        input.runs = {&a};
        QVERIFY(buildJacobian(input).subtitle.endsWith("last token, sequence 1 of 8"));
        QCOMPARE(buildJacobian(input).plots[0].y.label, "singular value σ, block of a token");

        input.options = {{"block", "full"}};
        const Figure full = buildJacobian(input);
        QVERIFY(full.subtitle.endsWith("full map, first 2 of 4 tokens"));
        const Plot& plot = full.plots[0];
        QCOMPARE(plot.curves[0].y, four(9));
        QCOMPARE(plot.bands[0].low[0], 8.5);
        QCOMPARE(plot.bands[0].high[0], 9.5);
        QCOMPARE(plot.curves[1].y, std::vector<double>({0.5, 0.1, 0.1}));  // 0 is drawn in the lane
        QCOMPARE(plot.frame_marks.size(), 1u);
        QVERIFY(std::isnan(plot.bands[1].low[2]));  // a bar down to 0 cannot be drawn on the axis
        QCOMPARE(plot.chips[0].text, "A end to end σ₁ = 60 ± 0.5, σ_min ≤ 0.004");

        input.options = {{"block", "positions"}};
        const Figure positions = buildJacobian(input);
        QCOMPARE(positions.plots[0].curves.size(), 2u);
        QCOMPARE(positions.plots[0].curves[1].name, "A token 4");
        QCOMPARE(positions.plots[0].curves[1].y, std::vector<double>({35, 25, 15, 5}));
        input.options = {{"block", "mean"}};
        QVERIFY(buildJacobian(input).subtitle.endsWith("mean over tokens 2, 4 of sequence 1 of 8"));
        QCOMPARE(buildJacobian(input).plots[0].curves[0].y, std::vector<double>({18, 13, 8, 3}));
    }

    void nonFiniteRowsAreGaps() {
        RunData a = withSpectra("A", 0, {2, 2, 2, 2});
        for (int i = 0; i < 5; ++i) a.probes["jacobian"][0].arrays[0].data[i] = kNaN;
        PanelInput input;
        input.runs = {&a};
        const Plot plot = buildJacobian(input).plots[0];
        QVERIFY(std::isnan(plot.curves[0].y[0]) && std::isnan(plot.bands[0].low[0]));
        QCOMPARE(plot.curves[0].y[1], 30.0);
    }

    void singleNonFiniteValuesAreSkipped() {
        RunData a = withSpectra("A", 0, {2, 2, 2, 2});
        auto& sigma = a.probes["jacobian"][0].arrays[0].data;
        sigma[0] = INFINITY;
        sigma[3] = kNaN;  // 4, 3 and 1 remain in layer 1
        PanelInput input;
        input.runs = {&a};
        const Plot plot = buildJacobian(input).plots[0];
        QCOMPARE(plot.bands[0].low[0], 1.0);
        QCOMPARE(plot.bands[0].high[0], 4.0);
        QCOMPARE(plot.curves[0].y[0], 3.0);
        QVERIFY(plot.frame_marks.empty());
    }

    void theBoundIsDrawnWhereItIsNotVacuous() {
        const RunData a = withSpectra("A", 0, {0.5, 0.2, 1.5, 0.1});
        PanelInput input;
        input.runs = {&a};
        const Figure layers = buildJacobian(input);
        QVERIFY(bound(layers.plots[0]));
        QCOMPARE(bound(layers.plots[0])->y[0], 0.4);
        QVERIFY(std::isnan(bound(layers.plots[0])->y[1]));
        input.options = {{"map", "sublayers"}};
        const Figure sublayers = buildJacobian(input);
        QCOMPARE(sublayers.plots[0].curves[0].x, std::vector<double>({0.5, 1, 1.5, 2}));
        const Curve* b = bound(sublayers.plots[0]);
        QCOMPARE(b->x, std::vector<double>({0.5, 1, 1.5, 2}));
        QCOMPARE(b->y[0], 0.5);
        QCOMPARE(b->y[1], 0.8);
        QVERIFY(std::isnan(b->y[2]));
        QCOMPARE(b->y[3], 0.9);
        input.options = {{"bound", "off"}};
        QVERIFY(!bound(buildJacobian(input).plots[0]));
    }

    void theBoundIsOmittedWhereTheTheoremDoesNotApply() {
        PanelInput input;
        const std::vector<double> small = {0.5, 0.2, 0.5, 0.1};
        for (const char* recipe : {R"({"stack": {"causal": false}})", R"({"stack": {"layout": "parallel"}})",
                                   R"({"stack": {"gpas": {"enabled": true}}})",
                                   R"({"stack": {"layers": [{"index": 0, "attn": {"a": 2}}]}})"}) {
            const RunData a = withSpectra("A", 0, small, 0, recipe);
            input.runs = {&a};
            QVERIFY2(!bound(buildJacobian(input).plots[0]), recipe);
        }
        const RunData post = withSpectra("A", 0, {kNaN, kNaN, kNaN, kNaN}),
                      large = withSpectra("A", 0, {1, 2, 3, 4});
        for (const RunData* r : {&post, &large}) {
            input.runs = {r};
            QVERIFY(!bound(buildJacobian(input).plots[0]));
        }
    }

    void endToEndIsDescendingOverTheIndex() {
        const RunData a = withSpectra("A", 2, {0.5, 0.5, 0.5, 0.5});
        PanelInput input;
        input.runs = {&a};
        input.options = {{"view", "end_to_end"}};
        const Figure f = buildJacobian(input);
        const Plot& plot = f.plots[0];
        QCOMPARE(plot.curves.size(), 1u);
        QCOMPARE(plot.curves[0].x, std::vector<double>({1, 2, 3}));
        QCOMPARE(plot.curves[0].y, std::vector<double>({5, 4, 3}));
        QCOMPARE(plot.frame_marks.size(), 1u);
        QCOMPARE(plot.frame_marks[0].x, 4.0);
        QCOMPARE(plot.frame_marks[0].glyph, "2");
        QCOMPARE(plot.chips.size(), 1u);
        QCOMPARE(plot.chips[0].text, "A σ_min ≥ 0.063 (last token's block)");
    }

    void ridgesShareOneAxis() {
        const RunData a = withSpectra("A", 0, {2, 2, 2, 2}), b = withSpectra("B", 2, {2, 2, 2, 2});
        PanelInput input;
        input.runs = {&a, &b};
        input.options = {{"view", "ridges"}};
        const Figure f = buildJacobian(input);
        QVERIFY(f.side_by_side);
        QCOMPARE(f.plots.size(), 2u);
        QCOMPARE(*f.plots[0].x.range, *f.plots[1].x.range);
        QVERIFY(f.plots[0].x.range->first < 1 && f.plots[0].x.range->second > 50);
        QCOMPARE(f.plots[0].bands.size(), 2u);
        const Band& ridge = f.plots[0].bands[1];
        QCOMPARE(ridge.name, "layer 2");
        QCOMPARE(f.plots[0].y.ticks.front().label, "1");
        double mass = 0;
        for (std::size_t i = 0; i < ridge.x.size(); ++i) {
            QCOMPARE(ridge.low[i], 2.0);
            QVERIFY(ridge.high[i] < 3);
            mass += ridge.high[i] - 2;
        }
        double mass_b = 0;
        for (std::size_t i = 0; i < ridge.x.size(); ++i) mass_b += f.plots[1].bands[1].high[i] - 2;
        QVERIFY(std::abs(mass_b / mass - 3.0 / 5) < 1e-9);  // three of five values are left
        QCOMPARE(f.plots[1].chips[0].text, "4 exact nulls");
    }

    void aMissingProbeHasAReason() {
        const RunData a = syn::run("A");
        PanelInput input;
        input.runs = {&a};
        for (const char* view : {"fan", "ridges", "end_to_end"}) {
            input.options = {{"view", view}};
            QCOMPARE(buildJacobian(input).empty_text, "A: not measured yet, M measures it at this step");
        }
    }

    /// Three runs and more have a plot each: every count is under its own layer, and covers no other.
    void everyCountIsUnderItsLayer() {
        constexpr int kLayers = 12, kRuns = 5;
        std::vector<RunData> runs;
        for (int r = 0; r < kRuns; ++r) {
            RunData run = syn::run(QString("run %1").arg(r).toStdString());
            const auto sv = syn::values(5 * kLayers, [](int i) { return 6.0 - i % 5; });
            syn::add(run, "jacobian", 0,
                     {syn::array("layer_sv", {kLayers, 5}, sv),
                      syn::vector("layer_exact_nulls", std::vector<double>(kLayers, r + 1))});
            runs.push_back(std::move(run));
        }
        PanelInput input;
        for (const RunData& run : runs) input.runs.push_back(&run);
        const Figure f = buildJacobian(input);
        const RenderStyle style = screenStyle(Theme::make(Theme::Kind::Light));
        const FigureLayout drawn = layoutFigure(f, {560, 330}, style);
        QCOMPARE(drawn.plots.size(), std::size_t(kRuns));
        std::vector<QRectF> rects;
        for (int r = 0; r < kRuns; ++r) {
            const PlotLayout& plot = drawn.plots[std::size_t(r)];
            for (int layer = 1; layer <= kLayers; ++layer) {
                int found = 0;
                for (const TextShape& text : plot.texts) {
                    if (text.text != QString::number(r + 1) || text.rect.top() < plot.area.bottom() - 1)
                        continue;
                    if (text.colour != style.theme.run(r)) continue;
                    if (std::abs(text.rect.center().x() - plot.x.toPixel(layer)) > 1) continue;
                    ++found;
                    for (const QRectF& other : rects) QVERIFY(!other.intersects(text.rect));
                    rects.push_back(text.rect);
                }
                QVERIFY2(found == 1, qPrintable(QString("run %1, layer %2").arg(r).arg(layer)));
            }
        }
    }
};

NORMSCOPE_WIDGET_TEST(JacobianPanelTest)
#include "jacobian_panel_test.moc"
