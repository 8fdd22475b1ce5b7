// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/interchange/sample_models.h"

#include "core/base/error.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace sample {

namespace {

template <class T>
void append(Bytes& to, T value) {
    to.resize(to.size() + sizeof value);
    std::memcpy(to.data() + to.size() - sizeof value, &value, sizeof value);
}

std::size_t count(const Shape& shape) {
    std::size_t n = 1;
    for (std::size_t extent : shape) n *= extent;
    return n;
}

}  // namespace

Bytes safetensors(const std::string& header, const Bytes& data) {
    Bytes file;
    append(file, static_cast<std::uint64_t>(header.size()));
    for (char c : header) file.push_back(static_cast<std::byte>(c));
    file.insert(file.end(), data.begin(), data.end());
    return file;
}

Bytes safetensors(const std::vector<std::pair<std::string, Shape>>& tensors) {
    std::string header = "{\"__metadata__\":{\"format\":\"pt\"}";
    Bytes data;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        const auto& [name, shape] = tensors[t];
        std::string extents;
        for (std::size_t extent : shape) extents += (extents.empty() ? "" : ",") + std::to_string(extent);
        const std::size_t begin = data.size();
        for (std::size_t i = 0; i < count(shape); ++i) append(data, number(t, i));
        header += ",\"" + name + "\":{\"dtype\":\"F32\",\"shape\":[" + extents + "],\"data_offsets\":[" +
                  std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
    }
    return safetensors(header + "}", data);
}

std::vector<std::pair<std::string, Shape>> gpt2_tensors(bool conv1d) {
    const std::string prefix = conv1d ? "" : "transformer.";
    std::vector<std::pair<std::string, Shape>> all{{prefix + "wte.weight", {5, 4}},
                                                   {prefix + "wpe.weight", {3, 4}}};
    const auto matrix = [&](std::size_t out, std::size_t in) {
        return conv1d ? Shape{in, out} : Shape{out, in};
    };
    for (int l = 0; l < 2; ++l) {
        const std::string h = prefix + "h." + std::to_string(l) + ".";
        const auto add = [&](const char* name, const Shape& shape) { all.emplace_back(h + name, shape); };
        add("ln_1.weight", {4});
        add("ln_1.bias", {4});
        if (conv1d) add("attn.bias", {1, 1, 3, 3});  // the causal mask of older files
        add("attn.c_attn.weight", matrix(12, 4));
        add("attn.c_attn.bias", {12});
        add("attn.c_proj.weight", matrix(4, 4));
        add("attn.c_proj.bias", {4});
        add("ln_2.weight", {4});
        add("ln_2.bias", {4});
        add("mlp.c_fc.weight", matrix(16, 4));
        add("mlp.c_fc.bias", {16});
        add("mlp.c_proj.weight", matrix(4, 16));
        add("mlp.c_proj.bias", {4});
    }
    all.emplace_back(prefix + "ln_f.weight", Shape{4});
    all.emplace_back(prefix + "ln_f.bias", Shape{4});
    return all;
}

ModelFile gpt2(bool conv1d) {
    return {"folder/model.safetensors", safetensors(gpt2_tensors(conv1d)),
            conv1d ? R"({"model_type":"gpt2","n_layer":2,"n_head":2,"n_embd":4,"n_positions":3,"n_ctx":3,)"
                     R"("vocab_size":5,)"
                     R"("activation_function":"gelu_new","layer_norm_epsilon":1e-05,"attn_pdrop":0.1,)"
                     R"("n_inner":null})"
                   : R"({"n_layer":2,"n_head":2,"n_embd":4,"block_size":3,"vocab_size":5,"bias":true,)"
                     R"("dropout":0.0})"};
}

std::vector<std::pair<std::string, Shape>> llama_tensors(bool tied) {
    std::vector<std::pair<std::string, Shape>> all{{"model.embed_tokens.weight", {7, 8}}};
    for (int l = 0; l < 2; ++l) {
        const std::string layer = "model.layers." + std::to_string(l) + ".";
        const auto add = [&](const char* name, const Shape& shape) {
            all.emplace_back(layer + name + ".weight", shape);
        };
        add("input_layernorm", {8});
        add("self_attn.q_proj", {8, 8});
        add("self_attn.k_proj", {4, 8});
        add("self_attn.v_proj", {4, 8});
        add("self_attn.o_proj", {8, 8});
        add("post_attention_layernorm", {8});
        add("mlp.gate_proj", {6, 8});
        add("mlp.up_proj", {6, 8});
        add("mlp.down_proj", {8, 6});
    }
    all.emplace_back("model.norm.weight", Shape{8});
    if (!tied) all.emplace_back("lm_head.weight", Shape{7, 8});
    return all;
}

