// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/jacobian_panel.h"

#include "tests/widgets/panels/synthetic_run.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

const char* const kFp64 = R"({"precision": "fp64"})";

/// Two layers, d = 5: σ = 5, 4, 3, 2, 1 in layer 1, 10 times that in layer 2; the last `nulls` of each are
/// rounding dust.
RunData withSpectra(const std::string& name, int nulls, std::vector<double> branch_norm, double dust = 1e-17,
                    const char* recipe = kFp64) {
    RunData r = syn::run(name, recipe);
    const auto rows = [&](int count) {
        return syn::values(5 * count, [&](int i) {
            const int j = i % 5;
            return j >= 5 - nulls ? dust : (5 - j) * (i < 5 ? 1.0 : 10.0);
        });
    };
    syn::add(r, "jacobian", 0,
             {syn::array("layer_sv", {2, 5}, rows(2)), syn::array("sublayer_sv", {4, 5}, rows(4)),
              syn::vector("end_to_end_sv", rows(1)), syn::vector("branch_norm", std::move(branch_norm))});
    return r;
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
        const Plot& plot = f.plots[0];
        QCOMPARE(plot.frame_marks.size(), 2u);
        for (int i = 0; i < 2; ++i) {
            QCOMPARE(plot.frame_marks[i].glyph, "2");
            QCOMPARE(plot.frame_marks[i].role.run, 1);
            QVERIFY(std::abs(plot.frame_marks[i].x - (i + 1)) < 0.2);
        }
        QCOMPARE(plot.bands[2].low, std::vector<double>({3, 30}));  // B: 3, 4, 5 remain
        QCOMPARE(plot.curves[1].y, std::vector<double>({4, 40}));
        QCOMPARE(f.plots[1].y.label, "median B / A");
        QVERIFY(std::abs(f.plots[1].curves[0].y[0] - 4.0 / 3) < 1e-12);
        QVERIFY(f.summary.contains("B: σ from 3 to 50, 4 exact nulls"));
    }

    void theThresholdFollowsThePrecision() {
        // 1e-8·σ_max is a singular value in float64 and rounding dust in float32.
        const RunData fp64 = withSpectra("A", 1, {2, 2, 2, 2}, 5e-8);
        const RunData fp32 = withSpectra("B", 1, {2, 2, 2, 2}, 5e-8, R"({"precision": "fp32"})");
        PanelInput input;
        input.runs = {&fp64};
        QVERIFY(buildJacobian(input).plots[0].frame_marks.empty());
        input.runs = {&fp32};
        QCOMPARE(buildJacobian(input).plots[0].frame_marks.size(), 2u);
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

    void singleNonFiniteValuesAreLeftOut() {
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

    void theBoundIsDrawnWhereItSaysSomething() {
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

    void theBoundIsLeftOutWhereTheTheoremDoesNotApply() {
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
        QCOMPARE(plot.chips[0].text, "A σ_min ≥ 0.063");
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

    void missingProbeSaysWhy() {
        const RunData a = syn::run("A");
        PanelInput input;
        input.runs = {&a};
        for (const char* view : {"fan", "ridges", "end_to_end"}) {
            input.options = {{"view", view}};
            QCOMPARE(buildJacobian(input).empty_text, "A: jacobian was not measured");
        }
    }
};

QTEST_GUILESS_MAIN(JacobianPanelTest)
#include "jacobian_panel_test.moc"
