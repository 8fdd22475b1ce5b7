// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/residual_panel.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

RunData withBranches(const std::string& name, double size) {
    RunData r = syn::run(name);
    for (int step : {0, 5})
        syn::add(r, "residual", step,
                 {syn::vector("branch_ratio", {size, 2, 3, 4 + size + step}),
                  syn::vector("branch_cosine", {-0.5, 0, 0.25, 0.1})});
    return r;
}

}  // namespace

class ResidualPanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void eachBranchIsPlacedWhereItsSublayerEnds() {
        const RunData a = withBranches("A", 1), b = withBranches("B", 2);
        PanelInput input;
        input.runs = {&a, &b};
        input.step = 0;
        const Figure f = buildResidual(input);
        QCOMPARE(f.plots.size(), 2u);  // and the ratio of the runs
        QCOMPARE(f.plots[0].curves[0].x, std::vector<double>({0.5, 1, 1.5, 2}));
        QCOMPARE(f.plots[0].curves[1].y, std::vector<double>({2, 2, 3, 6}));
        QCOMPARE(f.plots[0].y.scale, Scale::Log);
        QCOMPARE(f.x_names.front(), "layer 1 · attn");
        QVERIFY2(f.summary.contains("B: ‖branch‖ ÷ ‖x‖ 2 to 6"), qPrintable(f.summary));
        QVERIFY(f.formula.contains("held-out"));
    }

    void aCosineHasASign() {
        const RunData a = withBranches("A", 1), b = withBranches("B", 2);
        PanelInput input;
        input.runs = {&a, &b};
        for (const char* x : {"depth", "step"}) {
            input.options = {{"quantity", "branch_cosine"}, {"x", x}};
            const Figure f = buildResidual(input);
            QCOMPARE(f.plots.size(), std::string(x) == "depth" ? 1u : 2u);
            for (const Plot& plot : f.plots) {
                QCOMPARE(plot.y.scale, Scale::Linear);
                QCOMPARE(plot.references.back().value, 0.0);
            }
        }
    }

    void overTheSteps() {
        const RunData a = withBranches("A", 1);
        PanelInput input;
        input.runs = {&a};
        input.options = {{"x", "step"}};
        const Figure f = buildResidual(input);
        QCOMPARE(f.plots[0].curves.size(), 4u);
        QCOMPARE(f.plots[0].curves[3].y, std::vector<double>({5, 10}));
        QCOMPARE(f.plots[0].y.scale, Scale::Log);
    }
};

NORMSCOPE_TEST(ResidualPanelTest)
#include "residual_panel_test.moc"
