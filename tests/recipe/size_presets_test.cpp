// SPDX-License-Identifier: GPL-3.0-or-later
// The literature's sizes: parameter counts to the printed digits, and recipes that load.
#include "core/recipe/size_presets.h"

#include "core/model/parameters.h"
#include "core/recipe/recipe.h"
#include "core/run/complete.h"
#include "core/stack/size_table.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <map>

using namespace normscope;

class SizePresetsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void parameterCountsAreThePublishedOnes() {
        const std::map<std::string, const char*> millions{
            {"llama-9m", "9.00"},     {"llama-20m", "19.55"},   {"llama-35m", "35.20"},
            {"llama-40m", "42.39"},   {"llama-60m", "58.07"},   {"llama-71m", "70.58"},
            {"llama-100m", "100.12"}, {"llama-130m", "134.11"}, {"llama-250m", "247.37"},
            {"llama-350m", "367.97"}, {"llama-1b", "1339.08"},  {"llama-3b", "2685.83"},
            {"llama-7b", "6738.42"},  {"gpt2-124m", "124.44"},  {"gpt2-355m", "354.82"},
            {"gpt2-774m", "774.03"},  {"gpt2-1.5b", "1557.61"}};
        QCOMPARE(size_table().size(), millions.size());
        for (const SizeRow& row : size_table()) {
            const double count = static_cast<double>(ParameterTable(stack_of(row)).size()) / 1e6;
            QCOMPARE(QString::number(count, 'f', 2), QString(millions.at(row.name)));
        }
    }

    void everySizeIsARecipe() {
        QCOMPARE(size_presets().size(), size_table().size());
        for (const SizeRow& row : size_table()) {
            const Recipe recipe = load_recipe(row.name);
            QCOMPARE(recipe.stack.d_model, row.d_model);
            QCOMPARE(recipe.stack.vocab, row.vocab);
            QCOMPARE(recipe.train.batch * recipe.train.accumulate, row.sequences);
            QCOMPARE(recipe.train.optimizer.lr, row.lr);
            QCOMPARE(recipe.train.schedule.warmup, row.warmup);
        }
    }

    void theTwoFamiliesTrainAsTheirSourcesDo() {
        const Recipe llama = load_recipe("llama-1b"), gpt2 = load_recipe("gpt2-124m");
        QVERIFY(llama.stack.scheme == Scheme::Pre && !llama.stack.bias && !llama.stack.tied_head);
        QVERIFY(llama.stack.init.rule == InitRule::Plain && llama.stack.init.embedding_std == 0.6325);
        QVERIFY(llama.train.optimizer.betas[1] == 0.999 && llama.train.optimizer.weight_decay == 0);
        QCOMPARE(llama.train.optimizer.lr, 5e-4);
        QCOMPARE(llama.train.steps, 100000);
        QCOMPARE(llama.train.optimizer.clip, 0.0);
        QCOMPARE(load_recipe("llama-7b").train.optimizer.clip, 1.0);
        QVERIFY(gpt2.stack.init.rule == InitRule::Gpt2 && gpt2.stack.tied_head && gpt2.stack.bias);
        QVERIFY(gpt2.train.optimizer.betas[1] == 0.95 && gpt2.train.optimizer.weight_decay == 0.1);
    }
};

NORMSCOPE_TEST(SizePresetsTest)
#include "size_presets_test.moc"