ModelFile llama(bool tied) {
    return {"folder/model.safetensors", safetensors(llama_tensors(tied)),
            std::string(
                R"({"model_type":"llama","hidden_size":8,"num_hidden_layers":2,"num_attention_heads":2,)"
                R"("num_key_value_heads":1,"intermediate_size":6,"max_position_embeddings":5,"vocab_size":7,)"
                R"("hidden_act":"silu","rms_norm_eps":1e-06,"rope_theta":500000.0,"rope_scaling":null,)"
                R"("tie_word_embeddings":)") +
                (tied ? "true}" : "false}")};
}

std::vector<std::pair<std::string, Shape>> neox_tensors() {
    std::vector<std::pair<std::string, Shape>> all{{"gpt_neox.embed_in.weight", {7, 8}}};
    const auto both = [&](const std::string& name, const Shape& shape) {
        all.emplace_back(name + ".weight", shape);
        all.emplace_back(name + ".bias", Shape{shape[0]});
    };
    const std::string layer = "gpt_neox.layers.0.";
    both(layer + "input_layernorm", {8});
    both(layer + "post_attention_layernorm", {8});
    all.emplace_back(layer + "attention.bias", Shape{1, 1, 5, 5});  // the causal mask of older files
    both(layer + "attention.query_key_value", {24, 8});
    both(layer + "attention.dense", {8, 8});
    both(layer + "mlp.dense_h_to_4h", {6, 8});
    both(layer + "mlp.dense_4h_to_h", {8, 6});
    both("gpt_neox.final_layer_norm", {8});
    all.emplace_back("embed_out.weight", Shape{7, 8});
    return all;
}

ModelFile neox() {
    return {"folder/model.safetensors", safetensors(neox_tensors()),
            R"({"model_type":"gpt_neox","hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,)"
            R"("intermediate_size":6,"max_position_embeddings":5,"vocab_size":7,"hidden_act":"gelu",)"
            R"("layer_norm_eps":1e-05,"rotary_pct":0.5,"rotary_emb_base":10000,"use_parallel_residual":true,)"
            R"("tie_word_embeddings":false})"};
}

std::vector<std::pair<std::string, Shape>> gpt_j_tensors() {
    std::vector<std::pair<std::string, Shape>> all{{"transformer.wte.weight", {7, 8}}};
    const auto both = [&](const std::string& name, const Shape& shape) {
        all.emplace_back(name + ".weight", shape);
        all.emplace_back(name + ".bias", Shape{shape[0]});
    };
    const std::string layer = "transformer.h.0.";
    both(layer + "ln_1", {8});
    all.emplace_back(layer + "attn.bias", Shape{1, 1, 5, 5});  // the causal mask of older files
    for (const char* const map : {"k_proj", "v_proj", "q_proj", "out_proj"})
        all.emplace_back(layer + "attn." + map + ".weight", Shape{8, 8});
    both(layer + "mlp.fc_in", {6, 8});
    both(layer + "mlp.fc_out", {8, 6});
    both("transformer.ln_f", {8});
    both("lm_head", {7, 8});
    return all;
}

ModelFile gpt_j() {
    return {"folder/model.safetensors", safetensors(gpt_j_tensors()),
            R"({"model_type":"gptj","n_embd":8,"n_layer":1,"n_head":2,"n_inner":6,"n_positions":5,)"
            R"("vocab_size":7,"rotary_dim":2,"activation_function":"gelu_new","layer_norm_epsilon":1e-05,)"
            R"("tie_word_embeddings":false})"};
}

std::vector<std::pair<std::string, Shape>> vit_tensors(bool timm) {
    std::vector<std::pair<std::string, Shape>> all;
    const auto both = [&](const std::string& name, const Shape& shape) {
        all.emplace_back(name + ".weight", shape);
        all.emplace_back(name + ".bias", Shape{shape[0]});
    };
    if (timm) {
        all = {{"cls_token", {1, 1, 8}}, {"pos_embed", {1, 5, 8}}};
        both("patch_embed.proj", {8, 2, 2, 2});
        both("blocks.0.norm1", {8});
        both("blocks.0.attn.qkv", {24, 8});
        both("blocks.0.attn.proj", {8, 8});
        both("blocks.0.norm2", {8});
        both("blocks.0.mlp.fc1", {6, 8});
        both("blocks.0.mlp.fc2", {8, 6});
        both("norm", {8});
        both("head", {3, 8});
        return all;
    }
    all = {{"vit.embeddings.cls_token", {1, 1, 8}}, {"vit.embeddings.position_embeddings", {1, 5, 8}}};
    both("vit.embeddings.patch_embeddings.projection", {8, 2, 2, 2});
    const std::string layer = "vit.encoder.layer.0.";
    both(layer + "layernorm_before", {8});
    for (const char* const map : {"query", "key", "value"})
        both(layer + "attention.attention." + map, {8, 8});
    both(layer + "attention.output.dense", {8, 8});
    both(layer + "layernorm_after", {8});
    both(layer + "intermediate.dense", {6, 8});
    both(layer + "output.dense", {8, 6});
    both("vit.layernorm", {8});
    both("classifier", {3, 8});
    return all;
}

