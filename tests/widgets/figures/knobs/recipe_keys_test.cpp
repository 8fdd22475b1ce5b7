// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/error.h"
#include "core/recipe/keys.h"
#include "tests/support/test_main.h"
#include "widgets/figures/knobs/key_text.h"
#include "widgets/figures/knobs/knob_table.h"

#include <QTest>
#include <algorithm>
#include <cmath>

using namespace normscope;
using namespace normscope::widgets;

namespace {

/// As a knob sets it: numbers in the type of their key.
void setKey(Recipe& recipe, KeyRef key, const FieldValue& value) {
    const auto number = number_of(value);
    key->set(recipe, number && key->type.kind != FieldType::Kind::Whole ? keyValue(key, *number) : value);
}

}  // namespace

class RecipeKeysTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void readsByPath() {
        Recipe recipe;
        recipe.stack.residual_step = 0.2;
        QCOMPARE(recipe_key("stack.residual_step").get(recipe), FieldValue(0.2));
        QCOMPARE(recipe_key("stack.depth").get(recipe), FieldValue(std::uint64_t{12}));
        QCOMPARE(keyText(recipe_key("stack.scheme").get(recipe)), QStringLiteral("pre"));
        QCOMPARE(recipe_key("optimizer.lr").get(recipe), FieldValue(3e-3));
        QCOMPARE(recipe_key("seed").get(recipe), FieldValue(std::uint64_t{42}));
        QCOMPARE(recipe_key("stack.gpas.enabled").get(recipe), FieldValue(false));
        QVERIFY(!find_key("stack.nothing"));
    }

    void writesByPath() {
        Recipe recipe;
        setKey(recipe, "stack.residual_step", 0.2);
        setKey(recipe, "stack.depth", 24.0);  // as sent by a slider
        setKey(recipe, "stack.scheme", "post");
        setKey(recipe, "stack.norm.eps", 0);
        setKey(recipe, "stack.gpas.enabled", true);
        setKey(recipe, "seed", std::uint64_t{18446744073709551615u});
        setKey(recipe, "data.path", "/x/ä.txt");
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
        const auto values = key_values(recipe);
        QVERIFY(values.size() > 40);
        for (const auto& [key, value] : values) setKey(copy, recipe_key(key), value);
        QVERIFY(key_values(copy) == values);
    }

    void rejectsAndLeavesTheRecipe() {
        Recipe recipe;
        QVERIFY_EXCEPTION_THROWN(setKey(recipe, "stack.temperature", 0), InputError);
        QVERIFY_EXCEPTION_THROWN(setKey(recipe, "stack.depth", 2.5), InputError);
        QVERIFY_EXCEPTION_THROWN(setKey(recipe, "stack.deepness", 3), InputError);
        QVERIFY_EXCEPTION_THROWN(setKey(recipe, "stack.scheme", "prae"), InputError);
        QVERIFY_EXCEPTION_THROWN(setKey(recipe, "precision_policy", "mixed"), InputError);
        QVERIFY_EXCEPTION_THROWN(setKey(recipe, "stack.residual_step", std::nan("")), InputError);
        QVERIFY(key_values(recipe) == key_values(Recipe{}));
    }

    void sizesFollow() {
        Recipe complete;
        complete.stack.d_ff = 256;
        complete.stack.kv_heads = 4;
        setKey(complete, "stack.d_model", 128);
        setKey(complete, "stack.heads", 8);
        QCOMPARE(complete.stack.d_ff, 512);
        QCOMPARE(complete.stack.kv_heads, 8);

        Recipe odd;
        odd.stack.d_ff = 100;
        odd.stack.kv_heads = 2;
        setKey(odd, "stack.d_model", 128);
        setKey(odd, "stack.heads", 8);
        QCOMPARE(odd.stack.d_ff, 100);
        QCOMPARE(odd.stack.kv_heads, 2);
    }

    void blocksBringTheirDefaults() {
        Recipe recipe;
        setKey(recipe, "stack.block", "llama");
        QVERIFY(recipe.stack.norm.kind == NormKind::RmsNorm);
        QVERIFY(!recipe.stack.bias);
    }

    void domainsAreTheRecipesOwn() {
        const auto type = [](const char* key) { return recipe_key(key).type; };
        QVERIFY(type("stack.temperature").range.low_open);
        QCOMPARE(type("stack.depth").range.high, 4096.0);
        QVERIFY(std::ranges::count(type("stack.scheme").words, std::string_view("lns")) == 1);
        QVERIFY(type("data.path").kind == FieldType::Kind::Text);
        QVERIFY(type("stack.gpas.enabled").kind == FieldType::Kind::Flag);
        for (const auto& [key, value] : key_values({})) QVERIFY2(find_key(key), key.c_str());
    }

    void everyKnobHasAKeyAndUsableEnds() {
        for (const KnobSpec& spec : knobTable()) {
            const KeyRef key = spec.key;
            QVERIFY2(find_key(key->name) == &*key, key->name.c_str());
            Recipe recipe;
            if (key->type.kind == FieldType::Kind::Word) {
                for (const char* word : key->type.words) setKey(recipe, key, word);
            } else if (key->type.is_number()) {
                const KnobScale scale = knobScale(spec, recipe);
                QCOMPARE(scale.isInteger(), key->type.is_integer());
                for (int i = 0; i <= 20; ++i) {
                    const double value = valueAt(scale, i / 20.0);
                    QVERIFY2(isAllowed(scale, value), key->name.c_str());
                    key->set(recipe,
                             keyValue(key, value));  // throws where the slider leaves the recipe's range
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
                if (spec.key->name == key) return knobScale(spec, recipe);
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
            for (const char* word : spec.key->type.words) {
                const QString title = choiceTitle(spec.key, word);
                QVERIFY2(!title.contains(u'_') && title[0].isUpper(), qPrintable(title));
            }
    }

    void keyValueHeadsStayDivisors() {
        Recipe recipe;
        recipe.stack.d_model = 96;
        recipe.stack.heads = 12;
        recipe.stack.kv_heads = 4;
        setKey(recipe, "stack.heads", 6);
        QCOMPARE(recipe.stack.kv_heads, 2);
        setKey(recipe, "stack.kv_heads", 6);
        setKey(recipe, "stack.heads", 3);
        QCOMPARE(recipe.stack.kv_heads, 3);
    }
};

NORMSCOPE_TEST(RecipeKeysTest)
#include "recipe_keys_test.moc"
