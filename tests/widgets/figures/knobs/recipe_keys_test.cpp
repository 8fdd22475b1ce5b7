// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/knobs/recipe_keys.h"

#include "core/base/error.h"
#include "core/recipe/recipe.h"
#include "tests/support/test_main.h"
#include "widgets/figures/knobs/knob_table.h"

#include <QTest>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;

class RecipeKeysTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void readsByPath() {
        Recipe recipe;
        recipe.stack.residual_step = 0.2;
        QCOMPARE(recipeKey(recipe, "stack.residual_step"), QVariant(0.2));
        QCOMPARE(recipeKey(recipe, "stack.depth").toInt(), 12);
        QCOMPARE(recipeKey(recipe, "stack.scheme").toString(), QStringLiteral("pre"));
        QCOMPARE(recipeKey(recipe, "optimizer.lr"), QVariant(3e-3));
        QCOMPARE(recipeKey(recipe, "seed").toULongLong(), 42ull);
        QCOMPARE(recipeKey(recipe, "stack.gpas.enabled"), QVariant(false));
        QVERIFY(!recipeKey(recipe, "stack.nothing").isValid());
    }

    void writesByPath() {
        Recipe recipe;
        setRecipeKey(recipe, "stack.residual_step", 0.2);
        setRecipeKey(recipe, "stack.depth", 24.0);  // as sent by a slider
        setRecipeKey(recipe, "stack.scheme", "post");
        setRecipeKey(recipe, "stack.norm.eps", 0);
        setRecipeKey(recipe, "stack.gpas.enabled", true);
        setRecipeKey(recipe, "seed", QVariant::fromValue<qulonglong>(18446744073709551615ull));
        setRecipeKey(recipe, "data.path", "/x/ä.txt");
        QCOMPARE(recipe.stack.residual_step, 0.2);
        QCOMPARE(recipe.stack.depth, 24);
        QVERIFY(recipe.stack.scheme == Scheme::Post);
        QCOMPARE(recipe.stack.norm.eps, 0.0);
        QVERIFY(recipe.stack.gpas.enabled);
        QCOMPARE(recipe.train.seed, std::uint64_t(18446744073709551615ull));
        QCOMPARE(QString::fromStdString(recipe.train.data.path), QStringLiteral("/x/ä.txt"));
        QCOMPARE(recipe.stack.d_model, 64);  // and nothing else
    }

    void everyValueWritesBack() {
        Recipe recipe, copy;
        recipe.train.data.path = "x";
        const auto values = recipeValues(recipe);
        QVERIFY(values.size() > 40);
        for (auto it = values.begin(); it != values.end(); ++it) setRecipeKey(copy, it.key(), it.value());
        QCOMPARE(recipeValues(copy), values);
    }

    void rejectsAndLeavesTheRecipe() {
        Recipe recipe;
        QVERIFY_EXCEPTION_THROWN(setRecipeKey(recipe, "stack.temperature", 0), InputError);
        QVERIFY_EXCEPTION_THROWN(setRecipeKey(recipe, "stack.depth", 2.5), InputError);
        QVERIFY_EXCEPTION_THROWN(setRecipeKey(recipe, "stack.deepness", 3), InputError);
        QVERIFY_EXCEPTION_THROWN(setRecipeKey(recipe, "stack.scheme", "prae"), InputError);
        QVERIFY_EXCEPTION_THROWN(setRecipeKey(recipe, "precision_policy", "mixed"), InputError);
        QVERIFY_EXCEPTION_THROWN(setRecipeKey(recipe, "stack.residual_step", std::nan("")), InputError);
        QCOMPARE(recipeValues(recipe), recipeValues(Recipe{}));
    }

    void sizesFollow() {
        Recipe complete;
        complete.stack.d_ff = 256;
        complete.stack.kv_heads = 4;
        setRecipeKey(complete, "stack.d_model", 128);
        setRecipeKey(complete, "stack.heads", 8);
        QCOMPARE(complete.stack.d_ff, 512);
        QCOMPARE(complete.stack.kv_heads, 8);

        Recipe odd;
        odd.stack.d_ff = 100;
        odd.stack.kv_heads = 2;
        setRecipeKey(odd, "stack.d_model", 128);
        setRecipeKey(odd, "stack.heads", 8);
        QCOMPARE(odd.stack.d_ff, 100);
        QCOMPARE(odd.stack.kv_heads, 2);
    }

    void blocksBringTheirDefaults() {
        Recipe recipe;
        setRecipeKey(recipe, "stack.block", "llama");
        QVERIFY(recipe.stack.norm.kind == NormKind::RmsNorm);
        QVERIFY(!recipe.stack.bias);
    }

    void domainsAreTheRecipesOwn() {
        const auto& domains = recipeDomains();
        QVERIFY(domains.value("stack.temperature").low_open);
        QCOMPARE(domains.value("stack.depth").high, 4096.0);
        QVERIFY(domains.value("stack.scheme").words.contains("lns"));
        QVERIFY(domains.value("data.path").kind == KeyDomain::Kind::Text);
        QVERIFY(domains.value("stack.gpas.enabled").kind == KeyDomain::Kind::Flag);
        const auto values = recipeValues({});
        for (auto it = values.begin(); it != values.end(); ++it)
            QVERIFY2(domains.contains(it.key()), qPrintable(it.key()));
    }

    void everyKnobHasAKeyAndUsableEnds() {
        for (const KnobSpec& spec : knobTable()) {
            const QString key = QString::fromUtf8(spec.key);
            QVERIFY2(recipeDomains().contains(key), spec.key);
            const KeyDomain domain = recipeDomains().value(key);
            Recipe recipe;
            if (domain.kind == KeyDomain::Kind::Word) {
                for (const QString& word : domain.words) setRecipeKey(recipe, key, word);
            } else if (domain.kind == KeyDomain::Kind::Integer || domain.kind == KeyDomain::Kind::Real) {
                const KnobScale scale = knobScale(spec, recipe);
                QCOMPARE(scale.isInteger(), domain.kind == KeyDomain::Kind::Integer);
                for (int i = 0; i <= 20; ++i) {
                    const double value = valueAt(scale, i / 20.0);
                    QVERIFY2(isAllowed(scale, value), spec.key);
                    setRecipeKey(recipe, key, value);  // throws where the slider leaves the recipe's range
                }
            }
        }
    }

    void scalesFollowTheRecipe() {
        Recipe recipe;
        recipe.stack.d_model = 96;
        recipe.stack.heads = 6;
        recipe.train.steps = 500;
        const auto scaleOf = [&](const char* key) {
            for (const KnobSpec& spec : knobTable())
                if (QString::fromUtf8(spec.key) == QLatin1String(key)) return knobScale(spec, recipe);
            return KnobScale{};
        };
        QCOMPARE(scaleOf("stack.residual_step").detents, (std::vector<double>{0.1, 1 / std::sqrt(24.0), 1}));
        QCOMPARE(scaleOf("stack.d_model").multiple, 6);
        QCOMPARE(scaleOf("stack.heads").detents, (std::vector<double>{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48}));
        QCOMPARE(scaleOf("schedule.warmup").high, 500.0);
        recipe.stack.position = Position::Rope;
        QCOMPARE(scaleOf("stack.d_model").multiple, 12);
        QCOMPARE(scaleOf("stack.heads").detents, (std::vector<double>{1, 2, 3, 4, 6, 8, 12, 16, 24, 48}));
    }

    void titlesOfSchemes() {
        QCOMPARE(choiceTitle("stack.scheme", "pre"), QStringLiteral("Pre-LN"));
        QCOMPARE(choiceTitle("precision", "bf16"), QStringLiteral("BF16"));
        QCOMPARE(choiceTitle("stack.block", "gpt2"), QStringLiteral("GPT-2"));
        QCOMPARE(choiceTitle("optimizer.kind", "muon"), QStringLiteral("Muon"));
        QCOMPARE(choiceTitle("stack.bias", "false"), QStringLiteral("Off"));
        for (const KnobSpec& spec : knobTable())  // no raw word of the file is shown
            for (const QString& word : recipeDomains().value(QString::fromUtf8(spec.key)).words) {
                const QString title = choiceTitle(QString::fromUtf8(spec.key), word);
                QVERIFY2(!title.contains(u'_') && title[0].isUpper(), qPrintable(title));
            }
    }

    void keyValueHeadsStayDivisors() {
        Recipe recipe;
        recipe.stack.d_model = 96;
        recipe.stack.heads = 12;
        recipe.stack.kv_heads = 4;
        setRecipeKey(recipe, "stack.heads", 6);
        QCOMPARE(recipe.stack.kv_heads, 2);
        setRecipeKey(recipe, "stack.kv_heads", 6);
        setRecipeKey(recipe, "stack.heads", 3);
        QCOMPARE(recipe.stack.kv_heads, 3);
    }
};

NORMSCOPE_TEST(RecipeKeysTest)
#include "recipe_keys_test.moc"
