// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/keys.h"

#include "core/base/error.h"
#include "core/recipe/hot_knobs.h"
#include "core/recipe/presets.h"
#include "core/recipe/size_presets.h"
#include "tests/support/test_main.h"

#include <nlohmann/json.hpp>

#include <QtTest>
#include <algorithm>
#include <functional>
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
         {"post", "llama",  "relu",  "rope", "parallel", "gamma", "rmsnorm", "on",   "head",     "scalar",
          "tanh", "branch", "plain", "copy", "patches",  "sgd",   "linear",  "fp64", "autocast", "2"}) {
        try {
            const FieldValue next =
                std::string(word) == "2" ? FieldValue(std::uint64_t{2}) : FieldValue(std::string(word));
            if (next == value) continue;
            recipe_key(key).set(recipe, next);
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
        for (const RecipeKey* key : hot_keys()) keys.insert(key->name);
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

    /// Checkpoints and events have them in this order.
    void theHotKeysKeepTheirOrderAndNames() {
        std::vector<std::string> in_files, in_events;
        for (const RecipeKey* key : hot_keys()) {
            in_files.push_back(key->last_part());
            in_events.push_back(key->role.label);
        }
        QCOMPARE(in_files, (std::vector<std::string>{"residual_step", "temperature", "eps", "lr",
                                                     "weight_decay", "clip"}));
        QCOMPARE(in_events,
                 (std::vector<std::string>{"Δt", "τ", "ε", "learning rate", "weight decay", "clip"}));
    }

    void theKeysThatObserve() {
        std::set<std::string> keys;
        for (const RecipeKey& key : recipe_keys())
            if (key.role.effect == Role::Effect::Observes) keys.insert(key.name);
        QCOMPARE(keys, (std::set<std::string>{"validate.every", "checkpoint.every", "checkpoint.keep",
                                              "data.tokenizer", "probes", "watch"}));
    }

    void inputAndDataAreOfOneKind() {
        Recipe recipe;
        const auto set = [&](const char* key, const char* word) {
            recipe_key(key).set(recipe, std::string(word));
        };
        set("data.source", "images");
        QCOMPARE(recipe.stack.input, StackInput::Patches);
        set("data.source", "text");
        QCOMPARE(recipe.stack.input, StackInput::Tokens);
        set("stack.input", "patches");
        QCOMPARE(recipe.train.data.source, DataSource::Images);
        recipe.stack.image = {16, 1, 4};
        set("data.source", "cifar10");
        QCOMPARE(recipe.stack.image, (ImageSpec{32, 3, 4}));
        recipe.train.data.path = "cifar";
        recipe.train.data.tokenizer = "tokenizer.json";
        set("data.source", "cifar10");
        QCOMPARE(recipe.train.data.path, std::string("cifar"));
        set("data.source", "text");
        QCOMPARE(recipe.train.data.path, std::string());
        QCOMPARE(recipe.train.data.tokenizer, std::string());
        set("data.source", "cifar10");
        recipe.stack.vocab = 10;
        set("stack.input", "tokens");
        QCOMPARE(recipe.train.data.source, DataSource::Markov);
        QCOMPARE(recipe.stack.vocab, 0);
        set("data.source", "copy");
        set("stack.input", "tokens");
        QCOMPARE(recipe.train.data.source, DataSource::Copy);
    }

    void everyFieldHasOneKey() {
        Recipe recipe;
        recipe.train.data.path = "a.txt";
        recipe.train.data.tokenizer = "tokenizer.json";
        const RuleOverride rule{true, false, true, 0.5, 2.0};
        recipe.stack.layers = {{0, rule, rule}};
        recipe.probes = {{"growth", 7, "0:49", "blocks.0", "fp16"}};
        recipe.watch.resize(1);
        recipe.interventions.resize(1);
        auto written = nlohmann::json::parse(recipe_json(recipe));
        written.erase("format");
        written.erase("version");
        std::multiset<std::string> fields, keys;
        const std::function<void(const nlohmann::json&, const std::string&)> collect =
            [&](const nlohmann::json& value, const std::string& path) {
                if (value.is_object())
                    for (const auto& [name, inside] : value.items())
                        collect(inside, path.empty() ? name : path + "." + name);
                else if (value.is_array() && value[0].is_object())
                    collect(value[0], path);
                else
                    fields.insert(path);
            };
        collect(written, "");
        for (const RecipeKey& key : recipe_keys()) {
            QVERIFY2(find_key(key.name) == &key, key.name.c_str());
            QCOMPARE(key.is_list(), !key.entries.empty());
            if (!key.is_list()) keys.insert(key.name);
            for (const RecipeKey& inside : key.entries) keys.insert(inside.name);
        }
        QCOMPARE(keys, fields);
        QVERIFY(keys.size() > 80);
    }

    void everyKeyHasAText() {
        for (const RecipeKey& key : recipe_keys()) {
            if (!key.is_list()) QVERIFY2(key.help && *key.help, key.name.c_str());
            for (const RecipeKey& inside : key.entries)
                QVERIFY2(inside.help && *inside.help, inside.name.c_str());
        }
    }

    void everyValueIsSetAsItWasGot() {
        std::vector<Preset> all(presets().begin(), presets().end());
        all.insert(all.end(), size_presets().begin(), size_presets().end());
        for (const Preset& preset : all) {
            const Recipe recipe = read_recipe(preset.name);
            Recipe copied;
            for (const RecipeKey& key : recipe_keys()) {
                key.copy(copied, recipe);
                if (key.is_list()) continue;
                const std::string where = std::string(preset.name) + ": " + key.name;
                const FieldValue value = key.get(recipe);
                Recipe same = recipe, other;
                key.set(same, value);
                QVERIFY2(key.get(same) == value, where.c_str());
                key.set(other, value);
                QVERIFY2(key.get(other) == value, where.c_str());
                // A key of the data sets the size of the vocabulary back to auto.
                if (!key.name.starts_with("data.")) QVERIFY2(same == recipe, where.c_str());
            }
            QVERIFY2(copied == recipe, preset.name);
            QCOMPARE(recipe_json(copied), recipe_json(recipe));
        }
    }

    void aRejectionNamesTheKeyAndWhatIsAllowed() {
        const auto message = [](KeyRef key, const FieldValue& value) {
            Recipe recipe;
            try {
                key->set(recipe, value);
            } catch (const InputError& error) {
                return std::string(error.what());
            }
            return std::string("none");
        };
        QCOMPARE(message("stack.depth", 0), std::string("stack.depth: 0 is out of range, allowed: 1 … 4096"));
        QCOMPARE(message("stack.depth", 2.5),
                 std::string("stack.depth: 2.5 is not a whole number, allowed: 1 … 4096"));
        QCOMPARE(message("stack.d_ff", "much"),
                 std::string("stack.d_ff: \"much\" is not a whole number, allowed: 1 … 1048576"));
        QCOMPARE(message("seed", -1), std::string("seed: -1 is not a whole number, allowed: 0 … 2^64 − 1"));
        QCOMPARE(message("stack.temperature", 0),
                 std::string("stack.temperature: 0 is out of range, allowed: (0, ∞)"));
        QCOMPARE(message("stack.bias", "on"),
                 std::string("stack.bias: \"on\" is not a switch, allowed: true, false"));
        QCOMPARE(message("schedule.lr", "step"),
                 std::string("schedule.lr: \"step\" is not known, allowed: cosine, linear, constant"));
        QCOMPARE(message("optimizer.betas", 0.9),
                 std::string("optimizer.betas: 0.9 has the wrong form, allowed: 2 numbers in [0, 1]"));
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
        for (const RecipeKey& key : recipe_keys()) {
            if (key.is_list()) continue;
            const auto value = std::find_if(values.begin(), values.end(),
                                            [&](const auto& v) { return v.first == key.name; });
            Recipe moved = base;
            key.set(moved, value == values.end() ? FieldValue(std::string("a.txt"))
                                                 : other(key.name, value->second));
            const char* const name = key.name.c_str();
            QVERIFY2(!(moved == base), name);
            const bool restarts = key.role.effect == Role::Effect::Restarts;
            QVERIFY2(!(initial_state(moved) == initial_state(base)) == restarts, name);
            QVERIFY2(same_but_hot(base, moved) == (key.role.effect == Role::Effect::Hot), name);
            QVERIFY2(!same_recipe(base, moved), name);
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
        recipe_key("data.source").set(recipe, std::string("copy"));
        QCOMPARE(recipe.stack.vocab, 0);
        recipe.stack.kv_heads = recipe.stack.heads = 4;
        recipe.stack.d_ff = 4 * recipe.stack.d_model;
        recipe_key("stack.heads").set(recipe, std::uint64_t{8});
        recipe_key("stack.d_model").set(recipe, std::uint64_t{128});
        QCOMPARE(recipe.stack.kv_heads, 8);
        QCOMPARE(recipe.stack.d_ff, 512);
        recipe_key("stack.kv_heads").set(recipe, std::uint64_t{2});
        recipe_key("stack.heads").set(recipe, std::uint64_t{6});
        QCOMPARE(recipe.stack.kv_heads, 2);
        recipe_key("stack.depth").set(recipe, std::uint64_t{3});
        QCOMPARE(recipe.stack.d_ff, 512);
    }

    void overridesOfLayersThatAreGoneGo() {
        Recipe recipe;
        for (const int index : {4, 5, 6}) recipe.stack.layers.push_back({index, {}, {}});
        recipe_key("stack.depth").set(recipe, std::uint64_t{5});  // layers 0 … 4
        QCOMPARE(recipe.stack.layers.size(), 1u);
        QCOMPARE(recipe.stack.layers[0].index, 4);
    }

    void aRejectedValueLeavesTheRecipe() {
        Recipe recipe;
        QVERIFY_THROWS_EXCEPTION(InputError, recipe_key("stack.depth").set(recipe, std::uint64_t{0}));
        QVERIFY_THROWS_EXCEPTION(InputError, recipe_key("stack.depht").set(recipe, std::uint64_t{3}));
        QVERIFY(recipe == Recipe{});
    }

    void listsAreNamedByTheirPlace() {
        Recipe recipe;
        recipe.stack.layers.push_back({3, {}, {}});
        recipe.stack.layers[0].attn.in = false;
        const auto values = key_values(recipe);
        const auto found = std::find_if(values.begin(), values.end(),
                                        [](const auto& v) { return v.first == "stack.layers.0.attn.in"; });
        QVERIFY(found != values.end() && found->second == FieldValue(false));
    }
};

NORMSCOPE_TEST(KeysTest)
#include "keys_test.moc"
