// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/runs/run_diff.h"

#include "tests/support/test_main.h"

#include <QtTest>

using namespace normscope;
using namespace normscope::widgets;

class RunDiffTest : public QObject {
    Q_OBJECT

    static Recipe with(const std::string& keys) {
        return parse_recipe(R"({"format": "normscope-recipe", "version": 1, )" + keys + "}", "test");
    }

  private Q_SLOTS:
    void onlyWhatDiffers() {
        const auto diff = runDifferences(
            {with(R"("stack": {"depth": 12, "scheme": "pre", "residual_step": 1.0}, "seed": 42)"),
             with(R"("stack": {"depth": 12, "scheme": "post", "residual_step": 0.2}, "seed": 42)")});
        QCOMPARE(diff.size(), 2u);
        QCOMPARE(diff[0], QStringList({"scheme pre", "Δt 1"}));
        QCOMPARE(diff[1], QStringList({"scheme post", "Δt 0.2"}));
    }

    void aThirdRunDecidesToo() {
        const auto diff = runDifferences({with(R"("seed": 1)"), with(R"("seed": 1)"), with(R"("seed": 2)")});
        QCOMPARE(diff[0], QStringList{"seed 1"});
        QCOMPARE(diff[2], QStringList{"seed 2"});
    }

    void absentKeysReadDefault() {
        const auto diff = runDifferences({with(R"("data": {"path": "a.txt"})"), with(R"("data": {})")});
        QCOMPARE(diff[0], QStringList{"path a.txt"});
        QCOMPARE(diff[1], QStringList{"path default"});
    }

    void overridesAreKeyedByTheirLayer() {
        const auto diff = runDifferences(
            {with(
                 R"("stack": {"layers": [{"index": 0, "attn": {"in": true}}, {"index": 3, "attn": {"in": true}}]})"),
             with(
                 R"("stack": {"layers": [{"index": 3, "attn": {"in": false}}, {"index": 0, "attn": {"in": true}}]})")});
        QCOMPARE(diff[0], QStringList{"layer 4 attn in on"});
        QCOMPARE(diff[1], QStringList{"layer 4 attn in off"});
        const auto one =
            runDifferences({with(R"("stack": {"layers": []})"),
                            with(R"("stack": {"layers": [{"index": 0, "attn": {"out": true}}]})")});
        QCOMPARE(one[0], QStringList{"layer 1 attn out default"});
        QCOMPARE(one[1], QStringList{"layer 1 attn out on"});
    }

    void otherTypes() {
        const auto diff = runDifferences(
            {with(R"("optimizer": {"betas": [0.9, 0.95]}, "probes": [{"id": "growth", "every": 5}])"),
             with(R"("optimizer": {"betas": [0.9, 0.99]}, "probes": [{"id": "growth", "every": "auto"}])")});
        QCOMPARE(diff[0], QStringList({"betas [0.9,0.95]", "growth every 5"}));
        QCOMPARE(diff[1], QStringList({"betas [0.9,0.99]", "growth every auto"}));
    }

    void fewerThanTwo() {
        QVERIFY(runDifferences({}).empty());
        QCOMPARE(runDifferences({with(R"("seed": 1)")}), std::vector<QStringList>{QStringList()});
    }
};

NORMSCOPE_TEST(RunDiffTest)
#include "run_diff_test.moc"
