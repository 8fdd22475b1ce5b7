// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/keys.h"

#include "core/base/error.h"
#include "core/recipe/hot_knobs.h"
#include "tests/support/test_main.h"

#include <QtTest>
#include <algorithm>
#include <set>

using namespace normscope;

namespace {

/// Another value that the key may hold.
FieldValue other(const std::string& key, const FieldValue& value) {
    Recipe recipe;
    if (const auto* flag = std::get_if<bool>(&value)) return !*flag;
    if (const auto* real = std::get_if<double>(&value)) return *real * 0.5 + 0.013;
    if (const auto* whole = std::get_if<std::uint64_t>(&value)) return *whole + 1;
    if (const auto* list = std::get_if<std::vector<double>>(&value))
        return std::vector<double>(list->size(), 0.5);
    for (const char* word :
         {"post", "llama", "relu", "rope", "parallel", "gamma", "rmsnorm", "on", "head", "scalar", "tanh",
          "branch", "plain", "copy", "sgd", "linear", "fp64", "autocast", "2"}) {
        try {
            const FieldValue next =
                std::string(word) == "2" ? FieldValue(std::uint64_t{2}) : FieldValue(std::string(word));
            if (next == value) continue;
            set_key(recipe, key, next);
            return next;
        } catch (const InputError&) {
        }
    }
    throw InputError(key + ": has no other value in this test");
}

}  // namespace

class KeysTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void theHotKeysAreTheMembersOfHotKnobs() {
        std::set<std::string> keys;
        for (const HotField& field : hot_fields()) keys.insert(field.key);
        QCOMPARE(keys, (std::set<std::string>{"stack.residual_step", "stack.temperature", "stack.norm.eps",
                                              "optimizer.lr", "optimizer.weight_decay", "optimizer.clip"}));
        Recipe recipe;
        set_hot_knobs(recipe, {2, 3, 4, 5, 6, 7});
        QVERIFY((hot_knobs(recipe) == HotKnobs{2, 3, 4, 5, 6, 7}));
        QCOMPARE(recipe.stack.residual_step, 2.0);
        QCOMPARE(recipe.stack.temperature, 3.0);
        QCOMPARE(recipe.stack.norm.eps, 4.0);
        QCOMPARE(recipe.train.optimizer.lr, 5.0);
        QCOMPARE(recipe.train.optimizer.weight_decay, 6.0);
        QCOMPARE(recipe.train.optimizer.clip, 7.0);
        QCOMPARE(recipe.train.optimizer.eps, Recipe{}.train.optimizer.eps);
    }

    void anEventNamesEveryKnobThatMoved() {
        QCOMPARE(
            knob_changes({1, 1, 1, 1, 1, 1}, {2, 3, 4, 5, 6, 7}),
            std::string("Δt 1 → 2, τ 1 → 3, ε 1 → 4, learning rate 1 → 5, weight decay 1 → 6, clip 1 → 7"));
        QCOMPARE(knob_changes({1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}), std::string());
    }

    /// The seed, the rounding, the optimizer: whatever is not hot and does more than watch asks for another
    /// start.
    void theInitialStateDependsOnEveryKeyThatRestarts() {
        const Recipe base;
        const auto values = key_values(base);
        for (const auto& [key, role] : key_roles()) {
            const auto value = std::find_if(values.begin(), values.end(),
                                            [&k = key](const auto& v) { return v.first == k; });
            Recipe moved = base;
            set_key(moved, key,
                    value == values.end() ? FieldValue(std::string("a.txt")) : other(key, value->second));
            QVERIFY2(!(moved == base), key.c_str());
            const bool restarts = role.effect == Role::Effect::Restarts;
            QVERIFY2(!(initial_state(moved) == initial_state(base)) == restarts, key.c_str());
            QVERIFY2(same_but_hot(base, moved) == (role.effect == Role::Effect::Hot), key.c_str());
            QVERIFY2(!same_recipe(base, moved), key.c_str());
        }
    }

    void plannedStepsDoNotMakeAnotherRecipe() {
        Recipe a, b;
        a.probes = {{"growth", 0, "auto 0:49"}};
        b.probes = {{"growth", 0, ""}};
        QVERIFY(same_recipe(a, b));
        b.probes[0].steps = "0:49";
        QVERIFY(!same_recipe(a, b));
        b.probes[0] = {"growth", 7, ""};
        QVERIFY(!same_recipe(a, b));
    }

    void sizesFollow() {
        Recipe recipe;
        recipe.stack.vocab = 27;
        set_key(recipe, "data.source", std::string("copy"));
        QCOMPARE(recipe.stack.vocab, 0);
        recipe.stack.kv_heads = recipe.stack.heads = 4;
        recipe.stack.d_ff = 4 * recipe.stack.d_model;
        set_key(recipe, "stack.heads", std::uint64_t{8});
        set_key(recipe, "stack.d_model", std::uint64_t{128});
        QCOMPARE(recipe.stack.kv_heads, 8);
        QCOMPARE(recipe.stack.d_ff, 512);
        set_key(recipe, "stack.kv_heads", std::uint64_t{2});
        set_key(recipe, "stack.heads", std::uint64_t{6});
        QCOMPARE(recipe.stack.kv_heads, 2);
        set_key(recipe, "stack.depth", std::uint64_t{3});
        QCOMPARE(recipe.stack.d_ff, 512);
    }

    void overridesOfLayersThatAreGoneGo() {
        Recipe recipe;
        for (const int index : {4, 5, 6}) recipe.stack.layers.push_back({index, {}, {}});
        set_key(recipe, "stack.depth", std::uint64_t{5});  // layers 0 … 4
        QCOMPARE(recipe.stack.layers.size(), 1u);
        QCOMPARE(recipe.stack.layers[0].index, 4);
    }

    void aRejectedValueLeavesTheRecipe() {
        Recipe recipe;
        QVERIFY_THROWS_EXCEPTION(InputError, set_key(recipe, "stack.depth", std::uint64_t{0}));
        QVERIFY_THROWS_EXCEPTION(InputError, set_key(recipe, "stack.depht", std::uint64_t{3}));
        QVERIFY(recipe == Recipe{});
    }

    void listsAreNamedByTheirPlace() {
        Recipe recipe;
        recipe.stack.layers.push_back({3, {}, {}});
        recipe.stack.layers[0].attn.in = false;
        const auto values = key_values(recipe, true);
        const auto found = std::find_if(values.begin(), values.end(),
                                        [](const auto& v) { return v.first == "stack.layers.0.attn.in"; });
        QVERIFY(found != values.end() && found->second == FieldValue(false));
    }
};

NORMSCOPE_TEST(KeysTest)
#include "keys_test.moc"
