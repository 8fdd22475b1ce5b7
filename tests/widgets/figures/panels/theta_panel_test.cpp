// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/theta_panel.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

/// Three layers of two heads of four tokens, the last head not finite.
std::vector<NamedArray> arrays(double shift = 0) {
    auto quantiles = syn::values(30, [](int i) { return i < 25 ? 0.5 + 0.01 * i : kNaN; });
    auto rows = syn::values(24, [](int) { return kNaN; }), subsets = rows;
    auto info = syn::values(18, [](int) { return kNaN; });
    const auto keep = [&](std::size_t at, std::vector<double> p, std::vector<double> in, double theta) {
        std::copy(p.begin(), p.end(), rows.begin() + std::ptrdiff_t(4 * at));
        std::copy(in.begin(), in.end(), subsets.begin() + std::ptrdiff_t(4 * at));
        info[3 * at] = 1;
        info[3 * at + 1] = double(p.size()) - 1;
        info[3 * at + 2] = theta;
    };
    keep(0, {0.35, 0.3, 0.2, 0.15}, {1, 0, 0, 1}, 1);
    keep(3, {0.9, 0.1}, {1, 0}, 0.36);
    return {syn::array("relative_mean", {3, 2}, {1 + shift, 0.9, 0.99, 0.5, 0.97, kNaN}),
            syn::array("relative_below_099", {3, 2}, {0, 0.004, 0.37, 1, 0.5, kNaN}),
            syn::array("mean", {3, 2}, {1, 0.9, 0.99, 0.2, 0.95, kNaN}),
            syn::array("quantiles", {3, 2, 5}, std::move(quantiles)),
            syn::array("lowest_row", {3, 2, 4}, std::move(rows)),
            syn::array("lowest_subset", {3, 2, 4}, std::move(subsets)),
            syn::array("lowest_info", {3, 2, 3}, std::move(info))};
}

RunData withTheta(const std::string& name, double shift = 0) {
    RunData r = syn::run(name);
    syn::add(r, "theta", 0, arrays(shift), {{"sampled", {"2,016 of 24,192 rows"}}});
    return r;
}

Figure built(const std::vector<const RunData*>& runs, PanelOptions options = {}, int layer = -1,
             int head = -1) {
    PanelInput input;
    input.runs = runs;
    input.options = std::move(options);
    input.selected_layer = layer;
    input.selected_head = head;
    return buildTheta(input);
}

QString chips(const Plot& plot) {
    QStringList texts;
    for (const Chip& chip : plot.chips) texts << chip.text;
    return texts.join(" | ");
}

}  // namespace

class ThetaPanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// The keys of a row have the texts of their tokens, where the sample has them.
    void keysHaveTheirTokensTexts() {
        RunData run = syn::run("A");
        syn::add(run, "theta", 0, arrays(),
                 {{"sampled", {"all rows"}}, {"tokens", {"n\x1fo\x1f", " the\x1f\\n\x1f€\x1fx"}}});
        const Figure f = built({&run}, {{"x", "row"}}, 0, 0);
        QCOMPARE(f.plots.at(0).x.words, (QStringList{" the", "\\n", "€", "x"}));
        QVERIFY2(chips(f.plots[0]).contains("sequence 2, token 4 “x”"), qPrintable(chips(f.plots[0])));
        const Figure shorter = built({&run}, {{"x", "row"}}, 1, 1);
        QCOMPARE(shorter.plots.at(0).x.words, (QStringList{" the", "\\n"}));
        const RunData without = withTheta("B");
        QVERIFY(built({&without}, {{"x", "row"}}, 0, 0).plots.at(0).x.words.isEmpty());
    }

    void colourSpansTheDataOfAllRuns() {
        const RunData a = withTheta("A"), b = withTheta("B", 0.1);
        const Figure f = built({&a, &b}, {}, 2, 1);
        QCOMPARE(f.title, "θ");
        QCOMPARE(f.quantity, "mean θ ÷ uniform");
        QVERIFY(f.side_by_side);
        for (const Plot& plot : f.plots) {
            QCOMPARE(plot.maps.at(0).low, 0.5);
            QCOMPARE(plot.maps.at(0).high, 1.1);
        }
        const HeatMap& map = f.plots[0].maps[0];
        QCOMPARE(map.rows, 3);
        QCOMPARE(map.columns, 2);
        QCOMPARE(map.raw[1], 0.9);
        QVERIFY(std::isnan(map.value[5]));
        QCOMPARE(map.text, QStringList({"1", "0.9", "0.99", "0.5", "0.97", ""}));
        QCOMPARE(map.row_names, QStringList({"1", "2", "3"}));
        QCOMPARE(map.selected_row, 2);
        QCOMPARE(map.selected_column, 1);
        QCOMPARE(chips(f.plots[0]), "1 of 6 heads not finite");
        QVERIFY(f.subtitle.contains("2,016 of 24,192 rows"));
        QVERIFY(f.formula.contains("2,016 of 24,192 rows"));
        QCOMPARE(f.summary,
                 "θ, mean θ ÷ uniform at step 0. A: from 0.5 to 1, mean 0.872, 1 of 6 heads not finite; "
                 "B: from 0.5 to 1.1, mean 0.892, 1 of 6 heads not finite");
    }

    void roundOffHasNoColours() {
        RunData a = syn::run("A");
        syn::add(a, "theta", 0, {syn::array("relative_mean", {1, 2}, {1, 1 - 1e-9})});
        const Figure f = built({&a});
        QVERIFY(f.plots[0].maps[0].high - f.plots[0].maps[0].low > 0.9e-3);
    }

    void sharesAndQuantiles() {
        const RunData a = withTheta("A");
        QCOMPARE(built({&a}, {{"quantity", "relative_below_099"}}).plots[0].maps[0].text,
                 QStringList({"0 %", "0.4 %", "37 %", "100 %", "50 %", ""}));
        QCOMPARE(built({&a}, {{"quantity", "relative_low"}}).plots[0].maps[0].raw[1], 0.56);
        QCOMPARE(built({&a}, {{"quantity", "relative_max"}}).plots[0].maps[0].raw[1], 0.59);
        QCOMPARE(built({&a}, {{"quantity", "mean"}}).plots[0].maps[0].raw[3], 0.2);
    }

    void nothingEverReadsNanPercent() {
        RunData a = syn::run("A");
        syn::add(a, "theta", 0, {syn::array("relative_below_099", {1, 2}, {kNaN, kNaN})});
        const Figure f = built({&a}, {{"quantity", "relative_below_099"}});
        QCOMPARE(f.plots[0].maps[0].text, QStringList({"", ""}));
        QCOMPARE(chips(f.plots[0]), "2 of 2 heads not finite");
        QVERIFY(f.summary.contains("A: not finite in any head"));
        QVERIFY(!f.summary.contains("nan", Qt::CaseInsensitive));
    }

    void aRecordingOfAnEarlierVersionReportsMissingArrays() {
        RunData a = syn::run("A");
        syn::add(a, "theta", 0, {syn::array("mean", {1, 2}, {0.9, 0.8})});
        QCOMPARE(built({&a}).empty_text, "A: its theta sample lacks this quantity");
        QCOMPARE(built({&a}, {{"quantity", "mean"}}).plots.size(), 1u);
    }

    void overTheStepsALinePerLayer() {
        RunData a = withTheta("A");
        syn::add(a, "theta", 5, arrays(-0.2));
        const Figure f = built({&a}, {{"x", "step"}});
        QCOMPARE(f.plots.size(), 1u);
        const Plot& plot = f.plots[0];
        QVERIFY(plot.y.scale == Scale::Linear);
        QCOMPARE(plot.curves.size(), 3u);
        QCOMPARE(plot.curves[0].name, "layer 1 · attn");
        QCOMPARE(plot.curves[0].x, std::vector<double>({0, 5}));
        QVERIFY(std::abs(plot.curves[0].y[0] - 0.95) < 1e-12 && std::abs(plot.curves[0].y[1] - 0.85) < 1e-12);
        QCOMPARE(plot.curves[2].y[0], 0.97);  // the mean of the head that is finite
    }

    void aRowWithItsSubset() {
        const RunData a = withTheta("A");
        const Figure f = built({&a}, {{"x", "row"}}, 0, 0);
        const Plot& plot = f.plots.at(0);
        QCOMPARE(plot.heading, "A · layer 1, head 1");
        QCOMPARE(plot.stems.at(0).x, std::vector<double>({1, 4}));
        QCOMPARE(plot.stems.at(0).y, std::vector<double>({0.35, 0.15}));
        QCOMPARE(plot.curves.at(0).x, std::vector<double>({2, 3}));
        QCOMPARE(plot.references.at(0).value, 0.25);
        QCOMPARE(chips(plot),
                 "θ 1, uniform 1 | p(S*) 0.5 | prefix heuristic 0.91 | peaked-row bound 1 (κ = 0.65) | "
                 "sequence 2, token 4");
    }

    void withoutASelectionTheLowestRow() {
        const RunData a = withTheta("A");
        const Figure f = built({&a}, {{"x", "row"}});
        QCOMPARE(f.plots.at(0).heading, "A · layer 2, head 2");
        QVERIFY(chips(f.plots[0]).contains("peaked-row bound 0.36"));
        QCOMPARE(f.summary,
                 "The row with the lowest θ, at step 0. A: layer 2, head 2 has θ = 0.36 over 2 keys");
    }

    void aRowThatIsNotFinite() {
        const RunData a = withTheta("A");
        QCOMPARE(chips(built({&a}, {{"x", "row"}}, 2, 1).plots.at(0)), "attention is not finite");
        QCOMPARE(built({&a}, {{"x", "row"}}, 7, 0).empty_text, "A: its theta sample lacks this quantity");
    }

    void aRunWithoutSamplesIsNamed() {
        const RunData a = withTheta("A"), bare = syn::run("bare");
        QVERIFY(chips(built({&a, &bare}).plots.at(0))
                    .contains("bare: not measured yet, M measures it at this step"));
    }
};

NORMSCOPE_TEST(ThetaPanelTest)
#include "theta_panel_test.moc"
