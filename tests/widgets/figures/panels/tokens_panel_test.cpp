// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/panels/tokens_panel.h"

#include "tests/support/test_main.h"
#include "tests/widgets/figures/panels/synthetic_run.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::widgets;
namespace syn = normscope::synthetic;

namespace {

RunData measured(const std::string& name, double offset, std::int64_t step = 0) {
    RunData r = syn::run(name);
    const auto add = [&](std::int64_t at) {
        syn::add(r, "tokens", at,
                 {syn::vector("similarity", {offset, 0.0, -0.25, 0.5, 1}),
                  syn::vector("effective_rank", {32 + offset, 16, 8, 4, 2}),
                  syn::vector("outlier", {3 + offset, 3, 4, 5, 6}),
                  syn::vector("heaviest_norm", {1 + offset, 1, 2, 3, 4})},
                 {{"effective_rank_sequences", {"2"}}});
    };
    add(0);
    if (step > 0) add(step);
    return r;
}

}  // namespace

class TokensPanelTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void similarityIsOnALinearAxis() {
        const RunData a = measured("A", 0.125), b = measured("B", 0.25);
        PanelInput input;
        input.runs = {&a, &b};
        const Figure f = buildTokens(input);
        QCOMPARE(f.panel, "tokens");
        QCOMPARE(f.plots.size(), 1u);
        QCOMPARE(f.plots[0].y.scale, Scale::Linear);
        QCOMPARE(f.plots[0].curves[0].y, std::vector<double>({0.125, 0, -0.25, 0.5, 1}));
        QCOMPARE(f.plots[0].curves[1].y[0], 0.25);
        QVERIFY(f.summary.contains("A goes from 0.13 to 1 at layer 2"));
        QVERIFY(!f.formula.contains("first"));
    }

    void everyQuantityReadsItsArray() {
        const RunData a = measured("A", 0), b = measured("B", 1);
        PanelInput input;
        input.runs = {&a, &b};
        const std::vector<std::pair<std::string, double>> cases = {
            {"effective_rank", 32}, {"outlier", 3}, {"heaviest_norm", 1}};
        for (const auto& [quantity, first] : cases) {
            input.options = {{"quantity", quantity}};
            const Figure f = buildTokens(input);
            QCOMPARE(f.plots[0].curves[0].y[0], first);
            QCOMPARE(f.plots[0].y.scale, Scale::Log);
            QCOMPARE(f.plots.size(), 2u);
            QCOMPARE(f.formula.contains("first 2 sequences"), quantity == "effective_rank");
        }
    }

    void theHeaviestTokenIsNamed() {
        RunData a = measured("A", 0), b = measured("B", 0);
        for (RunData* run : {&a, &b}) {
            ProbeResult& sample = run->probes.at("tokens").front();
            sample.arrays.push_back(
                syn::array("heaviest_place", {5, 2}, {0, 0, 1, 2, 1, 2, kNaN, kNaN, 1, 0}));
        }
        a.probes.at("tokens").front().labels["tokens"] = {"x\x1fy\x1fz", "The\x1f cat\x1f sat"};
        PanelInput input;
        input.runs = {&a, &b};
        input.options = {{"quantity", "heaviest_norm"}};
        const auto chips = [&] {
            QStringList texts;
            const Figure f = buildTokens(input);
            for (const Chip& chip : f.plots[0].chips) texts << chip.text;
            return texts;
        };
        QCOMPARE(chips(), QStringList({"A: heaviest at layer 2 · ffn: “The” token 1 of sequence 2",
                                       "B: heaviest at layer 2 · ffn: token 1 of sequence 2"}));
        input.selected_layer = 0;
        QCOMPARE(chips().front(), "A: heaviest at layer 1 · ffn: “ sat” token 3 of sequence 2");
        for (RunData* run : {&a, &b}) run->probes.at("tokens").front().arrays.back().data[5] = kNaN;
        QCOMPARE(chips(), QStringList());
    }

    void overTheSteps() {
        const RunData a = measured("A", 0, 50);
        PanelInput input;
        input.runs = {&a};
        input.options = {{"x", "step"}};
        const Figure f = buildTokens(input);
        QVERIFY(f.side_by_side);
        QCOMPARE(f.plots[0].y.scale, Scale::Linear);
        QCOMPARE(f.plots[0].curves.size(), 5u);
        QCOMPARE(f.plots[0].curves[2].x, std::vector<double>({0, 50}));
        QCOMPARE(f.plots[0].curves[2].y, std::vector<double>({-0.25, -0.25}));
    }

    void withoutASampleThereIsAMessage() {
        const RunData bare = syn::run("Bare");
        PanelInput input;
        input.runs = {&bare};
        QCOMPARE(buildTokens(input).empty_text, "Bare: not measured yet, M measures it at this step");
    }
};

NORMSCOPE_TEST(TokensPanelTest)
#include "tokens_panel_test.moc"