ModelFile vit(bool timm) {
    return {"folder/model.safetensors", safetensors(vit_tensors(timm)),
            timm ? R"({"architecture":"vit_tiny_patch16_224.a_tag","num_classes":3,"num_features":8,)"
                   R"("global_pool":"token","model_args":{"img_size":4,"num_heads":2,"global_pool":"token"},)"
                   R"("pretrained_cfg":{"mean":[0.5,0.5],"activation":"other"}})"
                 : R"({"model_type":"vit","hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,)"
                   R"("intermediate_size":6,"image_size":4,"patch_size":2,"num_channels":2,)"
                   R"("hidden_act":"gelu","layer_norm_eps":1e-12,"qkv_bias":true,"encoder_stride":16,)"
                   R"("pooler_act":"tanh","pooler_output_size":8,"attention_probs_dropout_prob":0.0,)"
                   R"("hidden_dropout_prob":0.0,"id2label":{"0":"a"}})"};
}

std::vector<std::pair<std::string, Shape>> gguf_tensors() {
    std::vector<std::pair<std::string, Shape>> all{{"token_embd.weight", {7, 8}}};
    for (int l = 0; l < 2; ++l) {
        const std::string layer = "blk." + std::to_string(l) + ".";
        const auto add = [&](const char* name, const Shape& shape) {
            all.emplace_back(layer + name + ".weight", shape);
        };
        add("attn_norm", {8});
        add("attn_q", {8, 8});
        add("attn_k", {4, 8});
        add("attn_v", {4, 8});
        add("attn_output", {8, 8});
        add("ffn_norm", {8});
        add("ffn_gate", {6, 8});
        add("ffn_up", {6, 8});
        add("ffn_down", {8, 6});
    }
    all.emplace_back("output_norm.weight", Shape{8});
    all.emplace_back("output.weight", Shape{7, 8});
    return all;
}

ModelFile gguf(const std::map<std::string, std::optional<GgufValue>>& keys, std::uint32_t matrices) {
    std::map<std::string, std::optional<GgufValue>> all{
        {"general.architecture", GgufValue{8, 0, "llama"}},
        {"general.name", GgufValue{8, 0, "a name"}},
        {"llama.context_length", GgufValue{4, 5, {}}},
        {"llama.embedding_length", GgufValue{4, 8, {}}},
        {"llama.block_count", GgufValue{4, 2, {}}},
        {"llama.feed_forward_length", GgufValue{4, 6, {}}},
        {"llama.attention.head_count", GgufValue{4, 2, {}}},
        {"llama.attention.head_count_kv", GgufValue{4, 1, {}}},
        {"llama.attention.layer_norm_rms_epsilon", GgufValue{6, 1e-6, {}}},
        {"llama.rope.freq_base", GgufValue{6, 500000, {}}},
        {"llama.rope.dimension_count", GgufValue{4, 4, {}}},
        {"tokenizer.ggml.tokens", GgufValue{9, 0, "a token"}}};
    for (const auto& [key, value] : keys) all[key] = value;
    Bytes file;
    const auto text = [&](const std::string& of) {
        append(file, static_cast<std::uint64_t>(of.size()));
        for (const char c : of) file.push_back(static_cast<std::byte>(c));
    };
    const auto tensors = gguf_tensors();
    for (const char c : {'G', 'G', 'U', 'F'}) file.push_back(static_cast<std::byte>(c));
    append(file, std::uint32_t{3});
    append(file, static_cast<std::uint64_t>(tensors.size()));
    append(file, static_cast<std::uint64_t>(
                     std::count_if(all.begin(), all.end(), [](const auto& entry) { return entry.second; })));
    for (const auto& [key, value] : all) {
        if (!value) continue;
        text(key);
        append(file, value->type);
        if (value->type == 4) append(file, static_cast<std::uint32_t>(value->number));
        if (value->type == 6) append(file, static_cast<float>(value->number));
        if (value->type == 9) {
            append(file, std::uint32_t{8});
            append(file, std::uint64_t{1});
        }
        if (value->type >= 8) text(value->text);
    }
    std::uint64_t offset = 0;
    for (const auto& [name, shape] : tensors) {
        text(name);
        append(file, static_cast<std::uint32_t>(shape.size()));
        for (std::size_t i = shape.size(); i-- > 0;) append(file, static_cast<std::uint64_t>(shape[i]));
        append(file, shape.size() == 2 ? matrices : 0);
        append(file, offset);
        offset += (4 * count(shape) + 31) / 32 * 32;
    }
    file.resize((file.size() + 31) / 32 * 32);
    for (std::size_t t = 0; t < tensors.size(); ++t) {
        for (std::size_t i = 0; i < count(tensors[t].second); ++i) append(file, number(t, i));
        file.resize((file.size() + 31) / 32 * 32);
    }
    return {"folder/model.gguf", file, std::nullopt};
}

