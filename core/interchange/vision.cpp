// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/vision.h"

#include "core/base/error.h"
#include "core/interchange/activation_words.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace normscope {

namespace {

/// What both have in common.
StackSpec vision_stack() {
    StackSpec s;
    apply_block_preset(s, Block::Gpt2);
    s.input = StackInput::Patches;
    s.causal = false;
    s.activation = Activation::GeluErf;
    s.init.rule = InitRule::Plain;
    return s;
}

/// Names of one layer in a file, and whether q, k and v are one matrix.
struct LayerNames {
    std::string norm_before, q, k, v, qkv, out, norm_after, up, down;
};

std::vector<ForeignTensor> vision_tensors(const StackSpec& s, const std::string& class_token,
                                          const std::string& positions, const std::string& patches,
                                          const std::string& layers, const LayerNames& names,
                                          const std::string& final_norm, const std::string& head) {
    const auto d = static_cast<std::size_t>(s.d_model), n = static_cast<std::size_t>(s.context),
               channels = static_cast<std::size_t>(s.image.channels),
               edge = static_cast<std::size_t>(s.image.patch);
    std::vector<ForeignTensor> all;
    const auto reshaped = [&](const std::string& theirs, const char* ours, std::vector<std::size_t> shape) {
        all.push_back({theirs, {ours}, false, {}, 0, std::move(shape)});
    };
    const auto both = [&](const std::string& theirs, const std::vector<std::string>& weights,
                          const std::vector<std::string>& biases, bool bias = true) {
        all.push_back({theirs + ".weight", weights});
        if (bias) all.push_back({theirs + ".bias", biases});
    };
    reshaped(class_token, "cls_tok", {1, 1, d});
    reshaped(positions, "pos_emb", {1, n, d});
    reshaped(patches + ".weight", "patch_emb.weight", {d, channels, edge, edge});
    all.push_back({patches + ".bias", {"patch_emb.bias"}});
    for (int l = 0; l < s.depth; ++l) {
        const std::string theirs = layers + std::to_string(l) + ".",
                          ours = "blocks." + std::to_string(l) + ".", attn = ours + "attn.",
                          ffn = ours + "ffn.";
        const auto norm = [&](const std::string& name, const std::string& to) {
            both(theirs + name, {to + ".weight"}, {to + ".bias"});
        };
        norm(names.norm_before, attn + "norm_in");
        if (!names.qkv.empty()) {
            both(theirs + names.qkv, {attn + "wq", attn + "wk", attn + "wv"},
                 {attn + "bq", attn + "bk", attn + "bv"}, s.qkv_bias());
        } else {
            both(theirs + names.q, {attn + "wq"}, {attn + "bq"}, s.qkv_bias());
            both(theirs + names.k, {attn + "wk"}, {attn + "bk"}, s.qkv_bias());
            both(theirs + names.v, {attn + "wv"}, {attn + "bv"}, s.qkv_bias());
        }
        both(theirs + names.out, {attn + "wo"}, {attn + "bo"}, s.attention_out_bias());
        norm(names.norm_after, ffn + "norm_in");
        both(theirs + names.up, {ffn + "w1"}, {ffn + "b1"});
        both(theirs + names.down, {ffn + "w2"}, {ffn + "b2"});
    }
    both(final_norm, {"final_norm.weight"}, {"final_norm.bias"});
    both(head, {"head.weight"}, {"head.bias"});
    return all;
}

/// Biases of q, k and v as the tensors have them. An output's bias without them has no key.
void read_qkv_bias(ConfigReader& c, const Safetensors& file, const std::string& bias, StackSpec& s) {
    c.flag("qkv_bias", true);
    if (!file.find(bias))
        c.reject("qkv_bias", "an output bias alone cannot be expressed", "biases of q, k and v too");
    s.attention_bias = AttentionBias::Auto;
}

int extent(const Safetensors& file, const std::string& name, std::size_t dimension) {
    const SafetensorsEntry* const entry = file.find(name);
    const bool small = entry && entry->shape.size() > dimension && entry->shape[dimension] <= (1u << 16);
    return small ? static_cast<int>(entry->shape[dimension]) : 0;
}

/// Heads of timm's vit_SIZE_patchP_N and deit_SIZE_patchP_N, whose weights may have a tag after a dot; 0 of
/// other names, which have rules of their own.
int heads_by_name(std::string_view name) {
    struct Size {
        std::string_view word;
        int heads;
    };
    constexpr Size kSizes[] = {{"tiny", 3}, {"small", 6}, {"base", 12}, {"large", 16}, {"huge", 16}};
    const auto next = [&] {
        const std::size_t end = std::min(name.find('_'), name.size());
        const std::string_view word = name.substr(0, end);
        name.remove_prefix(std::min(end + 1, name.size()));
        return word;
    };
    const auto is_number = [](std::string_view text) {
        return !text.empty() &&
               std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
    };
    name = name.substr(0, name.find('.'));
    const std::string_view kind = next(), size = next(), patch = next(), pixels = next();
    const bool plain = (kind == "vit" || kind == "deit") && patch.starts_with("patch") &&
                       is_number(patch.substr(5)) && is_number(pixels) && name.empty();
    for (const Size& known : kSizes)
        if (plain && size == known.word) return known.heads;
    return 0;
}

}  // namespace

