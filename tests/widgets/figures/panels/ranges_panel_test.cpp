// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/ranges_panel.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

class RangesPanelTest : public QObject {
    Q_OBJECT

    static RunData measured() {
        RunData run = syn::run("A");
        syn::add(
            run, "ranges", 0,
            {syn::vector("amax", {100, 32752, 7, 1, 2, 3}), syn::vector("over_fp16", {0, 0.25, 0, 0, 0, 0}),
             syn::vector("under_fp16", {0.5, 0, 0, 0, 0, 0}),
             syn::vector("lost_fp16", {0, 0.125, 0, 0, 0, 0})},
            {{"places",
              {"blocks.0.attn.scores", "blocks.1.attn.scores", "blocks.1.ffn.pre", "hidden.0", "hidden.1",
               "grad.hidden.1"}}});
        return run;
    }
    static Figure build(const RunData& run, const PanelOptions& options) {
        PanelInput input;
        input.runs = {&run};
        input.step = 0;
        input.options = options;
        return buildRanges(input);
    }

  private Q_SLOTS:
    void eachKindOfPlaceIsACurve() {
        const RunData run = measured();
        const Figure scores = build(run, {{"place", "attn.scores"}}), hidden = build(run, {}),
                     gradient = build(run, {{"place", "grad.hidden"}}),
                     pre = build(run, {{"place", "ffn.pre"}});
        QCOMPARE(scores.plots.at(0).curves.at(0).x, std::vector<double>({0.5, 1.5}));
        QCOMPARE(scores.plots.at(0).curves.at(0).y, std::vector<double>({100, 32752}));
        QCOMPARE(hidden.plots.at(0).curves.at(0).x, std::vector<double>({0, 0.5}));
        QCOMPARE(hidden.plots.at(0).curves.at(0).y, std::vector<double>({1, 2}));
        QCOMPARE(gradient.plots.at(0).curves.at(0).y, std::vector<double>({3}));
        QCOMPARE(pre.plots.at(0).curves.at(0).x, std::vector<double>({2}));
        QVERIFY(build(run, {{"place", "attn.mixed"}}).plots.empty());
    }

    /// Kinds of places from below × layers; what was not measured is grey.
    void theHeadroomOfAllPlacesIsAMap() {
        const RunData run = measured();
        const Figure figure = build(run, {{"place", "headroom"}});
        QCOMPARE(figure.plots.size(), 1u);
        const HeatMap& map = figure.plots[0].maps.at(0);
        QCOMPARE(map.columns, 2);
        QCOMPARE(map.rows, map.row_names.size());
        const auto at = [&](const char* row, int layer) {
            return static_cast<std::size_t>(map.row_names.indexOf(row) * map.columns + layer - 1);
        };
        QCOMPARE(map.value[at("scores", 2)], 1.0);
        QCOMPARE(map.value[at("scores", 1)], std::log2(655.04));
        QCOMPARE(map.text[int(at("scores", 1))], QString("9.4"));
        QVERIFY(map.neutral[at("FFN pre", 1)] && !map.neutral[at("FFN pre", 2)]);
        QCOMPARE(map.low, 1.0);
        QVERIFY2(figure.summary.contains("A: least 1.0 binades, scores of layer 2"),
                 qPrintable(figure.summary));
        QVERIFY(build(syn::run("B"), {{"place", "headroom"}}).plots.empty());
        RunData foreign = measured();
        foreign.probes["ranges"][0].labels["places"][1] = "blocks.2000000000.attn.scores";
        foreign.probes["ranges"][0].labels["places"][2] = "blocks.-3.ffn.pre";
        QCOMPARE(build(foreign, {{"place", "headroom"}}).plots.at(0).maps.at(0).columns, 1);
    }

    void theDistanceToTheLimitIsInBinades() {
        const RunData run = measured();
        const Figure scores = build(run, {{"place", "attn.scores"}});
        QVERIFY2(scores.summary.contains(
                     "1 binades below FP16's limit; above it 25 %, below full precision 50 %, lost 13 %"),
                 qPrintable(scores.summary));
        QCOMPARE(scores.plots[0].references.back().value, 65504.0);
        // 100 is 2⁻¹⁰ of the limit and less: the line would flatten the curve.
        QCOMPARE(build(run, {}).plots[0].references.size(), 0u);
        const Figure small = build(run, {{"place", "attn.scores"}, {"format", "e4m3"}});
        QCOMPARE(small.plots[0].references.back().value, 448.0);
        QVERIFY2(small.summary.contains("not known"), qPrintable(small.summary));
    }
};

NORMSCOPE_TEST(RangesPanelTest)
#include "ranges_panel_test.moc"
