// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/spectra_panel.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"

#include <QtTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

/// D layers, k values each: σ_i of row r is scale·(r+1)/i, off by at most 0.01.
RunData measured(const std::string& name, int depth, double scale, std::size_t k = 4) {
    RunData r = syn::run(name);
    const auto top = [&](int rows) {
        return syn::values(rows * int(k), [&](int i) { return scale * (i / int(k) + 1) / (i % int(k) + 1); });
    };
    const auto errors = [&](int rows) { return std::vector<double>(std::size_t(rows) * k, 0.01); };
    const std::size_t d = std::size_t(depth);
    syn::add(
        r, "spectra", 0,
        {syn::array("sublayer_top", {2 * d, k}, top(2 * depth)),
         syn::array("sublayer_top_error", {2 * d, k}, errors(2 * depth)),
         syn::array("layer_top", {d, k}, top(depth)), syn::array("layer_top_error", {d, k}, errors(depth)),
         syn::vector("end_to_end_top", top(1)), syn::vector("end_to_end_top_error", errors(1)),
         syn::array("end_to_end_bottom", {}, {0.5}), syn::array("end_to_end_bottom_error", {}, {0.1}),
         syn::vector("stable_rank", syn::values(depth, [](int i) { return 10.0 + i; })),
         syn::vector("alignment", syn::values(depth - 1, [](int i) { return 0.1 * i; })),
         syn::array("product_gain", {}, {0.25}),
         syn::vector("lyapunov", syn::values(int(k), [](int i) { return 0.3 - 0.2 * i; }))});
    return r;
}

Figure build(const std::vector<const RunData*>& runs, const char* view) {
    PanelInput input;
    input.runs = runs;
    input.exploring = true;
    input.options = {{"view", view}};
    return buildSpectra(input);
}

QStringList chipTexts(const Figure& f) {
    QStringList texts;
    for (const Chip& chip : f.plots.front().chips) texts << chip.text;
    return texts;
}

}  // namespace

class SpectraPanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void layersOfBothRuns() {
        const RunData a = measured("A", 6, 2), b = measured("B", 6, 1);
        const Figure f = build({&a, &b}, "layers");
        QVERIFY(f.empty_text.isEmpty());
        QCOMPARE(f.subtitle, "at step 0");
        QCOMPARE(f.plots.size(), 2u);  // and B/A under it
        const Plot& plot = f.plots.front();
        QCOMPARE(plot.y.scale, Scale::Log);
        QCOMPARE(plot.curves.size(), 2u);
        QCOMPARE(plot.curves[0].x, (std::vector<double>{1, 2, 3, 4, 5, 6}));
        QCOMPARE(plot.curves[0].y, (std::vector<double>{2, 4, 6, 8, 10, 12}));
        QCOMPARE(plot.curves[1].y[5], 6.0);
        QCOMPARE(plot.bands.size(), 4u);
        QCOMPARE(plot.bands[0].name, "A σ_k–σ₁");
        QCOMPARE(plot.bands[0].low[1], 1.0);
        QCOMPARE(plot.bands[1].name, "A error");
        QCOMPARE(plot.bands[1].low[0], 1.99);
        QCOMPARE(plot.bands[1].high[0], 2.01);
        QCOMPARE(plot.references.at(0).value, 1.0);
        QCOMPARE(f.plots[1].curves.at(0).y[0], 0.5);
        QVERIFY(chipTexts(f).contains("A ‖∏J‖ / ∏‖J‖ 0.25"));
        QVERIFY(f.summary.contains("A: 2 to 12"));
    }

    void sublayersArePlacedAtHalves() {
        const RunData a = measured("A", 3, 1);
        const Plot plot = build({&a}, "sublayers").plots.front();
        QCOMPARE(plot.curves[0].x, (std::vector<double>{0.5, 1, 1.5, 2, 2.5, 3}));
        QCOMPARE(plot.curves[0].y[5], 6.0);
    }

    void endToEndStatesTheProvedSmallestValue() {
        RunData a = measured("A", 3, 1);
        Figure f = build({&a}, "end_to_end");
        QCOMPARE(f.plots[0].curves[0].x, (std::vector<double>{1, 2, 3, 4}));
        QCOMPARE(f.plots[0].curves[0].y[1], 0.5);
        QCOMPARE(f.plots[0].x.label, "index i");
        QVERIFY(chipTexts(f).contains("A σ_min 0.5 ± 0.1"));
        for (NamedArray& array : a.probes["spectra"][0].arrays)
            if (array.name == "end_to_end_bottom_error") array.data = {0.7};
        QVERIFY(chipTexts(build({&a}, "end_to_end")).contains("A σ_min ≤ 0.5"));
    }

    void whatFollowsFromThem() {
        const RunData a = measured("A", 3, 1);
        QCOMPARE(build({&a}, "layers").x_names.value(0), "layer 1");
        QCOMPARE(build({&a}, "alignment").x_names.value(1), "layers 1 → 2");
        QCOMPARE(build({&a}, "sublayers").x_names.value(0), "layer 1 · attn");
        const Plot rank = build({&a}, "stable_rank").plots.front();
        QCOMPARE(rank.curves[0].x, (std::vector<double>{1, 2, 3}));
        QCOMPARE(rank.curves[0].y, (std::vector<double>{10, 11, 12}));
        const Plot alignment = build({&a}, "alignment").plots.front();
        QCOMPARE(alignment.curves[0].x, (std::vector<double>{1.5, 2.5}));
        QCOMPARE(alignment.y.scale, Scale::Linear);
        QCOMPARE(alignment.y.range->second, 1.0);
        const Plot lyapunov = build({&a}, "lyapunov").plots.front();
        QCOMPARE(lyapunov.curves[0].y[0], 0.3);
        QCOMPARE(lyapunov.references.at(0).value, 0.0);
    }

    void statesWhatIsMissing() {
        const RunData a = measured("A", 3, 1), bare = syn::run("Bare");
        QVERIFY(build({&bare}, "layers").empty_text.contains("Bare: not measured yet"));
        const Figure f = build({&a, &bare}, "layers");
        QCOMPARE(f.plots.front().curves.size(), 1u);
        QVERIFY2(chipTexts(f).contains("Bare: not measured yet, M measures it at this step"),
                 qPrintable(chipTexts(f).join("; ")));
        PanelInput waits;
        waits.runs = {&bare};
        waits.pending = {true};
        QCOMPARE(buildSpectra(waits).empty_text, "Bare: being measured …");
        RunData half = syn::run("Half");
        syn::add(half, "spectra", 0, {syn::array("layer_top", {2, 1}, {1, kNaN})});
        QVERIFY(build({&half}, "lyapunov").empty_text.contains("lacks this quantity"));
        QVERIFY(build({&half}, "layers").empty_text.isEmpty());  // one value a row, no errors
        QVERIFY(build({&half}, "layers").plots.front().bands.empty());
    }
};

NORMSCOPE_TEST(SpectraPanelTest)
#include "spectra_panel_test.moc"
