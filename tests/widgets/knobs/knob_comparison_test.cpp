// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/knobs/knob_comparison.h"

#include "core/recipe/recipe.h"
#include "tests/support/test_main.h"
#include "widgets/figures/knobs/knob_scale.h"

#include <QTest>

using namespace normscope;
using namespace normscope::widgets;

namespace {

constexpr const char* kRate = "optimizer.lr";

/// A run for each list: of the learning rates of its members.
std::vector<ComparedRun> runs(const std::vector<std::vector<double>>& rates) {
    std::vector<ComparedRun> all;
    for (const auto& members : rates) {
        const int i = static_cast<int>(all.size());
        ComparedRun run{10 + i, i, QString::number(i)};
        run.selected = i == 0;
        for (const double rate : members) {
            Recipe recipe;
            recipe.train.optimizer.lr = rate;
            run.recipes.push_back(recipe);
        }
        all.push_back(run);
    }
    return all;
}

}  // namespace

class KnobComparisonTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void runsThatAgree() {
        QCOMPARE(compareKey({}, kRate), KnobComparison());
        QCOMPARE(compareKey(runs({{1}}), kRate), KnobComparison());
        QCOMPARE(compareKey(runs({{1}, {1}}), kRate), KnobComparison());
        const KnobComparison held = compareKey(runs({{1}, {1}}), kRate, true);
        QVERIFY(!held.differs && held.stops.empty());
        QCOMPARE(held.fields.size(), 2u);
        QCOMPARE(compareKey(runs({{1}, {1}, {1}}), kRate, true), KnobComparison());
    }

    void twoThatDiffer() {
        const KnobComparison two = compareKey(runs({{2}, {1}}), kRate);
        QVERIFY(two.differs);
        QCOMPARE(two.stops, std::vector<double>({1, 2}));
        QCOMPARE(two.fields.size(), 2u);
        QCOMPARE(two.fields[0], (RunValue{10, 0, "0", 2.0, true, false}));
        QCOMPARE(two.fields[1], (RunValue{11, 1, "1", 1.0, false, false}));
    }

    void twoValuesOfThree() {
        const KnobComparison three = compareKey(runs({{2}, {1}, {1}}), kRate);
        QCOMPARE(three.stops, std::vector<double>({1, 2}));
        QCOMPARE(three.fields.size(), 1u);
        QCOMPARE(three.fields[0].run, 10);
    }

    void manyValues() {
        for (const auto& all : {runs({{2}, {1}, {3}}), runs({{2, 1, 3}}), runs({{1, 2, 3}, {1, 2, 3}})}) {
            const KnobComparison many = compareKey(all, kRate);
            QVERIFY(many.differs && many.fields.empty());
            QCOMPARE(many.stops, std::vector<double>({1, 2, 3}));
        }
    }

    void rangesInWords() {
        KnobScale whole{KnobScale::Kind::Integer, 0, 100}, real;
        QCOMPARE(stopsText(whole, {42, 43, 44}), QStringLiteral("42 – 44"));
        QCOMPARE(stopsText(whole, {6, 12, 24}), QStringLiteral("3 values"));
        QCOMPARE(stopsText(real, {1, 2}), QStringLiteral("2 values"));
    }
};

NORMSCOPE_TEST(KnobComparisonTest)
#include "knob_comparison_test.moc"
