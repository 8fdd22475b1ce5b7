// SPDX-License-Identifier: GPL-3.0-or-later
// The place of each value of another program's file in ours, entry by entry; what is rejected; the way
// back.
#include "core/interchange/model_file.h"

#include "core/base/error.h"
#include "core/model/parameters.h"
#include "core/run/evaluation.h"
#include "core/session/named_arrays.h"
#include "tests/interchange/sample_models.h"
#include "tests/support/test_main.h"

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <bit>
#include <cstring>

using namespace normscope;
using sample::imported, sample::ModelFile, sample::with_config;

namespace {

QString rejection(const ModelFile& file) {
    return QString::fromStdString(sample::rejected_with(file));
}

}  // namespace

namespace {

const StoredTensor& tensor(const ImportedModel& model, const std::string& name) {
    for (const StoredTensor& t : model.weights)
        if (t.name == name) return t;
    throw InputError(name + " is not there");
}

double at(const ImportedModel& model, const std::string& name, std::size_t row, std::size_t column = 0) {
    const StoredTensor& t = tensor(model, name);
    return as_float64(t).at(t.shape.size() == 2 ? row * t.shape[1] + column : row);
}

/// The place of a tensor in its sample file: with the index it gives the number.
std::size_t place(const std::vector<std::pair<std::string, sample::Shape>>& tensors,
                  const std::string& name) {
    for (std::size_t t = 0; t < tensors.size(); ++t)
        if (tensors[t].first == name) return t;
    throw InputError(name + " is not there");
}

/// Every tensor its own value, in the type T.
template <class T>
std::vector<StoredTensor> drawn(const StackSpec& stack) {
    const ParameterTable table(stack);
    std::vector<StoredTensor> weights;
    for (const TensorInfo& t : table.tensors()) {
        std::vector<T> values(t.count);
        for (std::size_t i = 0; i < t.count; ++i)
            values[i] = static_cast<T>(1.0 / static_cast<double>(t.offset + i + 3));
        weights.push_back(stored(t.name, {t.shape.begin(), t.shape.end()}, values.data()));
    }
    return weights;
}

}  // namespace

class ModelFileTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void gpt2OfHuggingFace() {
        const ImportedModel m = imported(sample::gpt2(true));
        QCOMPARE(m.format, "gpt2");
        const StackSpec& s = m.recipe.stack;
        QCOMPARE(s.depth, 2);
        QCOMPARE(s.d_model, 4);
        QCOMPARE(s.heads, 2);
        QCOMPARE(s.d_ff, 16);
        QCOMPARE(s.context, 3);
        QCOMPARE(s.vocab, 5);
        QVERIFY(s.tied_head && s.bias && s.activation == Activation::GeluTanh && s.scheme == Scheme::Pre);
        QCOMPARE(s.norm.eps, 1e-5);
        const auto names = sample::gpt2_tensors(true);
        const auto theirs = [&](const char* name, std::size_t i) {
            return double(sample::number(place(names, name), i));
        };
        // [in, out] there, [out, in] here; q, k, v are side by side in c_attn's 12 columns.
        for (std::size_t out = 0; out < 4; ++out)
            for (std::size_t in = 0; in < 4; ++in) {
                QCOMPARE(at(m, "blocks.1.attn.wq", out, in), theirs("h.1.attn.c_attn.weight", in * 12 + out));
                QCOMPARE(at(m, "blocks.1.attn.wk", out, in),
                         theirs("h.1.attn.c_attn.weight", in * 12 + 4 + out));
                QCOMPARE(at(m, "blocks.1.attn.wv", out, in),
                         theirs("h.1.attn.c_attn.weight", in * 12 + 8 + out));
                QCOMPARE(at(m, "blocks.0.attn.wo", out, in), theirs("h.0.attn.c_proj.weight", in * 4 + out));
            }
        QCOMPARE(at(m, "blocks.0.attn.bv", 2), theirs("h.0.attn.c_attn.bias", 10));
        QCOMPARE(at(m, "blocks.0.ffn.w1", 9, 2), theirs("h.0.mlp.c_fc.weight", 2 * 16 + 9));
        QCOMPARE(at(m, "blocks.0.ffn.w2", 3, 11), theirs("h.0.mlp.c_proj.weight", 11 * 4 + 3));
        QCOMPARE(at(m, "blocks.1.ffn.norm_in.weight", 1), theirs("h.1.ln_2.weight", 1));
        QCOMPARE(at(m, "pos_emb", 2, 1), theirs("wpe.weight", 9));
        QCOMPARE(at(m, "final_norm.bias", 3), theirs("ln_f.bias", 3));
    }

    void nanoGptIsNotTransposed() {
        const ImportedModel m = imported(sample::gpt2(false));
        QCOMPARE(m.format, "nanogpt");
        QVERIFY(m.recipe.stack.activation == Activation::GeluErf);
        const auto names = sample::gpt2_tensors(false);
        QCOMPARE(at(m, "blocks.1.attn.wk", 1, 2),
                 double(sample::number(place(names, "transformer.h.1.attn.c_attn.weight"), (4 + 1) * 4 + 2)));
        QCOMPARE(at(m, "blocks.1.attn.wo", 1, 2),
                 double(sample::number(place(names, "transformer.h.1.attn.c_proj.weight"), 1 * 4 + 2)));
    }

    void neoxOfHuggingFace() {
        const ImportedModel m = imported(sample::neox());
        QCOMPARE(m.format, "gpt_neox");
        const StackSpec& s = m.recipe.stack;
        QVERIFY(s.layout == Layout::Parallel && s.position == Position::Rope && !s.tied_head && s.bias &&
                s.activation == Activation::GeluErf && s.norm.kind == NormKind::LayerNorm);
        QCOMPARE(s.rope_fraction, 0.5);
        const auto names = sample::neox_tensors();
        const auto theirs = [&](const char* name, std::size_t i) {
            return double(sample::number(place(names, name), i));
        };
        // q, k and v of each head are one after another. Entries 0 and 1 of a head turn as a pair there, 0
        // and 2 here; v has no pairs.
        constexpr std::size_t order[] = {0, 2, 1, 3};
        for (std::size_t head = 0; head < 2; ++head)
            for (std::size_t j = 0; j < 4; ++j) {
                const std::size_t row = 4 * head + j, first = 12 * head;
                QCOMPARE(
                    at(m, "blocks.0.attn.wq", row, 5),
                    theirs("gpt_neox.layers.0.attention.query_key_value.weight", (first + order[j]) * 8 + 5));
                QCOMPARE(at(m, "blocks.0.attn.bk", row),
                         theirs("gpt_neox.layers.0.attention.query_key_value.bias", first + 4 + order[j]));
                QCOMPARE(
                    at(m, "blocks.0.attn.wv", row, 1),
                    theirs("gpt_neox.layers.0.attention.query_key_value.weight", (first + 8 + j) * 8 + 1));
            }
        QCOMPARE(at(m, "blocks.0.attn.wo", 3, 2), theirs("gpt_neox.layers.0.attention.dense.weight", 26));
        QCOMPARE(at(m, "blocks.0.ffn.norm_in.bias", 2),
                 theirs("gpt_neox.layers.0.post_attention_layernorm.bias", 2));
        QCOMPARE(at(m, "blocks.0.ffn.b1", 4), theirs("gpt_neox.layers.0.mlp.dense_h_to_4h.bias", 4));
        QCOMPARE(at(m, "head.weight", 6, 7), theirs("embed_out.weight", 55));
    }

    void gptJOfHuggingFace() {
        const ImportedModel m = imported(sample::gpt_j());
        QCOMPARE(m.format, "gpt_j");
        const StackSpec& s = m.recipe.stack;
        QVERIFY(s.layout == Layout::Parallel && s.shared_norm && s.head_bias && s.bias && !s.qkv_bias() &&
                !s.attention_out_bias() && s.activation == Activation::GeluTanh);
        QCOMPARE(s.rope_fraction, 0.5);
        const auto names = sample::gpt_j_tensors();
        const auto theirs = [&](const char* name, std::size_t i) {
            return double(sample::number(place(names, name), i));
        };
        // Entries 0 and 1 of a head are a pair there, 0 and 2 here.
        constexpr std::size_t order[] = {0, 2, 1, 3};
        for (std::size_t head = 0; head < 2; ++head)
            for (std::size_t j = 0; j < 4; ++j) {
                const std::size_t row = 4 * head + j;
                QCOMPARE(at(m, "blocks.0.attn.wq", row, 5),
                         theirs("transformer.h.0.attn.q_proj.weight", (4 * head + order[j]) * 8 + 5));
                QCOMPARE(at(m, "blocks.0.attn.wv", row, 5),
                         theirs("transformer.h.0.attn.v_proj.weight", row * 8 + 5));
            }
        QCOMPARE(at(m, "head.bias", 6), theirs("lm_head.bias", 6));
        QCOMPARE(at(m, "blocks.0.attn.norm_in.bias", 3), theirs("transformer.h.0.ln_1.bias", 3));
        // Of heads that rotate whole, neighbours are pairs.
        const ImportedModel whole =
            imported(with_config(sample::gpt_j(), R"("rotary_dim":2)", R"("rotary_dim":null)"));
        QCOMPARE(whole.recipe.stack.rope_fraction, 1.0);
        QCOMPARE(at(whole, "blocks.0.attn.wk", 1, 0), theirs("transformer.h.0.attn.k_proj.weight", 2 * 8));
        QCOMPARE(at(whole, "blocks.0.attn.wk", 2, 0), theirs("transformer.h.0.attn.k_proj.weight", 1 * 8));
        QVERIFY(QString::fromStdString(sample::rejected_with(with_config(sample::gpt_j(), R"("rotary_dim":2)",
                                                                         R"("rotary_dim":3)")))
                    .contains("rotary_dim"));
        const ModelFile unstated = with_config(sample::gpt_j(), R"("rotary_dim":2,)", "");
        QVERIFY(QString::fromStdString(sample::rejected_with(unstated)).contains("rotary_dim: is missing"));
    }

    void visionTransformers() {
        for (const bool timm : {false, true}) {
            const ImportedModel m = imported(sample::vit(timm));
            QCOMPARE(m.format, timm ? "timm_vit" : "vit");
            const StackSpec& s = m.recipe.stack;
            QVERIFY(s.of_images() && !s.causal && s.activation == Activation::GeluErf);
            QVERIFY(s.image == (ImageSpec{4, 2, 2}));
            QCOMPARE(s.context, 5);
            QCOMPARE(s.classes, 3);
            QCOMPARE(s.heads, 2);
            QCOMPARE(s.norm.eps, timm ? 1e-6 : 1e-12);
            QVERIFY(m.recipe.train.data.source == DataSource::Images);
            const auto names = sample::vit_tensors(timm);
            const auto theirs = [&](const std::string& name, std::size_t i) {
                return double(sample::number(place(names, name), i));
            };
            const std::string embeddings = timm ? "" : "vit.embeddings.";
            const std::string patches =
                timm ? "patch_embed.proj" : "vit.embeddings.patch_embeddings.projection";
            QCOMPARE(at(m, "cls_tok", 3), theirs(embeddings + "cls_token", 3));
            QCOMPARE(at(m, "pos_emb", 4, 7),
                     theirs(embeddings + (timm ? "pos_embed" : "position_embeddings"), 4 * 8 + 7));
            QCOMPARE(at(m, "patch_emb.weight", 5, 6), theirs(patches + ".weight", 5 * 8 + 6));
            QCOMPARE(at(m, "patch_emb.bias", 5), theirs(patches + ".bias", 5));
            QCOMPARE(at(m, "blocks.0.attn.wk", 1, 2),
                     timm ? theirs("blocks.0.attn.qkv.weight", 9 * 8 + 2)
                          : theirs("vit.encoder.layer.0.attention.attention.key.weight", 8 + 2));
            QCOMPARE(at(m, "head.bias", 2), theirs(timm ? "head.bias" : "classifier.bias", 2));
            QCOMPARE(
                at(m, "blocks.0.ffn.norm_in.weight", 2),
                theirs(timm ? "blocks.0.norm2.weight" : "vit.encoder.layer.0.layernorm_after.weight", 2));
        }
        const auto line = [](ModelFile file, const char* what, const char* with) {
            return QString::fromStdString(sample::rejected_with(with_config(std::move(file), what, with)));
        };
        const ModelFile of_timm = sample::vit(true);
        // Variants with rules of their own, by name or by an argument.
        for (const char* const other : {"vit_base_patch16_rope_reg1_gap_256",
                                        "vit_tiny_patch16_224_quickgelu", "vit_odd_patch16_224", "resnet50"})
            QVERIFY2(line(of_timm, "vit_tiny_patch16_224.a_tag", other).contains("architecture"), other);
        QVERIFY(line(of_timm, R"("img_size":4)", R"("init_values":1e-5)").contains("init_values"));
        QVERIFY(line(of_timm, R"("global_pool":"token","model_args")", R"("global_pool":"avg","model_args")")
                    .contains("global_pool"));
        auto tensors = sample::vit_tensors(true);
        tensors.emplace_back("norm_pre.weight", sample::Shape{8});
        QVERIFY(QString::fromStdString(
                    sample::rejected_with({"m.safetensors", sample::safetensors(tensors), of_timm.config}))
                    .contains("norm_pre.weight"));
        tensors = sample::vit_tensors(false);
        tensors.resize(tensors.size() - 2);
        QVERIFY(QString::fromStdString(sample::rejected_with({"m.safetensors", sample::safetensors(tensors),
                                                              sample::vit(false).config}))
                    .contains("without a classifier"));
        tensors.emplace_back("classifier.weight", sample::Shape{3, 8});
        tensors.emplace_back("classifier.bias", sample::Shape{3});
        tensors.emplace_back("vit.pooler.dense.weight", sample::Shape{8, 8});
        const ImportedModel pooled =
            imported({"m.safetensors", sample::safetensors(tensors), sample::vit(false).config});
        QVERIFY(pooled.notes.back().find("vit.pooler.dense.weight") != std::string::npos);
    }

    void llamaOfLlamaCpp() {
        const ImportedModel m = imported(sample::gguf()), plain = imported(sample::llama(false));
        QCOMPARE(m.format, "gguf");
        QVERIFY(m.recipe.stack == plain.recipe.stack);
        const auto names = sample::gguf_tensors();
        const auto theirs = [&](const char* name, std::size_t i) {
            return double(sample::number(place(names, name), i));
        };
        constexpr std::size_t order[] = {0, 2, 1, 3};  // entries 0 and 1 of a head are a pair there
        for (std::size_t head = 0; head < 2; ++head)
            for (std::size_t j = 0; j < 4; ++j) {
                QCOMPARE(at(m, "blocks.1.attn.wq", 4 * head + j, 5),
                         theirs("blk.1.attn_q.weight", (4 * head + order[j]) * 8 + 5));
                if (head == 0)
                    QCOMPARE(at(m, "blocks.0.attn.wk", j, 3),
                             theirs("blk.0.attn_k.weight", order[j] * 8 + 3));
                if (head == 0)
                    QCOMPARE(at(m, "blocks.0.attn.wv", j, 3), theirs("blk.0.attn_v.weight", j * 8 + 3));
            }
        QCOMPARE(at(m, "blocks.1.ffn.w_down", 7, 5), theirs("blk.1.ffn_down.weight", 7 * 6 + 5));
        QCOMPARE(at(m, "head.weight", 6, 7), theirs("output.weight", 55));
    }

    void whatAGgufCannotStateIsNamed_data() {
        QTest::addColumn<QString>("key");
        QTest::addColumn<int>("type");
        QTest::addColumn<double>("number");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("names");
        const auto row = [](const char* key, int type, double number, const char* text, const char* names) {
            QTest::newRow(key) << key << type << number << text << names;
        };
        row("general.architecture", 8, 0, "mamba", "\"mamba\" is not read");
        row("general.alignment", 4, 0, "", "general.alignment");
        row("split.count", 4, 3, "", "one of 3 parts");
        row("llama.rope.dimension_count", 4, 2, "", "rope.dimension_count");
        row("llama.rope.scaling.type", 8, 0, "yarn", "rope.scaling.type");
        row("llama.rope.scale_linear", 6, 2, "", "rope.scale_linear");
        row("llama.expert_count", 4, 8, "", "expert_count");
        row("llama.logit_scale", 6, 0.5, "", "\"llama.logit_scale\" 0.5");
        row("llama.attention.head_count", 4, 0, "", "rope.dimension_count");
        row("llama.attention.value_length", 4, 6, "", "accepted");
        row("llama.block_count", -1, 0, "", "llama.block_count: is missing");
        row("llama.attention.head_count_kv", 8, 0, "a", "num_key_value_heads");
        row("llama.x", 99, 0, "", "unknown type 99");
    }
    void whatAGgufCannotStateIsNamed() {
        QFETCH(QString, key);
        QFETCH(int, type);
        QFETCH(double, number);
        QFETCH(QString, text);
        QFETCH(QString, names);
        std::map<std::string, std::optional<sample::GgufValue>> keys;
        auto& changed = keys[key.toStdString()];
        if (type >= 0)
            changed = sample::GgufValue{static_cast<std::uint32_t>(type), number, text.toStdString()};
        const QString line = QString::fromStdString(sample::rejected_with(sample::gguf(keys)));
        QVERIFY2(line.contains(names) && !line.contains('\n'), qPrintable(line));
    }

    void whatIsNoFloatInAGgufIsNamed() {
        const QString quantised = QString::fromStdString(sample::rejected_with(sample::gguf({}, 12)));
        QVERIFY2(quantised.contains("16 quantised tensors, the first is \"token_embd.weight\" of type 12"),
                 qPrintable(quantised));
        ModelFile file = sample::gguf();
        const std::string name = "blk.0.attn_v";
        const std::string bytes(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
        ModelFile other = file;
        std::memcpy(other.bytes.data() + bytes.find(name), "blk.0.attn_w", name.size());
        QVERIFY(QString::fromStdString(sample::rejected_with(other)).contains("blk.0.attn_w.weight"));
        // Two tensors at one place; a file that was cut.
        other = file;
        std::memcpy(other.bytes.data() + bytes.find(name) + name.size() + 7 + 4 + 16 + 4, "\0\0\0\0", 4);
        QVERIFY(QString::fromStdString(sample::rejected_with(other)).contains("overlaps"));
        other = file;
        other.bytes.resize(other.bytes.size() - 300);
        QVERIFY(QString::fromStdString(sample::rejected_with(other)).contains("inside the file"));
        other.bytes.resize(200);
        QVERIFY(QString::fromStdString(sample::rejected_with(other)).contains("ends within its header"));
    }

    void llamaOfHuggingFace() {
        for (const bool tied : {false, true}) {
            const ImportedModel m = imported(sample::llama(tied));
            QCOMPARE(m.format, "llama");
            const StackSpec& s = m.recipe.stack;
            QCOMPARE(s.kv_heads, 1);
            QCOMPARE(s.d_ff, 6);
            QCOMPARE(s.rope_base, 500000.0);
            QCOMPARE(s.norm.eps, 1e-6);
            QVERIFY(s.tied_head == tied && !s.bias && s.norm.kind == NormKind::RmsNorm &&
                    s.position == Position::Rope);
            const auto names = sample::llama_tensors(tied);
            const auto same = [&](const char* ours, const char* theirs) {
                QCOMPARE(
                    at(m, ours, 1),
                    double(sample::number(place(names, theirs),
                                          tensor(m, ours).shape.size() == 2 ? tensor(m, ours).shape[1] : 1)));
            };
            same("blocks.1.attn.wq", "model.layers.1.self_attn.q_proj.weight");
            same("blocks.1.attn.wv", "model.layers.1.self_attn.v_proj.weight");
            same("blocks.0.ffn.w_gate", "model.layers.0.mlp.gate_proj.weight");
            same("blocks.0.ffn.w_up", "model.layers.0.mlp.up_proj.weight");
            same("blocks.0.ffn.w_down", "model.layers.0.mlp.down_proj.weight");
            same("blocks.1.ffn.norm_in.weight", "model.layers.1.post_attention_layernorm.weight");
            if (!tied) same("head.weight", "lm_head.weight");
        }
    }

    void llama2cPairsAreSplit() {
        for (const bool tied : {true, false}) {
            const ImportedModel m = imported(sample::llama2_c(tied));
            QCOMPARE(m.format, "llama2.c");
            QCOMPARE(m.recipe.stack.norm.eps, 1e-5);
            QCOMPARE(m.recipe.stack.kv_heads, 1);
            const auto file = [](std::size_t i) { return double(sample::number(0, i)); };
            // After the embedding (7·8) and both layers' attention norms: wq of layer 0, wq of layer 1, wk
            // of layer 0 …
            const std::size_t wq = 7 * 8 + 2 * 8 + 64, wk = wq + 64, wv = wk + 2 * 32;
            for (std::size_t head = 0; head < 2; ++head)
                for (std::size_t pair = 0; pair < 2; ++pair) {
                    QCOMPARE(at(m, "blocks.1.attn.wq", head * 4 + pair, 3),
                             file(wq + (head * 4 + 2 * pair) * 8 + 3));
                    QCOMPARE(at(m, "blocks.1.attn.wq", head * 4 + pair + 2, 3),
                             file(wq + (head * 4 + 2 * pair + 1) * 8 + 3));
                }
            QCOMPARE(at(m, "blocks.0.attn.wk", 1, 0), file(wk + 2 * 8));
            QCOMPARE(at(m, "blocks.0.attn.wk", 2, 0), file(wk + 1 * 8));
            QCOMPARE(at(m, "blocks.0.attn.wv", 1, 0), file(wv + 1 * 8));
            const std::size_t gate = wv + 2 * 32 + 2 * 64 + 2 * 8;  // w1, w2, w3: gate, down, up
            QCOMPARE(at(m, "blocks.0.ffn.w_gate", 0, 0), file(gate));
            QCOMPARE(at(m, "blocks.0.ffn.w_down", 0, 0), file(gate + 2 * 48));
            QCOMPARE(at(m, "blocks.1.ffn.w_up", 0, 0), file(gate + 5 * 48));
            QCOMPARE(at(m, "final_norm.weight", 0), file(gate + 6 * 48));
            if (!tied) QCOMPARE(at(m, "head.weight", 0, 0), file(gate + 6 * 48 + 8 + 20));
        }
    }

    void llmcPaddingIsDropped() {
        const ImportedModel m = imported(sample::llm_c(3));
        QCOMPARE(m.format, "llm.c");
        QCOMPARE(tensor(m, "tok_emb").shape, (std::vector<std::size_t>{5, 4}));
        const auto file = [](std::size_t i) { return double(sample::number(0, i)); };
        QCOMPARE(at(m, "pos_emb", 0, 0), file(8 * 4));
        const std::size_t qkv = 8 * 4 + 3 * 4 + 2 * 8;
        QCOMPARE(at(m, "blocks.1.attn.wv", 3, 2), file(qkv + 48 + (8 + 3) * 4 + 2));
        QCOMPARE(at(m, "blocks.1.attn.bk", 1), file(qkv + 96 + 12 + 5));
        QCOMPARE(at(m, "final_norm.bias", 3), file((sample::llm_c(3).bytes.size() - 1024) / 4 - 1));
        const ImportedModel narrow = imported(sample::llm_c(5));
        for (std::size_t t = 0; t < m.weights.size(); ++t) {
            const auto whole = as_float64(m.weights[t]), cut = as_float64(narrow.weights[t]);
            for (std::size_t i = 0; i < whole.size(); ++i)
                QCOMPARE(static_cast<float>(cut[i]),
                         std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(whole[i])) &
                                              0xffff0000u));
        }
    }

    void whatChangesTheMathsIsRejectedByName_data() {
        QTest::addColumn<bool>("llama");
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("with");
        QTest::addColumn<QString>("names");
        const auto row = [](const char* name, bool llama, const char* what, const char* with,
                            const char* names) { QTest::newRow(name) << llama << what << with << names; };
        row("rope scaling", true, "\"rope_scaling\":null", R"("rope_scaling":{"type":"dynamic","factor":2})",
            "rope_type");
        row("sliding window", true, "{", R"({"sliding_window":0,)", "sliding_window");
        row("activation", true, "\"silu\"", "\"gelu\"", "hidden_act");
        row("head width", true, "{", R"({"head_dim":6,)", "self_attn.q_proj.weight");
        row("one bias", true, "{", R"({"attention_bias":true,)", "q_proj.bias");
        row("another family", true, "\"llama\"", "\"mamba\"", "model_type");
        row("unknown", true, "{", R"({"embedding_multiplier":12.0,)", "embedding_multiplier");
        row("new rope", true, "{", R"({"rope_parameters":{"rope_type":"longrope","factor":2},)", "rope_type");
        row("yarn without a factor", true, "{", R"({"rope_parameters":{"rope_type":"yarn"},)", "factor");
        row("deepseek's yarn", true, "{",
            R"({"rope_parameters":{"rope_type":"yarn","factor":4,"mscale":0.7,"mscale_all_dim":1},)",
            "mscale");
        row("key twice", true, "{", R"({"vocab_size":7,)", "vocab_size");
        row("head count", true, "\"num_attention_heads\":2", "\"num_attention_heads\":3", "heads");
        row("no layers", true, "\"num_hidden_layers\":2", "\"num_hidden_layers\":0", "num_hidden_layers");
        row("size is text", true, "\"vocab_size\":7", "\"vocab_size\":\"7\"", "vocab_size");
        row("size is gone", true, "\"vocab_size\":7,", "", "vocab_size");
        row("shape", true, "\"intermediate_size\":6", "\"intermediate_size\":8", "gate_proj");
        row("more layers", true, "\"num_hidden_layers\":2", "\"num_hidden_layers\":3", "model.layers.2.");
        row("fewer layers", true, "\"num_hidden_layers\":2", "\"num_hidden_layers\":1", "model.layers.1.");
        row("gpt2 activation", false, "gelu_new", "quick_gelu", "activation_function");
        row("gpt2 scaling", false, "{", R"({"scale_attn_by_inverse_layer_idx":true,)",
            "scale_attn_by_inverse_layer_idx");
        row("gpt2 unscaled", false, "{", R"({"scale_attn_weights":false,)", "scale_attn_weights");
        row("gpt2 context", false, "\"n_positions\":3", "\"n_positions\":4", "wpe.weight");
        row("quantised", true, "{", R"({"quantization_config":{"bits":4},)", "quantised");
        row("other layers", true, "{", R"({"layer_types":["full_attention","linear_attention"],)",
            "layer_types");
        row("layers of another depth", true, "{", R"({"layer_types":["full_attention"],)", "layer_types");
        row("caps of scores", true, "\"llama\"",
            R"("gemma2","final_logit_softcapping":null,"attn_logit_softcapping":"50")",
            "attn_logit_softcapping");
        row("caps not stated", true, "\"llama\"", R"("gemma2")", "attn_logit_softcapping");
        row("both directions", true, "\"llama\"", R"("gemma3_text","use_bidirectional_attention":true)",
            "use_bidirectional_attention");
        row("local frequencies scaled", true, "\"llama\"",
            R"("gemma3_text","rope_parameters":{"sliding_attention":{"rope_type":"linear","factor":2}})",
            "sliding_attention: rope_type");
        row("two at once", true, "{", R"({"clip_qkv":8.0,"attn_scale":2,)",
            "attn_scale 2, clip_qkv 8.0: are not");
        row("not JSON", false, "{", "", "config.json");
    }
    void whatChangesTheMathsIsRejectedByName() {
        QFETCH(bool, llama);
        QFETCH(QString, what);
        QFETCH(QString, with);
        QFETCH(QString, names);
        const ModelFile file = llama ? sample::llama(false) : sample::gpt2(true);
        const QString line = rejection(with_config(file, what.toStdString(), with.toStdString()));
        QVERIFY2(line.contains(names) && !line.contains('\n') && line != "accepted", qPrintable(line));
    }

    void harmlessKeysPass() {
        const ModelFile file =
            with_config(sample::llama(false), "{",
                        R"({"torch_dtype":"bfloat16","architectures":["LlamaForCausalLM"],)"
                        R"("use_sliding_window":false,"some_new_feature":null,"pretraining_tp":1,)"
                        R"("rope_parameters":{"rope_type":"default","rope_theta":500000.0},"head_dim":4,)");
        QCOMPARE(rejection(file), "accepted");
    }

    void otherFilesAreRejected() {
        ModelFile file = sample::gpt2(true);
        file.config.reset();
        QVERIFY(rejection(file).contains("config.json"));
        QVERIFY(rejection({"m.safetensors", sample::safetensors({{"encoder.weight", {2}}}), std::nullopt})
                    .contains("no tensors"));
        QVERIFY(rejection({"m.safetensors", sample::safetensors({{"tok_emb", {2, 2}}}), std::nullopt})
                    .contains("no recipe"));
        QVERIFY(rejection({"m.gguf", {}, std::nullopt}).contains("ends within its header"));
        sample::Bytes pickle(100);
        pickle[0] = std::byte{'P'}, pickle[1] = std::byte{'K'}, pickle[2] = std::byte{3},
        pickle[3] = std::byte{4};
        QVERIFY(rejection({"pytorch_model.bin", pickle, std::nullopt}).contains("pickle"));
        for (const bool longer : {true, false}) {
            for (ModelFile bin : {sample::llama2_c(true), sample::llm_c(3)}) {
                bin.bytes.resize(longer ? bin.bytes.size() + 4 : bin.bytes.size() - 4);
                QVERIFY(rejection(bin).contains("bytes long"));
            }
        }
        ModelFile other_base = sample::llama2_c(true);
        const std::size_t cosine = other_base.bytes.size() - 2 * 10 * 4 + (2 + 1) * 4;  // position 1, pair 1
        const float wrong = 0.5f;
        std::memcpy(&other_base.bytes[cosine], &wrong, sizeof wrong);
        QVERIFY(rejection(other_base).contains("rotary"));
        QVERIFY(rejection(sample::llm_c(4)).contains("version"));
    }

    void exportComesBackBitForBit_data() {
        QTest::addColumn<QString>("stack");
        QTest::addColumn<QString>("format");
        const auto row = [](const char* name, const char* stack, const char* format) {
            QTest::newRow(name) << stack << format;
        };
        row("gpt2", R"("scheme":"pre")", "gpt2");
        row("gpt2 tied", R"("tied_head":true)", "gpt2");
        row("mix of no post layer", R"("scheme":"mix","mix_post_fraction":0)", "gpt2");
        row("nanogpt", R"("tied_head":true,"bias":false,"activation":"gelu_erf")", "nanogpt");
        row("no bias, tanh", R"("tied_head":true,"bias":false)", "normscope");
        row("llama", R"("block":"llama","kv_heads":2,"rope_base":5000)", "llama");
        row("llama with biases", R"("block":"llama","bias":true,"tied_head":true)", "llama");
        row("biases of attention", R"("block":"llama","attention_bias":"on")", "llama");
        row("biases of q, k, v", R"("block":"llama","attention_bias":"qkv")", "normscope");
        row("post", R"("scheme":"post")", "normscope");
        row("gated", R"("gpas":{"enabled":true})", "normscope");
        row("small step", R"("residual_step":0.1)", "normscope");
        row("temperature", R"("temperature":2)", "normscope");
        row("capped", R"("block":"llama","logit_soft_cap":30)", "normscope");
        row("a layer by hand", R"("layers":[{"index":1,"ffn":{"post":true}}])", "normscope");
        row("qk norm", R"("block":"llama","qk_norm":"head")", "normscope");
        row("parallel", R"("layout":"parallel")", "normscope");
    }
    void exportComesBackBitForBit() {
        QFETCH(QString, stack);
        QFETCH(QString, format);
        QTemporaryDir folder;
        const std::string path = folder.filePath("m.safetensors").toStdString();
        Recipe recipe = parse_recipe(
            R"({"format":"normscope-recipe","version":1,"seed":7,"optimizer":{"lr":0.5},"stack":{)"
            R"("depth":2,"d_model":16,"heads":4,"d_ff":64,"context":6,"vocab":9,)" +
                stack.toStdString() + "}}",
            "test");
        complete(recipe.stack, 0);
        for (const bool wide : {false, true}) {
            const auto weights = wide ? drawn<double>(recipe.stack) : drawn<float>(recipe.stack);
            const ExportedModel out = export_model(path, recipe, weights);
            QCOMPARE(out.format, format.toStdString());
            const ImportedModel back = import_model(path);
            QCOMPARE(back.format, out.format);
            QVERIFY(back.weights == weights);
            QCOMPARE(recipe_json(back.recipe), recipe_json(recipe));
            if (out.config.empty()) continue;
            // Another program's way in: the names and the configuration alone.
            ModelFile bare{path, {}, out.config};
            QFile file(QString::fromStdString(path));
            QVERIFY(file.open(QIODevice::ReadOnly));
            QByteArray bytes = file.readAll();
            bytes.replace("normscope_recipe", "normscope_Recipe");
            const auto* begin = reinterpret_cast<const std::byte*>(bytes.constData());
            bare.bytes.assign(begin, begin + bytes.size());
            const ImportedModel plain = imported(bare);
            QVERIFY(plain.weights == weights);
            StackSpec theirs = plain.recipe.stack, ours = recipe.stack;
            theirs.init = ours.init;
            theirs.scheme = ours.scheme;
            theirs.mix_post_fraction = ours.mix_post_fraction;
            Recipe a, b;
            a.stack = theirs, b.stack = ours;
            QVERIFY(ours.block != theirs.block || recipe_json(a) == recipe_json(b));
        }
    }
};

NORMSCOPE_TEST(ModelFileTest)
#include "model_file_test.moc"
