// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/probes_preset.h"

#include "core/probe/registry.h"
#include "core/run/complete.h"
#include "core/run/probe_steps.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <set>

using namespace normscope;

namespace {

std::set<std::string> ids(const std::vector<ProbePlan>& plans) {
    std::set<std::string> found;
    for (const ProbePlan& plan : plans) found.insert(plan.id);
    return found;
}

ProbesShare share(ProbesPreset preset, const Recipe& recipe) {
    return predicted_share(with_probes_of(preset, recipe));
}

}  // namespace

class ProbesPresetTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void eachPresetIsAListOfProbes() {
        const Recipe recipe = load_recipe("pre-ln");
        const auto economy = ids(probes_of(ProbesPreset::Economy, recipe)),
                   full = ids(probes_of(ProbesPreset::Full, recipe));
        for (const ProbeInfo& probe : probe_registry()) {
            QVERIFY2(full.count(probe.id), probe.id);
            QCOMPARE(economy.count(probe.id) > 0, probe.by_default && probe.cost == ProbeCost::Cheap);
        }
        QVERIFY(economy.size() >= 3 && economy.size() < default_probes().size());
        QVERIFY(full.size() > default_probes().size());
        // A recipe that names none is that of the standard preset.
        QCOMPARE(with_probes_of(ProbesPreset::Standard, recipe), recipe);
    }

    /// The presets, from shallow to wide and from short runs to long ones.
    void economyTakesAboutAHundredthAndNoPresetLessThanTheOneBefore_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::newRow("default") << QStringList();
        QTest::newRow("long") << QStringList{"steps=5000"};
        QTest::newRow("short") << QStringList{"steps=30"};
        QTest::newRow("deep") << QStringList{"stack.depth=48", "steps=1000"};
        QTest::newRow("wide") << QStringList{"stack.d_model=512", "stack.heads=8", "steps=1000"};
        QTest::newRow("long context") << QStringList{"stack.context=512", "steps=1000"};
        QTest::newRow("large batch") << QStringList{"batch=64", "steps=1000"};
    }
    void economyTakesAboutAHundredthAndNoPresetLessThanTheOneBefore() {
        QFETCH(QStringList, settings);
        std::vector<std::string> given;
        for (const QString& setting : settings) given.push_back(setting.toStdString());
        const Recipe recipe = load_recipe("pre-ln", given);
        const ProbesShare economy = share(ProbesPreset::Economy, recipe),
                          standard = share(ProbesPreset::Standard, recipe),
                          full = share(ProbesPreset::Full, recipe);
        qInfo("first %.3f %.3f %.3f, later %.4f %.4f %.4f", economy.first, standard.first, full.first,
              economy.later, standard.later, full.later);
        QVERIFY(economy.first < standard.first);
        QVERIFY(standard.first <= full.first);
        if (recipe.train.steps <= 50) {
            QCOMPARE(economy.later, 0.0);
            return;
        }
        QVERIFY(economy.later < standard.later);
        QVERIFY(standard.later <= full.later);
        // Also the last step is measured, whatever it costs: it counts in a short run.
        const double last = 2.0 / (recipe.train.steps - 50);
        QVERIFY2(economy.later < 0.01 + last, qPrintable(QString::number(economy.later)));
    }

    void theStepsOfEconomyAreKeptForARunOfAnotherLength() {
        Recipe recipe = with_probes_of(ProbesPreset::Economy, load_recipe("pre-ln"));
        recipe.train.steps = 2000;
        plan_probe_steps(recipe);
        const ProbesShare longer = predicted_share(recipe);
        QVERIFY(longer.later > 0 && longer.later < 0.012);
        QCOMPARE(parse_recipe(recipe_json(recipe), "again"), recipe);
    }
};

NORMSCOPE_TEST(ProbesPresetTest)
#include "probes_preset_test.moc"
