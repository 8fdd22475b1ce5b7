// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/profile_panels.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

/// Two layers, all probes of these panels at two steps.
RunData measured(const std::string& name, double size) {
    RunData r = syn::run(name);
    for (const int step : {0, 5}) {
        syn::add(r, "lipschitz", step,
                 {syn::vector("layer_measured", {size, 3.0 + step}), syn::vector("layer", {4 * size, 20}),
                  syn::vector("layer_eps", {5 * size, 25}), syn::vector("sublayer_measured", {size, 2, 3, 4}),
                  syn::vector("sublayer", {10, 20, 30, 40}), syn::vector("projection", {5, 6})});
        syn::add(r, "importance", step,
                 {syn::vector("layer", {-0.1, size}), syn::vector("layer_error", {0.01, 0.02}),
                  syn::vector("sublayer", {0, 1, 2, 3})});
        syn::add(r, "weights", step,
                 {syn::array("spectral", {2, 3}, {1, 2, 3, 4, 5, 6 * size}),
                  syn::array("sublayer_norm", {2, 2}, {7, 8, 9, 10})},
                 {{"matrices", {"wq", "wo", "w1"}}});
        syn::add(r, "gates", step,
                 {syn::vector("factor", {1, 0.9, 1.1, 1.2}), syn::vector("alpha", {-0.1, 0.2})});
        syn::add(r, "shift", step,
                 {syn::vector("w2", {1, 2, 3, 4, 5}), syn::vector("w2_bound", {1, 9, 19, 29, 39})});
        syn::add(r, "paths", step, {syn::vector("remainder", {0, 2}), syn::vector("first_order", {1, 3})});
    }
    return r;
}

Figure build(const PanelInfo& panel, const std::vector<const RunData*>& runs,
             const PanelOptions& options = {}) {
    PanelInput input;
    input.runs = runs;
    input.step = 0;
    input.options = options;
    return panel.build(input);
}

}  // namespace

class ProfilePanelsTest : public QObject {
    Q_OBJECT
    const RunData a_ = measured("A", 1), b_ = measured("B", 2);

  private Q_SLOTS:
    void theBoundIsAboveWhatWasFound() {
        const Figure f = build(lipschitzPanel(), {&a_, &b_});
        const auto& curves = f.plots.at(0).curves;
        QCOMPARE(curves.size(), 4u);
        QCOMPARE(curves[0].x, std::vector<double>({1, 2}));
        QCOMPARE(curves[1].y, std::vector<double>({2, 3}));
        QCOMPARE(curves[2].kind, LineKind::Bound);
        QCOMPARE(curves[3].y, std::vector<double>({8, 20}));
        QCOMPARE(f.plots[0].y.scale, Scale::Log);
        QVERIFY2(f.summary.contains("B: 2 to 3"), qPrintable(f.summary));
        const Figure paper = build(lipschitzPanel(), {&a_}, {{"bound", "paper"}}),
                     off = build(lipschitzPanel(), {&a_}, {{"bound", "off"}});
        QCOMPARE(paper.plots.at(0).curves.at(1).y, std::vector<double>({5, 25}));
        QCOMPARE(off.plots.at(0).curves.size(), 1u);
        const Figure each = build(lipschitzPanel(), {&a_}, {{"quantity", "sublayer_measured"}});
        QCOMPARE(each.plots.at(0).curves.at(0).x, std::vector<double>({0.5, 1, 1.5, 2}));
        const Figure product = build(lipschitzPanel(), {&a_}, {{"quantity", "projection"}});
        QCOMPARE(product.plots.at(0).curves.size(), 1u);  // without a bound
    }

    void aLossChangeHasASignAndAnError() {
        const Figure f = build(importancePanel(), {&a_, &b_});
        QCOMPARE(f.plots.size(), 1u);  // no ratio of what may be negative
        QCOMPARE(f.plots[0].y.scale, Scale::Linear);
        QCOMPARE(f.plots[0].curves.at(0).y_error, std::vector<double>({0.01, 0.02}));
        QCOMPARE(f.plots[0].references.back().value, 0.0);
        QCOMPARE(f.unit, "nat");
    }

    void aMatrixIsAColumn() {
        const Figure q = build(weightsPanel(), {&a_}), w1 = build(weightsPanel(), {&b_}, {{"matrix", "w1"}});
        QCOMPARE(q.plots.at(0).curves.at(0).y, std::vector<double>({1, 4}));
        QCOMPARE(w1.plots.at(0).curves.at(0).y, std::vector<double>({3, 12}));
        QVERIFY(w1.quantity.contains("w1"));
        const Figure none = build(weightsPanel(), {&a_}, {{"matrix", "w_gate"}});
        QVERIFY(none.plots.empty() && !none.empty_text.isEmpty());
        const Figure halves = build(weightsPanel(), {&a_}, {{"quantity", "sublayer_norm"}});
        QCOMPARE(halves.plots.at(0).curves.at(0).x, std::vector<double>({0.5, 1, 1.5, 2}));
    }

    void gatesShiftAndPaths() {
        QCOMPARE(build(gatesPanel(), {&a_}).plots.at(0).curves.at(0).y.size(), 4u);
        QCOMPARE(build(gatesPanel(), {&a_}, {{"quantity", "alpha"}}).plots.at(0).y.scale, Scale::Linear);
        const Figure shift = build(shiftPanel(), {&a_});
        QCOMPARE(shift.plots.at(0).curves.at(0).x.front(), 0.0);  // from the embedding on
        QCOMPARE(shift.plots.at(0).curves.at(1).y.back(), 39.0);
        QCOMPARE(build(pathsPanel(), {&a_}).plots.at(0).curves.at(0).y, std::vector<double>({0, 2}));
    }

    void overTheSteps() {
        const Figure f = build(lipschitzPanel(), {&a_}, {{"x", "step"}});
        QCOMPARE(f.plots.at(0).curves.size(), 2u);
        QCOMPARE(f.plots[0].curves[1].y, std::vector<double>({3, 8}));
    }
};

NORMSCOPE_TEST(ProfilePanelsTest)
#include "profile_panels_test.moc"
