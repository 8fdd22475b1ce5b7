// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/groups/gradient_ribbons.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"

#include <QTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

class GradientRibbonsTest : public QObject {
    Q_OBJECT

    static void measure(RunData& run, std::int64_t step, std::vector<double> hidden) {
        syn::add(run, "gradients", step, {syn::vector("hidden", std::move(hidden))});
    }
    static void train(RunData& run, std::int64_t last) {
        for (std::int64_t step = 0; step <= last; ++step) run.steps.append({step, {{"loss", 3}}});
        run.outcome.state = RunState::Running;
    }
    static RunGroups alone(std::size_t runs) {
        RunGroups groups;
        for (std::size_t i = 0; i < runs; ++i) groups.groups.push_back({QString::number(i), {i}});
        return groups;
    }

  private Q_SLOTS:
    void eachRunHasItsOwn() {
        RunData a = syn::run("Pre-LN"), b = syn::run("Post-LN"), c = syn::run("Peri-LN");
        measure(a, 0, {1, 2, 3});
        measure(b, 0, {4, 5, 6, 7, 8});
        PanelInput input;
        input.runs = {&a, &b, &c};
        input.exploring = true;
        const auto ribbons = gradientRibbons(input, alone(3));
        QCOMPARE(ribbons.size(), std::size_t(3));
        QVERIFY((ribbons[0] == Ribbon{"Pre-LN", 0, 1, {1, 2, 3}, 0}));
        QVERIFY((ribbons[1] == Ribbon{"Post-LN", 1, 1, {4, 5, 6, 7, 8}, 0}));
        QVERIFY((ribbons[2] == Ribbon{"Peri-LN", 2, 1, {}, 0}));  // not measured
        QCOMPARE(ribbons[1].depth(), 2);
        QCOMPARE(ribbons[2].depth(), 0);
    }

    /// As the panel of gradients: the sample nearest to the scrubbed step, or the newest one that all share.
    void theStepIsThePanels() {
        RunData a = syn::run("a"), b = syn::run("b");
        for (RunData* run : {&a, &b}) train(*run, 9);
        for (const std::int64_t step : {0, 4, 8}) measure(a, step, {1.0 * step, 1, 1});
        for (const std::int64_t step : {0, 4}) measure(b, step, {2.0 * step, 1, 1});
        PanelInput input;
        input.runs = {&a, &b};
        auto ribbons = gradientRibbons(input, alone(2));
        QVERIFY(ribbons[0].step == 4 && ribbons[1].step == 4);
        QCOMPARE(ribbons[0].gradient.front(), 4.0);
        QCOMPARE(ribbons[1].gradient.front(), 8.0);
        input.step = 8;
        ribbons = gradientRibbons(input, alone(2));
        QCOMPARE(ribbons[0].step, std::int64_t(8));
        QCOMPARE(ribbons[1].step, std::int64_t(4));
        QVERIFY(!ribbons[0].aged && ribbons[1].aged);
    }

    void aGroupHasItsMedians() {
        RunData a = syn::run("a"), b = syn::run("b"), c = syn::run("c"), d = syn::run("d");
        measure(a, 0, {1, 10, kNaN});
        measure(b, 0, {3, 30, 5});
        measure(c, 0, {2, 50, kNaN});
        PanelInput input;
        input.runs = {&a, &d, &b, &c};
        input.exploring = true;
        RunGroups groups;
        groups.groups = {{"Post-LN", {0, 2, 3}}, {"Pre-LN", {1}}};
        const auto ribbons = gradientRibbons(input, groups);
        QVERIFY((ribbons[0] == Ribbon{"Post-LN ×3", 0, 3, {2, 30, 5}, 0}));
        QCOMPARE(ribbons[1].name, "d");
        QCOMPARE(ribbons[1].index, 1);
    }

    /// A run that ended before the others is not under one median with them.
    void mediansAreOfOneStep() {
        RunData a = syn::run("a"), b = syn::run("b"), c = syn::run("c");
        for (RunData* run : {&a, &b}) train(*run, 9);
        train(c, 4);
        c.outcome.state = RunState::Diverged;
        for (RunData* run : {&a, &b}) measure(*run, 8, {1, 1, 1});
        measure(c, 4, {100, 100, 100});
        PanelInput input;
        input.runs = {&a, &b, &c};
        RunGroups one;
        one.groups = {{"all", {0, 1, 2}}};
        QVERIFY((gradientRibbons(input, one)[0] == Ribbon{"all ×3", 0, 3, {1, 1, 1}, 8}));
        // Alone it shows its own newest.
        QVERIFY((gradientRibbons(input, alone(3))[2] == Ribbon{"c", 2, 1, {100, 100, 100}, 4}));
    }
};

NORMSCOPE_TEST(GradientRibbonsTest)
#include "gradient_ribbons_test.moc"
