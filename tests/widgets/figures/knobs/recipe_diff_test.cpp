// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/knobs/recipe_diff.h"

#include "core/base/error.h"
#include "tests/support/test_main.h"
#include "widgets/figures/stack/norm_override.h"

#include <QTest>

using namespace normscope;
using namespace normscope::widgets;

class RecipeDiffTest : public QObject {
    Q_OBJECT

    static Recipe completed(Recipe recipe = {}) {
        complete(recipe.stack, 27);
        return recipe;
    }

  private Q_SLOTS:
    void aRecipeDoesNotDifferFromItself() {
        Recipe open;  // sizes left to auto are those of the other
        open.probes.push_back({"growth", 5});
        QVERIFY(recipeDifferences(open, completed()).empty());
    }

    void keysInTheOrderOfTheRecipe() {
        Recipe now = completed();
        now.train.optimizer.betas[1] = 0.999;
        now.stack.gpas.enabled = true;
        now.stack.gpas.activation = GateActivation::Tanh;
        now.stack.block = Block::Llama;
        now.stack = withNorm(now.stack, 4, Sublayer::Attention, NormPlace::Out, true, false);
        now.train.data.source = DataSource::Text;
        now.train.data.path = "/books/moby.txt";
        const auto differences = recipeDifferences(Recipe{}, now);
        QStringList lines;
        for (const auto& d : differences)
            lines << QString::fromStdString(d.key->name) + " | " + d.label + " | " + d.base + " | " + d.now;
        QCOMPARE(
            lines,
            QStringList({"stack.block | Family | GPT-2 | LLaMA", "stack.gpas.enabled | GPAS | Off | On",
                         "stack.gpas.activation | GPAS function | SiLU | Tanh",
                         "stack.layers | Overrides | none | layer 5",
                         "data.source | Data | Markov | Text file", "data.path | Files | – | /books/moby.txt",
                         "optimizer.betas | optimizer betas | 0.9, 0.95 | 0.9, 0.999"}));
    }

    void theNearest() {
        Recipe post, slow;
        post.stack.scheme = Scheme::Post;
        slow.stack.scheme = Scheme::Post;
        slow.stack.residual_step = 0.2;
        const std::vector<NamedRecipe> bases{{"pre-ln", "", {}}, {"post-ln", "", post}, {"slow", "", slow}};
        QCOMPARE(nearestRecipe(bases, completed(post)), 1);
        QCOMPARE(nearestRecipe(bases, completed(slow)), 2);
        Recipe between = completed(post);
        between.stack.residual_step = 0.5;
        QCOMPARE(nearestRecipe(bases, between), 1);  // one key from both, and from Pre-LN two
        QCOMPARE(nearestRecipe({}, between), -1);
    }

    void oneKeyAndNothingElse() {
        Recipe base, now = completed();
        setToLlama(now);
        const Recipe back = withKeyOf(now, base, "stack.block");
        QCOMPARE(back.stack.block, Block::Gpt2);
        QCOMPARE(back.stack.activation, Activation::SwiGlu);
        QCOMPARE(back.stack.norm.eps, 1e-6);
        QCOMPARE(recipeDifferences(back, now).size(), 1u);
        now.stack = withNorm(now.stack, 4, Sublayer::Attention, NormPlace::Out, true, false);
        now.train.data.source = DataSource::Text;
        now.train.data.path = "/books/moby.txt";
        QVERIFY(withKeyOf(now, base, "stack.layers").stack.layers.empty());
        QCOMPARE(withKeyOf(now, base, "data.path").train.data.path, "");
        // Every differing key can be reset, one after the other, until none differs.
        Recipe step = now;
        for (const auto& d : recipeDifferences(base, now)) step = withKeyOf(step, base, d.key);
        QVERIFY(recipeDifferences(base, step).empty());
    }

    void anUnknownKeyIsRejected() {
        QVERIFY_EXCEPTION_THROWN(withKeyOf(completed(), Recipe{}, "stack.colour"), InputError);
    }

  private:
    static void setToLlama(Recipe& recipe) { apply_block_preset(recipe.stack, Block::Llama); }
};

NORMSCOPE_TEST(RecipeDiffTest)
#include "recipe_diff_test.moc"