ModelFile gemma3() {
    auto tensors = llama_tensors(true);
    for (int l = 0; l < 2; ++l) {
        const std::string layer = "model.layers." + std::to_string(l) + ".";
        for (const char* const norm : {"pre_feedforward_layernorm", "post_feedforward_layernorm"})
            tensors.emplace_back(layer + norm + ".weight", Shape{8});
        for (const char* const norm : {"self_attn.q_norm", "self_attn.k_norm"})
            tensors.emplace_back(layer + norm + ".weight", Shape{4});
    }
    return {"folder/model.safetensors", safetensors(tensors),
            R"({"model_type":"gemma3_text","hidden_size":8,"num_hidden_layers":2,"num_attention_heads":2,)"
            R"("num_key_value_heads":1,"head_dim":4,"intermediate_size":6,"max_position_embeddings":5,)"
            R"("vocab_size":7,"hidden_activation":"gelu_pytorch_tanh","rms_norm_eps":1e-06,)"
            R"("query_pre_attn_scalar":16,"sliding_window":3,"layer_types":["sliding_attention",)"
            R"("full_attention"],"rope_theta":1e6,"rope_local_base_freq":5000.0,)"
            R"("final_logit_softcapping":20.0,"tie_word_embeddings":true})"};
}

ModelFile llama2_c(bool tied) {
    ModelFile file{"folder/model.bin", {}, std::nullopt};
    for (int value : {8, 6, 2, 2, 1, tied ? 7 : -7, 5}) append(file.bytes, static_cast<std::int32_t>(value));
    const std::size_t before = 7 * 8 + 2 * (8 + 64 + 32 + 32 + 64 + 8 + 48 + 48 + 48) + 8;
    std::size_t i = 0;
    for (; i < before; ++i) append(file.bytes, number(0, i));
    for (int table = 0; table < 2; ++table)
        for (int t = 0; t < 5; ++t)
            for (int pair = 0; pair < 2; ++pair, ++i) {
                const double angle = t * (pair == 0 ? 1.0 : 0.01);  // 10000^(−2·pair/4)
                append(file.bytes, static_cast<float>(table == 0 ? std::cos(angle) : std::sin(angle)));
            }
    if (!tied)
        for (int k = 0; k < 7 * 8; ++k, ++i) append(file.bytes, number(0, i));
    return file;
}

ModelFile llm_c(int version) {
    ModelFile file{"folder/gpt2_124M.bin", {}, std::nullopt};
    std::int32_t header[256] = {20240326, version, 3, 5, 2, 2, 4, 8};
    for (std::int32_t value : header) append(file.bytes, value);
    const std::size_t floats =
        8 * 4 + 3 * 4 + 2 * (4 + 4 + 48 + 12 + 16 + 4 + 4 + 4 + 64 + 16 + 64 + 4) + 4 + 4;
    for (std::size_t i = 0; i < floats; ++i) {
        const float value = number(0, i);
        if (version == 3)
            append(file.bytes, value);
        else
            append(file.bytes, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
    }
    return file;
}

normscope::ImportedModel imported(const ModelFile& file) {
    return normscope::import_model(file.bytes, file.config, file.path);
}

std::string rejected_with(const ModelFile& file) {
    try {
        imported(file);
    } catch (const normscope::InputError& error) {
        return error.what();
    }
    return "accepted";
}

ModelFile with_config(ModelFile file, const std::string& what, const std::string& with) {
    const auto at = file.config->find(what);
    if (at == std::string::npos) throw normscope::InputError(what + " is not there");
    file.config->replace(at, what.size(), with);
    return file;
}

}  // namespace sample