StackSpec vit_stack(ConfigReader& c, const FoundNaming& found, const Safetensors& file) {
    c.only("model_type", "vit");
    StackSpec s = vision_stack();
    s.depth = c.integer("num_hidden_layers");
    s.d_model = c.integer("hidden_size");
    s.heads = c.integer("num_attention_heads");
    s.d_ff = c.integer("intermediate_size");
    s.image = {c.integer("image_size"), c.integer("num_channels", 3), c.integer("patch_size")};
    s.norm.eps = c.real("layer_norm_eps", 1e-12);
    s.activation = known_activation(c, "hidden_act", "gelu");
    read_qkv_bias(c, file, found.prefix + "encoder.layer.0.attention.attention.query.bias", s);
    // Of the pooler, which no classifier reads; of masked images; of dropout.
    for (const char* const key : {"pooler_act", "pooler_output_size", "encoder_stride",
                                  "attention_probs_dropout_prob", "hidden_dropout_prob"})
        c.find(key);
    s.classes = extent(file, head_name(found), 0);
    if (s.classes < 1)
        throw InputError(c.where(), "describes a model without a classifier (classifier.weight)",
                         "that of ViTForImageClassification");
    return s;
}

std::vector<ForeignTensor> vit_tensors(const StackSpec& s, const std::string& prefix) {
    const std::string attention = "attention.attention.";
    return vision_tensors(
        s, prefix + "embeddings.cls_token", prefix + "embeddings.position_embeddings",
        prefix + "embeddings.patch_embeddings.projection", prefix + "encoder.layer.",
        {"layernorm_before", attention + "query", attention + "key", attention + "value", "",
         "attention.output.dense", "layernorm_after", "intermediate.dense", "output.dense"},
        prefix + "layernorm", "classifier");
}

StackSpec timm_vit_stack(ConfigReader& c, const Safetensors& file) {
    const std::string architecture = c.text("architecture", "");
    StackSpec s = vision_stack();
    s.heads = heads_by_name(architecture);
    const std::string known =
        "vit_SIZE_patchP_N, deit_SIZE_patchP_N with SIZE tiny, small, base, large, huge";
    if (architecture.empty()) c.reject("architecture", "is missing", known);
    if (s.heads == 0) c.reject("architecture", known);
    for (const char* const key : {"num_features", "num_classes", "pretrained_cfg", "global_pool"})
        c.find(key);
    if (const std::string pool = c.text("global_pool", "token"); pool != "token")
        c.reject("global_pool", "\"token\"");

    s.d_model = extent(file, "patch_embed.proj.weight", 0);
    s.image.channels = extent(file, "patch_embed.proj.weight", 1);
    s.image.patch = extent(file, "patch_embed.proj.weight", 2);
    const int tokens = extent(file, "pos_embed", 1);
    int across = 0;
    while ((across + 1) * (across + 1) < tokens && across < 4096) ++across;
    s.image.size = across * s.image.patch;
    for (s.depth = 0; s.depth < 4096; ++s.depth)
        if (!file.find("blocks." + std::to_string(s.depth) + ".attn.qkv.weight")) break;
    s.d_ff = extent(file, "blocks.0.mlp.fc1.weight", 0);
    s.classes = extent(file, "head.weight", 0);
    s.norm.eps = 1e-6;  // timm's, whatever the weights
    if (s.classes < 1)
        throw InputError(c.where(), "describes a model without a classifier (head.weight)",
                         "one that was made with num_classes");
    if (const nlohmann::json* arguments = c.find("model_args")) {
        ConfigReader inner(*arguments, c.where() + ": model_args");
        s.heads = inner.integer("num_heads", s.heads);
        inner.only("global_pool", "token");
        inner.only("class_token", true);
        // The tensors decide what these are.
        for (const char* const key :
             {"img_size", "patch_size", "num_classes", "depth", "embed_dim", "in_chans", "mlp_ratio"})
            inner.find(key);
        inner.only_read("what timm's plain ViT has");
    }
    read_qkv_bias(c, file, "blocks.0.attn.qkv.bias", s);
    return s;
}

std::vector<ForeignTensor> timm_vit_tensors(const StackSpec& s) {
    return vision_tensors(s, "cls_token", "pos_embed", "patch_embed.proj", "blocks.",
                          {"norm1", "", "", "", "attn.qkv", "attn.proj", "norm2", "mlp.fc1", "mlp.fc2"},
                          "norm", "head");
}

}  // namespace normscope
