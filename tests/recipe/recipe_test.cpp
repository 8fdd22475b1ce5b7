// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/recipe/recipe.h"

#include "core/base/error.h"
#include "core/probe/registry.h"
#include "core/recipe/presets.h"
#include "core/run/experiment.h"
#include "tests/support/test_main.h"

#include <nlohmann/json.hpp>

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>

using namespace normscope;

namespace {

std::string recipe_text(const std::string& keys) {
    return R"({"format": "normscope-recipe", "version": 1)" + (keys.empty() ? "" : ", " + keys) + "}";
}

Recipe complete_recipe(const std::string& keys) {
    Recipe recipe = parse_recipe(recipe_text(keys), "test");
    complete_and_validate(recipe);
    return recipe;
}

}  // namespace

class RecipeTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void imagesArePatches() {
        const auto input = [](const char* text) {
            return parse_recipe(recipe_text(text), "test").stack.input;
        };
        QCOMPARE(input(R"("data": {"source": "images"})"), StackInput::Patches);
        QCOMPARE(input(R"("data": {"source": "images"}, "stack": {"depth": 2})"), StackInput::Patches);
        QCOMPARE(input(R"("data": {"source": "copy"})"), StackInput::Tokens);
        // What is given is kept, and rejected when it is completed.
        QCOMPARE(input(R"("data": {"source": "images"}, "stack": {"input": "tokens"})"), StackInput::Tokens);
    }

    void presetsAreComplete() {
        QStringList names;
        for (const Preset& preset : presets()) {
            names << preset.name;
            const Recipe recipe = load_recipe(preset.name);
            const DataSource source = recipe.train.data.source;
            QCOMPARE(recipe.stack.vocab, is_of_images(source) ? 10 : source == DataSource::Copy ? 17 : 27);
            QCOMPARE(recipe.probes.size(), default_probes().size());
            const auto json = nlohmann::json::parse(preset.json);
            QVERIFY2(!json.at("title").get<std::string>().empty(), preset.name);
            QVERIFY2(!json.at("description").get<std::string>().empty(), preset.name);
        }
        QCOMPARE(names, (QStringList{"pre-ln-copy", "post-ln-copy", "pre-ln", "post-ln", "peri-ln",
                                     "sandwich-ln", "deepnorm", "mix-ln", "lns", "output-ln", "no-norm",
                                     "post-ln-small-step", "post-ln-low-rate", "post-ln-24", "gpt2-init",
                                     "diverging", "vit-shapes", "tiny-vit"}));
        QVERIFY(find_preset("pre-ln") != nullptr);
        QVERIFY(find_preset("pre") == nullptr);
    }

    void presetsStateWhatTheirNamesState() {
        QCOMPARE(load_recipe("pre-ln").stack.scheme, Scheme::Pre);
        QCOMPARE(load_recipe("post-ln").stack.scheme, Scheme::Post);
        QCOMPARE(load_recipe("peri-ln").stack.scheme, Scheme::Peri);
        QCOMPARE(load_recipe("no-norm").stack.scheme, Scheme::None);
        QCOMPARE(load_recipe("post-ln-small-step").stack.residual_step, 0.2);
        QCOMPARE(load_recipe("post-ln-24").stack.depth, 24);
        QCOMPARE(load_recipe("gpt2-init").stack.init.rule, InitRule::Gpt2);
    }

    void defaultsAreTheToy() {
        const Recipe r = complete_recipe("");
        QCOMPARE(r.stack.depth, 12);
        QCOMPARE(r.stack.d_model, 64);
        QCOMPARE(r.stack.heads, 4);
        QCOMPARE(r.stack.kv_heads, 4);
        QCOMPARE(r.stack.d_ff, 256);
        QCOMPARE(r.stack.context, 64);
        QCOMPARE(r.stack.init.rule, InitRule::Lab);
        QVERIFY(!r.stack.tied_head);
        QCOMPARE(r.train.batch, 8);
        QCOMPARE(r.train.steps, 200);
        QCOMPARE(r.train.seed, std::uint64_t{42});
        QCOMPARE(r.train.optimizer.lr, 3e-3);
        QCOMPARE(r.train.optimizer.weight_decay, 0.1);
    }

    void jsonRoundTrip_data() {
        QTest::addColumn<QString>("text");
        for (const Preset& preset : presets()) QTest::newRow(preset.name) << preset.json;
        QTest::newRow("everything") << QString::fromStdString(recipe_text(
            R"("stack": {"depth": 5, "scheme": "custom", "norm": {"kind": "rmsnorm", "eps": 1e-7}, "residual_step": 0.1,
                "temperature": 0.3333333333333333, "gpas": {"enabled": true, "activation": "silu8", "site": "shortcut"},
                "init": {"rule": "gpt2", "std": 0.017}, "final_norm": "off",
                "layers": [{"index": 3, "attn": {"in": true, "out": false, "a": 0.5}, "ffn": {"post": true, "b": -2}}]},
               "data": {"source": "text", "path": "/tmp/a b \u0022 c", "held_out": 0.25}, "batch": 3, "accumulate": 2,
               "optimizer": {"lr": 1e-300, "betas": [0.1, 0.2], "clip": 0},
               "schedule": {"lr": "linear", "warmup": 10, "temperature_from": 4, "temperature_warmup": 7},
               "precision": "fp64", "steps": 1, "seed": 18446744073709551615, "validate": {"every": 0},
               "checkpoint": {"every": 5, "keep": 3}, "probes": [{"id": "theta", "every": 3}, {"id": "growth"}])"));
    }
    void jsonRoundTrip() {
        QFETCH(QString, text);
        const Recipe recipe = parse_recipe(text.toStdString(), "test");
        const std::string json = recipe_json(recipe);
        QCOMPARE(recipe_json(parse_recipe(json, "again")), json);
        QCOMPARE(nlohmann::json::parse(recipe_json(recipe, -1)), nlohmann::json::parse(json));
        QVERIFY(recipe_json(recipe, -1).find('\n') == std::string::npos);
    }

    void everyKeyArrives() {
        const Recipe r =
            parse_recipe(recipe_text(R"("stack": {"layers": [{"index": 3, "attn": {"in": true, "a": 0.5}}]},
            "seed": 18446744073709551615, "probes": [{"id": "theta", "every": 3}, {"id": "growth", "every": "auto"}])"),
                         "test");
        QCOMPARE(r.stack.layers.size(), std::size_t{1});
        QCOMPARE(r.stack.layers[0].attn.in, std::optional(true));
        QCOMPARE(r.stack.layers[0].attn.a, std::optional(0.5));
        QVERIFY(!r.stack.layers[0].attn.out.has_value());
        QVERIFY(r.stack.layers[0].ffn.empty());
        QCOMPARE(r.train.seed, ~std::uint64_t{0});
        QCOMPARE(r.probes[0].every, 3);
        QCOMPARE(r.probes[1].every, 0);
    }

    void settings() {
        const std::string text = recipe_text(R"("stack": {"depth": 3})");
        const auto set = [&](std::vector<std::string> settings) {
            return parse_recipe(with_settings(text, settings, "t"), "t");
        };
        QCOMPARE(set({"stack.depth=24"}).stack.depth, 24);
        QCOMPARE(set({"stack.scheme=post"}).stack.scheme, Scheme::Post);
        QCOMPARE(set({"stack.scheme=\"peri\""}).stack.scheme, Scheme::Peri);
        QCOMPARE(set({"data.source=text", "data.path=/a=b"}).train.data.path, std::string("/a=b"));
        QCOMPARE(set({"optimizer.betas=[0.5,0.6]"}).train.optimizer.betas[1], 0.6);
        QCOMPARE(set({"stack.depth=4", "stack.depth=5"}).stack.depth, 5);
        QCOMPARE(set({}).stack.depth, 3);
        QCOMPARE(set({"steps=7"}).train.steps, 7);
    }

    void hostileSettings() {
        const auto rejected = [](const std::string& setting) {
            try {
                with_settings(recipe_text(""), {setting}, "t");
                return std::string();
            } catch (const InputError& error) {
                return std::string(error.what());
            }
        };
        std::string path;
        for (int i = 0; i < 100'000; ++i) path += "a.";
        const std::pair<std::string, std::string> rows[] = {
            {"stack.depth=" + std::string(200'000, '[') + std::string(200'000, ']'),
             "--set stack.depth: [0][0]"},
            {path + "a=1", "is nested deeper than 32 levels, allowed: at most 32"},
            {"optimizer.lr=1e999", "--set optimizer.lr: the number 1e999 is out of range"},
            {R"(stack={"depth":1,"depth":2})", "--set stack: \"depth\" appears twice"},
            {"data.path=\xff", "--set data.path: is not valid UTF-8 at byte 1"}};
        for (const auto& [setting, message] : rows) {
            const std::string found = rejected(setting);
            QVERIFY2(found.find(message) != std::string::npos, found.substr(0, 300).c_str());
            QVERIFY2(found.size() < 400 && found.find('\n') == std::string::npos, found.c_str());
        }
    }

    void fileOrPreset() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("r.json").toStdString();
        QFile file(QString::fromStdString(path));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(recipe_text(R"("title": "T", "description": "D", "batch": 2)")));
        file.close();
        QCOMPARE(load_recipe(path, {"stack.depth=2"}).train.batch, 2);
    }

    void errors_data() {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* name, const std::string& text, const char* message) {
            QTest::newRow(name) << text << message;
        };
        const auto keys = [&](const char* name, const std::string& text, const char* message) {
            row(name, recipe_text(text), message);
        };
        row("not json", "{", "test: not valid JSON at byte 2");
        row("brackets", std::string(200'000, '[') + std::string(200'000, ']'), "test: [0][0][0]");
        keys("brackets in a key", "\"stack\": " + std::string(200'000, '[') + std::string(200'000, ']'),
             "test: stack[0][0][0]");
        keys(
            "objects in a key",
            [] {
                std::string text = "\"stack\": ";
                for (int i = 0; i < 200'000; ++i) text += "{\"stack\":";
                return text + std::string(200'000, '}');
            }(),
            "test: stack.stack.stack");
        keys("overflow", R"("optimizer": {"lr": 1e999})",
             "test: optimizer.lr: the number 1e999 is out of range, allowed: magnitudes up to 1.8e308");
        keys("key twice", R"("stack": {"depth": 2, "depth": 3})",
             "test: stack: \"depth\" appears twice, allowed: each key once");
        keys("probe twice", R"("probes": [{"id": "growth"}, {"id": "growth", "every": 3}])",
             "probes[1].id: \"growth\" is listed already by probes[0], allowed: each probe once");
        row("after a NUL", recipe_text("") + std::string("\0{", 2), "test: has a NUL at byte ");
        row("trailing", recipe_text("") + "{}", "test: not valid JSON at byte ");
        row("no UTF-8", recipe_text("\"data\": {\"path\": \"\xff\"}"), "test: is not valid UTF-8 at byte ");
        keys("key of two lines", R"("a\nb": 1)", "test: the key \"a\\nb\" has control characters");
        row("a list", "[]", "test: not a recipe, allowed: an object with \"format\"");
        row("no format", "{}", "test: not a recipe");
        row("other version", R"({"format": "normscope-recipe", "version": 2})",
            "test: version: 2 is not known, allowed: 1");
        keys("unknown key", R"("stak": {})", "stak: unknown key, allowed: stack, data, ");
        keys("unknown inner key", R"("stack": {"norm": {"epsilon": 1}})",
             "stack.norm.epsilon: unknown key, allowed: kind, eps");
        keys("unknown layer key", R"("stack": {"layers": [{"atn": {}}]})",
             "stack.layers[0].atn: unknown key, allowed: index, attn, ffn");
        keys("word", R"("stack": {"scheme": "prel"})",
             "stack.scheme: \"prel\" is not known, allowed: none, post, pre");
        keys("range", R"("stack": {"depth": 0})", "stack.depth: 0 is out of range, allowed: 1 … ");
        keys("fraction", R"("stack": {"depth": 2.5})", "stack.depth: 2.5 is not a whole number");
        keys("huge", R"("stack": {"depth": 99999999999999999999})", "stack.depth: ");
        keys("negative", R"("stack": {"residual_step": -1})", "stack.residual_step: -1 is out of range");
        keys("open end", R"("stack": {"temperature": 0})",
             "stack.temperature: 0 is out of range, allowed: (0, ∞)");
        keys("number as text", R"("optimizer": {"lr": "3e-3"})", "optimizer.lr: \"3e-3\" is not a number");
        keys("betas", R"("optimizer": {"betas": [0.9]})",
             "optimizer.betas: [0.9] has the wrong form, allowed: 2 numbers");
        keys("seed", R"("seed": -1)", "seed: -1 is not a whole number");
        keys("switch", R"("stack": {"bias": 1})", "stack.bias: 1 is not a switch, allowed: true, false");
        keys("object", R"("stack": 3)", "stack: 3 is not an object");
        keys("probe", R"("probes": [{"id": "grow"}])",
             "probes[0].id: \"grow\" is not known, allowed: growth, gradients");
        keys("probe every", R"("probes": [{"id": "growth", "every": 0}])",
             "probes[0].every: 0 is out of range");
        keys("heads", R"("stack": {"heads": 3})", "stack.heads: 3 does not divide d_model 64");
        keys("layer twice", R"("stack": {"layers": [{"index": 1}, {"index": 1}]})",
             "stack.layers.index: 1 appears twice");
        keys("no such layer", R"("stack": {"depth": 2, "layers": [{"index": 2}]})",
             "stack.layers.index: 2 is not a layer, allowed: 0 … 1");
        keys("vocabulary", R"("stack": {"vocab": 5})",
             "stack.vocab: 5 is smaller than the vocabulary of data.source markov, allowed: at least 27");
        keys("path missing", R"("data": {"source": "text"})", "data.path: is missing");
        keys("no file", R"("data": {"source": "text", "path": "/no/such/file"})", "/no/such/file: ");
        keys("odd head under rope", R"("stack": {"block": "llama", "heads": 64})",
             "stack.position: rope rotates pairs, but the head width is odd (1)");
        keys("no precision", R"("precision": "fp8")",
             "precision: \"fp8\" is not known, allowed: fp32, tf32, bf16, fp16, fp64");
    }
    void errors() {
        QFETCH(std::string, text);
        QFETCH(QString, message);
        try {
            Recipe recipe = parse_recipe(text, "test");
            complete_and_validate(recipe);
            QFAIL("no error");
        } catch (const InputError& error) {
            QVERIFY2(QString::fromUtf8(error.what()).startsWith(message), error.what());
            QVERIFY(!QString(error.what()).contains('\n'));
        }
    }

    void aRunIsNamedByWhatIsUnusualAboutIt() {
        const auto name = [](const char* stack) {
            return default_run_name(
                complete_recipe(std::string("\"stack\": {\"scheme\": \"pre\"") + stack + "}"));
        };
        QCOMPARE(name(""), std::string("Pre-LN"));
        QCOMPARE(name(", \"gpas\": {\"enabled\": true}"), std::string("Pre-LN + GPAS"));
        QCOMPARE(name(", \"residual_step\": 0.2, \"gpas\": {\"enabled\": true}"),
                 std::string("Pre-LN + GPAS Δt 0.2"));
    }

    void badSettings() {
        const std::string text = recipe_text("");
        QVERIFY_EXCEPTION_THROWN(with_settings(text, {"stack.depth"}, "t"), InputError);
        QVERIFY_EXCEPTION_THROWN(with_settings(text, {"=3"}, "t"), InputError);
        QVERIFY_EXCEPTION_THROWN(with_settings(text, {"stack.depth=2", "stack.depth.x=3"}, "t"), InputError);
        QVERIFY_EXCEPTION_THROWN(with_settings("[", {}, "t"), InputError);
        QVERIFY_EXCEPTION_THROWN(load_recipe("/no/such/recipe"), InputError);
        QVERIFY_EXCEPTION_THROWN(load_recipe(QDir::tempPath().toStdString()), InputError);
    }
};

NORMSCOPE_TEST(RecipeTest)
#include "recipe_test.moc"
