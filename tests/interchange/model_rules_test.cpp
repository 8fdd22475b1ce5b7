// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of the field have that no documentation states: prefixes, ties, biases, keys, shards.
#include "core/base/error.h"
#include "core/interchange/config_reader.h"
#include "core/interchange/model_folder.h"
#include "tests/interchange/sample_models.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <cstring>
#include <fstream>

using namespace normscope;
using sample::imported, sample::ModelFile, sample::with_config;

namespace {

QString line_of(const ModelFile& file) {
    return QString::fromStdString(sample::rejected_with(file));
}

bool has_note(const ImportedModel& model, const std::string& text) {
    return std::any_of(model.notes.begin(), model.notes.end(),
                       [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

void write(const QString& path, const void* bytes, std::size_t count) {
    std::ofstream(path.toStdString(), std::ios::binary)
        .write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
}
void write(const QString& path, const std::string& text) {
    write(path, text.data(), text.size());
}

/// The sample LLaMA in two shards with their index.
void write_shards(const QDir& folder) {
    auto first = sample::llama_tensors(false);
    const std::vector second(first.begin() + 10, first.end());
    first.resize(10);
    std::string map;
    const auto put = [&](const char* shard, const auto& tensors) {
        const sample::Bytes bytes = sample::safetensors(tensors);
        write(folder.filePath(shard), bytes.data(), bytes.size());
        for (const auto& [name, shape] : tensors)
            map += (map.empty() ? "\"" : ",\"") + name + "\":\"" + shard + "\"";
    };
    put("model-00001-of-00002.safetensors", first);
    put("model-00002-of-00002.safetensors", second);
    write(folder.filePath("model.safetensors.index.json"),
          R"({"metadata":{"total_size":1},"weight_map":{)" + map + "}}");
    write(folder.filePath("config.json"), *sample::llama(false).config);
}

QString problem_of(const QString& path) {
    try {
        import_model(path.toStdString());
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

class ModelRulesTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// What the tensors are goes before what the configuration states of them.
    void theFileDecidesOverTheConfiguration() {
        auto tensors = sample::llama_tensors(true);
        tensors.emplace_back("lm_head.weight", sample::Shape{7, 8});  // other numbers
        const ModelFile other{"m.safetensors", sample::safetensors(tensors), sample::llama(true).config};
        ImportedModel model = imported(other);
        QVERIFY(!model.recipe.stack.tied_head);
        QVERIFY(has_note(model, "the head is read as one of its own"));
        ModelFile same = other;
        const std::size_t head = same.bytes.size() - 7 * 8 * 4;
        std::size_t data = 0;
        std::memcpy(&data, same.bytes.data(), 8);
        std::copy_n(same.bytes.begin() + static_cast<std::ptrdiff_t>(8 + data), 7 * 8 * 4,
                    same.bytes.begin() + static_cast<std::ptrdiff_t>(head));
        model = imported(same);
        QVERIFY(model.recipe.stack.tied_head && !has_note(model, "head"));

        const ModelFile headless{"m.safetensors", sample::safetensors(sample::llama_tensors(true)),
                                 sample::llama(false).config};
        model = imported(headless);
        QVERIFY(model.recipe.stack.tied_head);
        QVERIFY(has_note(model, "the head is tied to model.embed_tokens.weight"));

        auto alias = sample::llama_tensors(true);
        alias.front().first = "lm_head.weight";
        model = imported({"m.safetensors", sample::safetensors(alias), sample::llama(true).config});
        QVERIFY(has_note(model, "tied again"));
        QCOMPARE(model.weights.front(), imported(sample::llama(true)).weights.front());
    }

    void namesAreReadWithoutWhatWrappersAdd() {
        const ImportedModel plain = imported(sample::llama(false));
        for (const std::string prefix : {"_orig_mod.", "module.", "module._orig_mod.", "model."}) {
            auto tensors = sample::llama_tensors(false);
            for (auto& [name, shape] : tensors) name.insert(0, prefix);
            const ImportedModel model =
                imported({"m.safetensors", sample::safetensors(tensors), sample::llama(false).config});
            QCOMPARE(model.weights, plain.weights);
            QVERIFY(has_note(model, "names were read without"));
        }
        auto inner = sample::llama_tensors(false);
        for (auto& [name, shape] : inner)
            if (const auto at = name.find("self_attn."); at != std::string::npos)
                name.insert(at, "_orig_mod.");
        QCOMPARE(imported({"m.safetensors", sample::safetensors(inner), sample::llama(false).config}).weights,
                 plain.weights);
        auto twice = sample::llama_tensors(false);
        twice.emplace_back("module.model.norm.weight", sample::Shape{8});
        QVERIFY(line_of({"m.safetensors", sample::safetensors(twice), sample::llama(false).config})
                    .contains("the name of another tensor"));
    }

    void tensorsNextToTheModelAreNamed() {
        auto tensors = sample::llama_tensors(false);
        tensors.emplace_back("v_head.summary.weight", sample::Shape{1, 8});
        tensors.emplace_back("x.scale", sample::Shape{4});
        ModelFile file{"m.safetensors", sample::safetensors(tensors), sample::llama(false).config};
        QVERIFY(has_note(imported(file), "v_head.summary.weight (a value head of TRL), x.scale"));
        tensors.emplace_back("model.layers.0.extra.weight", sample::Shape{4});
        file.bytes = sample::safetensors(tensors);
        QVERIFY(line_of(file).contains("model.layers.0.extra.weight"));
        auto empty = sample::llama_tensors(false);
        empty.back().second = {0};
        file.bytes = sample::safetensors(empty);
        QVERIFY(line_of(file).contains("ZeRO-3"));
    }

    void everyUseOfBiasesIsRead_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<QStringList>("biases");
        QTest::addColumn<QString>("attention_bias");
        const auto row = [](const char* name, const char* type, const QStringList& biases, const char* word) {
            QTest::newRow(name) << type << biases << word;
        };
        const QStringList qkv{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"};
        row("qwen2", "qwen2", qkv, "qkv");
        row("llama, not stated", "llama", qkv, "qkv");
        row("attention", "llama", qkv + QStringList{"self_attn.o_proj"}, "on");
        row("feed-forward map", "llama", {"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}, "off");
    }
    void everyUseOfBiasesIsRead() {
        QFETCH(QString, type);
        QFETCH(QStringList, biases);
        QFETCH(QString, attention_bias);
        auto tensors = sample::llama_tensors(false);
        for (int l = 0; l < 2; ++l)
            for (const QString& name : biases) {
                const std::string weight =
                    "model.layers." + std::to_string(l) + "." + name.toStdString() + ".weight";
                for (const auto& [other, shape] : sample::llama_tensors(false))
                    if (other == weight)
                        tensors.emplace_back(weight.substr(0, weight.size() - 6) + "bias",
                                             sample::Shape{shape[0]});
            }
        const ModelFile file{
            "m.safetensors", sample::safetensors(tensors),
            with_config(sample::llama(false), "\"llama\"", '"' + type.toStdString() + '"').config};
        const ImportedModel model = imported(file);
        QCOMPARE(QString(word_of(model.recipe.stack.attention_bias)), attention_bias);
        QCOMPARE(model.weights.size(), tensors.size());
    }

    void relativesOfLlamaAreRead() {
        const auto with = [](const char* type, auto&& change) {
            auto tensors = sample::llama_tensors(false);
            change(tensors);
            return ModelFile{
                "m.safetensors", sample::safetensors(tensors),
                with_config(sample::llama(false), "\"llama\"", std::string("\"") + type + '"').config};
        };
        const auto add_norms = [](auto& tensors, std::size_t q, std::size_t k) {
            for (int l = 0; l < 2; ++l) {
                const std::string layer = "model.layers." + std::to_string(l) + ".self_attn.";
                tensors.emplace_back(layer + "q_norm.weight", sample::Shape{q});
                tensors.emplace_back(layer + "k_norm.weight", sample::Shape{k});
            }
        };
        const ImportedModel qwen3 = imported(with("qwen3", [&](auto& tensors) { add_norms(tensors, 4, 4); }));
        QCOMPARE(qwen3.recipe.stack.qk_norm, QkNorm::Head);
        const ImportedModel olmo2 = imported(with("olmo2", [&](auto& tensors) {
            for (auto& [name, shape] : tensors) {
                const auto replace = [&name = name](const char* what, const char* with_what) {
                    const auto at = name.find(what);
                    if (at == std::string::npos) return false;
                    name.replace(at, std::strlen(what), with_what);
                    return true;
                };
                if (!replace("post_attention_layernorm", "post_feedforward_layernorm"))
                    replace("input_layernorm", "post_attention_layernorm");
            }
            add_norms(tensors, 8, 4);
        }));
        QCOMPARE(olmo2.recipe.stack.scheme, Scheme::Output);
        QCOMPARE(olmo2.recipe.stack.qk_norm, QkNorm::Full);
        const ImportedModel plain = imported(sample::llama(false));
        const ImportedModel phi3 = imported(with("phi3", [](auto& tensors) {
            decltype(sample::llama_tensors(false)) fused;
            for (const auto& [name, shape] : tensors) {
                const auto layer = name.substr(0, name.find("self_attn."));
                if (name.ends_with("q_proj.weight"))
                    fused.emplace_back(layer + "self_attn.qkv_proj.weight", sample::Shape{16, 8});
                else if (name.ends_with("gate_proj.weight"))
                    fused.emplace_back(name.substr(0, name.find("mlp.")) + "mlp.gate_up_proj.weight",
                                       sample::Shape{12, 8});
                else if (!name.ends_with("k_proj.weight") && !name.ends_with("v_proj.weight") &&
                         !name.ends_with("up_proj.weight"))
                    fused.emplace_back(name, shape);
            }
            tensors = fused;
        }));
        QCOMPARE(phi3.weights.size(), plain.weights.size());
        for (std::size_t i = 0; i < plain.weights.size(); ++i)
            QCOMPARE(phi3.weights[i].shape, plain.weights[i].shape);
    }

    /// The width of a head is the tensors' where the configuration does not state it.
    void headsOfAnyWidthAreRead() {
        for (const bool stated : {true, false}) {
            auto tensors = sample::llama_tensors(false);
            for (auto& [name, shape] : tensors) {
                if (name.ends_with("q_proj.weight")) shape = {12, 8};
                if (name.ends_with("k_proj.weight") || name.ends_with("v_proj.weight")) shape = {6, 8};
                if (name.ends_with("o_proj.weight")) shape = {8, 12};
            }
            const ModelFile file{
                "m.safetensors", sample::safetensors(tensors),
                with_config(sample::llama(false), "{", stated ? R"({"head_dim":6,)" : "{").config};
            const StackSpec stack = imported(file).recipe.stack;
            QCOMPARE(stack.head_width, 6);
            QCOMPARE(stack.d_q(), 12);
        }
    }

    /// Layers with a window are those that a number does not divide; where none picks them, the context is
    /// shortened to the window, which hides nothing within it.
    void windowsAreRead() {
        const auto with = [](const char* type, const char* keys) {
            return imported(with_config(sample::llama(false), "\"llama\"",
                                        std::string("\"") + type + "\"," + keys + "\"a\":1"));
        };
        struct Case {
            const char *type, *keys;
            int window, every;
        };
        for (const Case& wanted : {
                 Case{"mistral", R"("sliding_window":3,)", 3, 3},
                 Case{"mistral",
                      R"("sliding_window":3,"layer_types":["sliding_attention","full_attention"],)", 3, 2},
                 Case{"mistral", R"("sliding_window":3,"layer_types":["full_attention","full_attention"],)",
                      0, 1},
                 Case{"mistral", R"("sliding_window":3,"use_sliding_window":false,)", 0, 1},
                 Case{"mistral", R"("sliding_window":5,)", 0, 1},
                 Case{"mistral", R"("sliding_window":null,)", 0, 1},
                 // Qwen's windows are off unless the configuration switches them on.
                 Case{"qwen2", R"("attention_bias":false,"sliding_window":3,)", 0, 1},
                 Case{"qwen2", R"("attention_bias":false,"sliding_window":3,"use_sliding_window":true,)", 3,
                      3},
             }) {
            const ImportedModel model = with(wanted.type, wanted.keys);
            const StackSpec& s = model.recipe.stack;
            QCOMPARE(s.window, wanted.window);
            QCOMPARE(s.rope_global_every, wanted.every);
            QCOMPARE(s.context, 5);
            QVERIFY(s.window == 0 || s.rope_local_base == s.rope_base);
            QVERIFY(!has_note(model, "shortened"));
            // The window is of the tokens that a token attends to.
            if (s.window > 0)
                QVERIFY(s.first_key(0, 2) == 0 && s.first_key(0, 3) == 1 && s.first_key(0, 4) == 2);
        }
        for (const ImportedModel& model :
             {with("mistral", R"("sliding_window":3,"layer_types":["full_attention","sliding_attention"],)"),
              with("qwen2", R"("attention_bias":false,"sliding_window":3,"use_sliding_window":true,)"
                            R"("max_window_layers":1,)"),
              with("mistral",
                   R"("sliding_window":3,"rope_parameters":{"rope_type":"linear","factor":2.0},)")}) {
            QCOMPARE(model.recipe.stack.context, 3);
            QVERIFY(model.recipe.stack.window == 0 && model.recipe.stack.rope_global_every == 1);
            QVERIFY(has_note(model, "sliding_window 3: the context is shortened to it from 5"));
        }
    }

    /// OLMo 1 has no tensor of a norm.
    void normsWithoutGainAreOnes() {
        auto tensors = sample::llama_tensors(false);
        std::erase_if(tensors,
                      [](const auto& tensor) { return tensor.first.find("norm") != std::string::npos; });
        const auto olmo = [&](const std::string& keys) {
            return ModelFile{
                "m.safetensors", sample::safetensors(tensors),
                with_config(sample::llama(false), "\"llama\"", "\"olmo\"," + keys + "\"a\":1").config};
        };
        const ImportedModel model = imported(olmo(R"("clip_qkv":null,)"));
        const StackSpec& s = model.recipe.stack;
        QVERIFY(s.norm.kind == NormKind::LayerNorm && !s.norm.affine);
        QCOMPARE(s.norm.eps, 1e-5);
        std::size_t gains = 0;
        for (const StoredTensor& tensor : model.weights) {
            QVERIFY(!tensor.name.ends_with(".bias"));
            if (tensor.name.find("norm") == std::string::npos) continue;
            ++gains;
            QCOMPARE(as_float64(tensor), std::vector<double>(8, 1.0));
        }
        QCOMPARE(gains, std::size_t(5));
        QVERIFY(line_of(olmo(R"("clip_qkv":8.0,)")).contains("clip_qkv"));
        tensors.emplace_back("model.norm.weight", sample::Shape{8});
        QVERIFY(line_of(olmo("")).contains("model.norm.weight"));
    }

    void gemmaIsRead() {
        const auto config = [](const std::string& keys) {
            std::string text = *sample::llama(true).config;
            const std::string type = "\"llama\"";
            text.replace(text.find(type), type.size(), keys);
            const std::string act = "\"silu\"";
            return text.replace(text.find(act), act.size(), "\"gelu\"");
        };
        const ImportedModel plain = imported(sample::llama(true));
        const ImportedModel first = imported(
            {"m.safetensors", sample::safetensors(sample::llama_tensors(true)), config(R"("gemma")")});
        const StackSpec& s = first.recipe.stack;
        QCOMPARE(s.activation, Activation::GeGlu);  // what its first files mean by "gelu"
        QCOMPARE(s.scheme, Scheme::Pre);
        QCOMPARE(s.embedding_scale, std::sqrt(8.0));
        for (std::size_t i = 0; i < plain.weights.size(); ++i) {
            const auto stored = as_float64(plain.weights[i]), read = as_float64(first.weights[i]);
            const bool gain = plain.weights[i].shape.size() == 1;
            for (std::size_t k = 0; k < stored.size(); ++k)
                QCOMPARE(read[k], gain ? double(1 + static_cast<float>(stored[k])) : stored[k]);
        }

        const ModelFile third = sample::gemma3();
        const StackSpec t = imported(third).recipe.stack;
        QCOMPARE(t.scheme, Scheme::Peri);
        QCOMPARE(t.qk_norm, QkNorm::Head);
        QCOMPARE(t.temperature, 2.0);
        QCOMPARE(t.rope_global_every, 2);
        QCOMPARE(t.rope_local_base, 5000.0);
        QCOMPARE(t.logit_soft_cap, 20.0);
        QCOMPARE(t.context, 5);
        QCOMPARE(t.window, 3);
        ModelFile newer = third;
        newer.config = config(
            R"("gemma3_text","query_pre_attn_scalar":16,"layer_types":["sliding_attention","sliding_attention"],)"
            R"("sliding_window":9,"rope_parameters":{"full_attention":{"rope_type":"linear","factor":8.0,)"
            R"("rope_theta":300.0},"sliding_attention":{"rope_type":"default","rope_theta":20.0}})");
        const StackSpec n = imported(newer).recipe.stack;
        QCOMPARE(n.rope_global_every, 3);  // no layer of the two
        QCOMPARE(n.rope_base, 300.0);
        QCOMPARE(n.rope_local_base, 20.0);
        QCOMPARE(n.rope_scaling.kind, RopeScalingKind::Linear);
        QCOMPARE(n.context, 5);
        QCOMPARE(n.window, 0);
        for (const char* const wrong : {"\"num_attention_heads\":0", "\"num_attention_heads\":3000",
                                        "\"num_attention_heads\":2000000000"}) {
            const QString line = line_of(with_config(third, "\"num_attention_heads\":2", wrong));
            QVERIFY2(line != "accepted" && !line.contains('\n'), qPrintable(line));
        }
        const QString wide = line_of(with_config(third, "\"head_dim\":4", "\"head_dim\":2000000000"));
        QVERIFY2(wide.contains("head_dim"), qPrintable(wide));
        const QString deep =
            line_of(with_config(third, "\"num_hidden_layers\":2", "\"num_hidden_layers\":2000000000"));
        QVERIFY2(deep.contains("num_hidden_layers"), qPrintable(deep));
    }

    /// Every key that is known to change nothing, and those that are off.
    void keysWithoutEffectAreListed() {
        const std::string present = *sample::llama(false).config;
        std::string keys = "{";
        for (const KnownConfigKey& known : known_config_keys()) {
            const std::string key = std::string("\"") + known.key + "\":";
            const bool read = key == "\"pretraining_tp\":" || key == "\"use_sliding_window\":" ||
                              key == "\"max_sequence_length\":" || key == "\"max_window_layers\":";
            if (!read && present.find(key) == std::string::npos) keys += key + "1,";
        }
        ModelFile file =
            with_config(sample::llama(false), "{",
                        keys + R"("_attn_implementation_autoset":true,"unsloth_version":"1",)"
                               R"("layer_types":["full_attention","full_attention"],"sliding_window":5,)"
                               R"("logit_scale":1.0,"colour":"red",)");
        const ImportedModel model = imported(file);
        QVERIFY(has_note(model, "unknown keys, ignored: colour"));
        QVERIFY(has_note(model, "torch_dtype") && has_note(model, "logit_scale") &&
                has_note(model, "unsloth_version"));
        for (const char* scaling :
             {R"({"type":"linear","factor":1.0})", "null", R"({"type":"default","factor":8})"})
            QCOMPARE(line_of(with_config(sample::llama(false), "\"rope_scaling\":null",
                                         std::string("\"rope_scaling\":") + scaling)),
                     "accepted");
        const QString other = line_of(with_config(sample::llama(false), "\"rope_scaling\":null",
                                                  R"("rope_scaling":{"rope_type":"longrope","factor":8.0})"));
        QVERIFY2(other.contains("rope_scaling: rope_type: \"longrope\"") && !other.contains("\\"),
                 qPrintable(other));
    }

    void scaledAnglesAreKeys_data() {
        QTest::addColumn<QString>("object");
        QTest::addColumn<RopeScaling>("scaling");
        const auto row = [](const char* name, const char* object, const RopeScaling& scaling) {
            QTest::newRow(name) << object << scaling;
        };
        row("linear", R"({"type":"linear","factor":2.5})", {RopeScalingKind::Linear, 2.5});
        row("llama3",
            R"({"rope_type":"llama3","factor":32.0,"low_freq_factor":2.0,"high_freq_factor":5.0,)"
            R"("original_max_position_embeddings":16})",
            {RopeScalingKind::Llama3, 32, 16, 2, 5});
        row("of the context", R"({"rope_type":"llama3","factor":8.0})", {RopeScalingKind::Llama3, 8, 5});
        row("yarn", R"({"type":"yarn","factor":4,"original_max_position_embeddings":3})",
            {RopeScalingKind::Yarn, 4, 3});
        row("yarn, all",
            R"({"rope_type":"yarn","factor":4,"beta_fast":8,"beta_slow":2,"attention_factor":1.5,"truncate":true})",
            {RopeScalingKind::Yarn, 4, 5, 1, 4, 8, 2, 1.5});
    }
    void scaledAnglesAreKeys() {
        QFETCH(QString, object);
        QFETCH(RopeScaling, scaling);
        for (const char* const place : {"rope_scaling", "rope_parameters"}) {
            const ModelFile file = with_config(sample::llama(false), "\"rope_scaling\":null",
                                               "\"" + std::string(place) + "\":" + object.toStdString());
            const RopeScaling found = imported(file).recipe.stack.rope_scaling;
            QVERIFY2(found == scaling, place);
        }
    }

    void newerPlaceOfTheRotaryBaseGoesBefore() {
        const ModelFile file = with_config(
            sample::llama(false), "\"rope_theta\":500000.0",
            R"("rope_theta":10000.0,"rope_parameters":{"rope_type":"default","rope_theta":250000.0})");
        QCOMPARE(imported(file).recipe.stack.rope_base, 250000.0);
    }

    void shardsAreOneModel() {
        QTemporaryDir temporary;
        const QDir folder(temporary.path());
        write_shards(folder);
        QVERIFY(is_model_folder(temporary.path().toStdString()));
        const ImportedModel of_folder = import_model(temporary.path().toStdString());
        const ImportedModel of_index =
            import_model(folder.filePath("model.safetensors.index.json").toStdString());
        QCOMPARE(of_folder.weights.size(), imported(sample::llama(false)).weights.size());
        QCOMPARE(of_folder.weights, of_index.weights);

        const QString second = folder.filePath("model-00002-of-00002.safetensors");
        const sample::Bytes elsewhere = sample::safetensors({{"model.embed_tokens.weight", {7, 8}}});
        QFile kept(second);
        QVERIFY(kept.open(QIODevice::ReadOnly));
        const QByteArray whole = kept.readAll();
        write(second, elsewhere.data(), elsewhere.size());
        QVERIFY2(problem_of(temporary.path()).contains("not in the shard that the index names"),
                 qPrintable(problem_of(temporary.path())));
        QVERIFY(QFile::remove(second));
        const QString missing = problem_of(temporary.path());
        QVERIFY2(missing.contains("model-00002-of-00002.safetensors: is missing, with 11 tensors"),
                 qPrintable(missing));
        write(second, whole.constData(), static_cast<std::size_t>(whole.size()));
        QCOMPARE(problem_of(temporary.path()), "accepted");
    }

    void whatIsNoModelIsNamedAsWhatItIs_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("word");
        const auto row = [](const char* name, const QByteArray& content, const char* word) {
            QTest::newRow(word) << name << content << word;
        };
        row("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
            "Git LFS");
        row("model.safetensors", "\n<!DOCTYPE html><html></html>", "HTML");
        row("model.safetensors", "GGUF\3\0\0\0", "is a GGUF file");
        row("model.gguf", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
            "is no GGUF file");
        row("model.pth", QByteArray("PK\3\4", 4) + QByteArray(100, '\0'), "pickle");
        row("model.safetensors", "", "is empty");
        row("adapter_config.json", "{}", "LoRA adapter");
        row("pytorch_model.bin", "x", "but pytorch_model.bin");
        row("notes.doc", "x", "holds no safetensors file");
    }
    void whatIsNoModelIsNamedAsWhatItIs() {
        QFETCH(QString, name);
        QFETCH(QByteArray, content);
        QFETCH(QString, word);
        QTemporaryDir temporary;
        const QDir folder(temporary.path());
        write(folder.filePath(name), content.constData(), static_cast<std::size_t>(content.size()));
        const bool by_folder =
            name == "adapter_config.json" || word.startsWith("but") || word.startsWith("holds");
        const QString line = problem_of(by_folder ? temporary.path() : folder.filePath(name));
        QVERIFY2(line.contains(word) && !line.contains('\n'), qPrintable(line));
    }

    void namesInCapitalsAreRead() {
        QTemporaryDir temporary;
        const QDir folder(temporary.path());
        const ModelFile model = sample::llama(false);
        write(folder.filePath("MODEL.SAFETENSORS"), model.bytes.data(), model.bytes.size());
        write(folder.filePath("config.json"), *model.config);
        QCOMPARE(problem_of(folder.filePath("MODEL.SAFETENSORS")), "accepted");
        QCOMPARE(problem_of(temporary.path()), "accepted");
    }
};

NORMSCOPE_TEST(ModelRulesTest)
#include "model_rules_test.moc"
