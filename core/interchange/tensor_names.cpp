// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/tensor_names.h"

#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/interchange/float_bytes.h"
#include "core/interchange/gpt_j.h"
#include "core/interchange/rotary_rows.h"
#include "core/interchange/vision.h"
#include "core/model/parameters.h"
#include "core/session/hdf5.h"
#include "core/stack/scheme.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace normscope {

namespace {

using hdf5::Shape, hdf5::shape_text;

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::map<std::string, Shape> shapes_of(const StackSpec& stack) {
    std::map<std::string, Shape> shapes;
    const ParameterTable table(stack);
    for (const TensorInfo& t : table.tensors()) shapes[t.name] = Shape(t.shape.begin(), t.shape.end());
    return shapes;
}

/// The shape of the stacked parts: rows add up.
Shape stacked_shape(const ForeignTensor& foreign, const std::map<std::string, Shape>& shapes) {
    Shape shape = shapes.at(foreign.parts.front());
    for (std::size_t i = 1; i < foreign.parts.size(); ++i) shape[0] += shapes.at(foreign.parts[i])[0];
    return shape;
}

std::vector<std::byte> transposed(const std::vector<std::byte>& matrix, std::size_t rows,
                                  std::size_t columns) {
    const std::size_t size = matrix.size() / (rows * columns);
    std::vector<std::byte> out(matrix.size());
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c)
            std::memcpy(&out[(c * rows + r) * size], &matrix[(r * columns + c) * size], size);
    return out;
}

/// Adds to every number, in its own precision.
void add(double value, StoredTensor& tensor) {
    const auto each = [&](auto zero) {
        using T = decltype(zero);
        for (std::size_t at = 0; at + sizeof(T) <= tensor.bytes.size(); at += sizeof(T)) {
            T number;
            std::memcpy(&number, &tensor.bytes[at], sizeof number);
            number += static_cast<T>(value);
            std::memcpy(&tensor.bytes[at], &number, sizeof number);
        }
    };
    if (tensor.type == StoredType::Float64)
        each(0.0);
    else
        each(0.0f);
}

/// γ of a norm that has none in the file: 1.
StoredTensor fixed_gain(const TensorInfo& gain, StoredType type) {
    NORMSCOPE_ASSERT(gain.frozen, "only fixed gains are not read from the file");
    const std::size_t size = type == StoredType::Float64 ? sizeof(double) : sizeof(float);
    StoredTensor tensor{gain.name, Shape(gain.shape.begin(), gain.shape.end()), type,
                        std::vector<std::byte>(gain.count * size)};
    add(1, tensor);
    return tensor;
}

/// Row r of the result is row order[r], of `size` bytes each.
std::vector<std::byte> rows_in_order(const std::vector<std::byte>& matrix, std::size_t size,
                                     const std::vector<std::size_t>& order) {
    std::vector<std::byte> out(matrix.size());
    for (std::size_t r = 0; r < order.size(); ++r)
        std::memcpy(&out[r * size], &matrix[order[r] * size], size);
    return out;
}

std::vector<ForeignTensor> gpt2_tensors(const StackSpec& s, const std::string& prefix, bool conv1d) {
    std::vector<ForeignTensor> all{{prefix + "wte.weight", {"tok_emb"}, false},
                                   {prefix + "wpe.weight", {"pos_emb"}, false}};
    for (int l = 0; l < s.depth; ++l) {
        const std::string theirs = prefix + "h." + std::to_string(l) + ".",
                          ours = "blocks." + std::to_string(l) + ".";
        const auto norm = [&](const char* name, const char* to) {
            all.push_back({theirs + name + ".weight", {ours + to + ".weight"}, false});
            if (s.bias) all.push_back({theirs + name + ".bias", {ours + to + ".bias"}, false});
        };
        const auto linear = [&](const char* name, const std::string& sublayer,
                                const std::vector<std::string>& ends) {
            ForeignTensor weight{theirs + name + ".weight", {}, conv1d},
                bias{theirs + name + ".bias", {}, false};
            for (const auto& end : ends) {
                weight.parts.push_back(ours + sublayer + ".w" + end);
                bias.parts.push_back(ours + sublayer + ".b" + end);
            }
            all.push_back(weight);
            if (s.bias) all.push_back(bias);
        };
        norm("ln_1", "attn.norm_in");
        linear("attn.c_attn", "attn", {"q", "k", "v"});
        linear("attn.c_proj", "attn", {"o"});
        norm("ln_2", "ffn.norm_in");
        linear("mlp.c_fc", "ffn", {"1"});
        linear("mlp.c_proj", "ffn", {"2"});
    }
    all.push_back({prefix + "ln_f.weight", {"final_norm.weight"}, false});
    if (s.bias) all.push_back({prefix + "ln_f.bias", {"final_norm.bias"}, false});
    if (!s.tied_head) all.push_back({"lm_head.weight", {"head.weight"}, false});
    return all;
}

std::vector<ForeignTensor> neox_tensors(const StackSpec& s, const std::string& prefix) {
    const std::vector<std::size_t> order = rotary_order(s, RotaryPairs::Halves);
    std::vector<std::size_t> qkv;
    for (std::size_t which = 0; which < 3; ++which)
        for (std::size_t h = 0; h < static_cast<std::size_t>(s.heads); ++h)
            for (std::size_t j = 0; j < order.size(); ++j)
                qkv.push_back((3 * h + which) * order.size() + (which < 2 ? order[j] : j));
    std::vector<ForeignTensor> all{{prefix + "embed_in.weight", {"tok_emb"}}};
    const auto norm = [&](const std::string& name, const std::string& to) {
        all.push_back({name + ".weight", {to + ".weight"}});
        all.push_back({name + ".bias", {to + ".bias"}});
    };
    for (int l = 0; l < s.depth; ++l) {
        const std::string theirs = prefix + "layers." + std::to_string(l) + ".",
                          ours = "blocks." + std::to_string(l) + ".";
        const auto linear = [&](const std::string& name, const std::vector<std::string>& weights,
                                const std::vector<std::string>& biases, bool bias,
                                const std::vector<std::size_t>& rows = {}) {
            const auto parts = [&](std::vector<std::string> names) {
                for (std::string& part : names) part.insert(0, ours);
                return names;
            };
            all.push_back({theirs + name + ".weight", parts(weights), false, rows});
            if (bias) all.push_back({theirs + name + ".bias", parts(biases), false, rows});
        };
        norm(theirs + "input_layernorm", ours + "attn.norm_in");
        linear("attention.query_key_value", {"attn.wq", "attn.wk", "attn.wv"},
               {"attn.bq", "attn.bk", "attn.bv"}, s.qkv_bias(), qkv);
        linear("attention.dense", {"attn.wo"}, {"attn.bo"}, s.attention_out_bias());
        norm(theirs + "post_attention_layernorm", ours + "ffn.norm_in");
        linear("mlp.dense_h_to_4h", {"ffn.w1"}, {"ffn.b1"}, true);
        linear("mlp.dense_4h_to_h", {"ffn.w2"}, {"ffn.b2"}, true);
    }
    norm(prefix + "final_layer_norm", "final_norm");
    if (!s.tied_head) all.push_back({"embed_out.weight", {"head.weight"}});
    return all;
}

std::vector<ForeignTensor> llama_tensors(const StackSpec& s, const FoundNaming& found) {
    const std::string& prefix = found.prefix;
    const bool fused = found.fused, before = sublayer_rule(s, 0, Sublayer::Attention).in.has_value(),
               after = sublayer_rule(s, 0, Sublayer::Attention).out.has_value();
    std::vector<ForeignTensor> all{{prefix + "embed_tokens.weight", {"tok_emb"}, false}};
    for (int l = 0; l < s.depth; ++l) {
        const std::string theirs = prefix + "layers." + std::to_string(l) + ".",
                          ours = "blocks." + std::to_string(l) + ".";
        const auto norm = [&](const char* name, const std::string& to) {
            if (!s.norm.affine) return;
            all.push_back({theirs + name + ".weight", {ours + to + ".weight"}, false, {}, found.plus_gain});
        };
        const auto linear = [&](const std::string& name, const std::string& sublayer,
                                const std::vector<std::string>& ends, bool bias,
                                const std::vector<std::size_t>& rows = {}) {
            ForeignTensor weight{theirs + name + ".weight", {}, false, rows},
                biases{theirs + name + ".bias", {}, false, rows};
            for (const auto& end : ends) {
                weight.parts.push_back(ours + sublayer + ".w" + end);
                biases.parts.push_back(ours + sublayer + ".b" + end);
            }
            all.push_back(weight);
            if (bias) all.push_back(biases);
        };
        if (before) norm("input_layernorm", "attn.norm_in");
        if (fused)
            linear("self_attn.qkv_proj", "attn", {"q", "k", "v"}, s.qkv_bias());
        else
            for (const std::string which : {"q", "k", "v"})
                linear("self_attn." + which + "_proj", "attn", {which}, s.qkv_bias(),
                       which == "v" || (s.rope_fraction == 1 && !found.neighbours)
                           ? std::vector<std::size_t>()
                           : rotary_rows(s, which == "q" ? s.heads : s.kv_heads,
                                         found.neighbours ? RotaryPairs::Neighbours : RotaryPairs::Halves));
        linear("self_attn.o_proj", "attn", {"o"}, s.attention_out_bias());
        if (s.qk_norm != QkNorm::Off) {
            norm("self_attn.q_norm", "attn.q_norm");
            norm("self_attn.k_norm", "attn.k_norm");
        }
        norm("post_attention_layernorm", after ? "attn.norm_out" : "ffn.norm_in");
        if (before && after) norm("pre_feedforward_layernorm", "ffn.norm_in");
        if (fused)
            linear("mlp.gate_up_proj", "ffn", {"_gate", "_up"}, s.bias);
        else
            for (const std::string which : {"gate", "up"})
                linear("mlp." + which + "_proj", "ffn", {"_" + which}, s.bias);
        linear("mlp.down_proj", "ffn", {"_down"}, s.bias);
        if (after) norm("post_feedforward_layernorm", "ffn.norm_out");
    }
    if (s.norm.affine)
        all.push_back({prefix + "norm.weight", {"final_norm.weight"}, false, {}, found.plus_gain});
    if (!s.tied_head) all.push_back({"lm_head.weight", {"head.weight"}, false});
    return all;
}

/// Tables that older files hold besides weights; their values follow from the sizes.
bool holds_no_weights(const std::string& name) {
    return ends_with(name, ".attn.bias") || ends_with(name, ".attn.masked_bias") ||
           ends_with(name, ".attention.bias") || ends_with(name, ".attention.masked_bias") ||
           ends_with(name, ".rotary_emb.inv_freq");
}

bool same_numbers(const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return a.dtype == b.dtype && a.shape == b.shape && a.read() == b.read();
}

/// Whether a tensor by this name is one of the model rather than next to it.
bool of_the_model(const std::string& name, const FoundNaming& found) {
    for (const char* const begin : {"lm_head.", "transformer.", "model.", "gpt_neox.", "embed_out."})
        if (name.starts_with(begin)) return true;
    if (found.naming == Naming::Normscope) return true;
    if (found.naming == Naming::Vit || found.naming == Naming::TimmVit)
        return !name.starts_with(found.prefix + "pooler.");
    return found.prefix.empty() &&
           (name.starts_with("h.") || name.starts_with("layers.") || name.starts_with("wte.") ||
            name.starts_with("wpe.") || name.starts_with("ln_f.") || name.starts_with("norm.") ||
            name.starts_with("embed_tokens."));
}

void judge_unused(const Safetensors& file, const std::set<std::string>& used, const StackSpec& stack,
                  const FoundNaming& found, const std::string& where, std::vector<std::string>& notes) {
    std::string unused;
    for (const SafetensorsEntry& entry : file.tensors()) {
        if (used.count(entry.name) || holds_no_weights(entry.name)) continue;
        if (stack.tied_head && entry.name == head_name(found)) {
            if (same_numbers(entry, *file.find(embedding_name(found)))) continue;
            throw InputError(where + ": " + quoted(entry.name),
                             "differs from " + embedding_name(found) + " though the head is tied",
                             "equal ones, or tie_word_embeddings false");
        }
        if (of_the_model(entry.name, found))
            throw InputError(where + ": " + quoted(entry.name), "is not a tensor of this model",
                             "the " + std::to_string(used.size()) + " tensors of its configuration");
        unused += (unused.empty() ? "" : ", ") + entry.name +
                  (entry.name.starts_with("v_head.") ? " (a value head of TRL)" : "");
    }
    if (!unused.empty()) notes.push_back("tensors next to the model, unused: " + unused);
}

}  // namespace

const char* naming_word(Naming naming) {
    constexpr const char* kWords[] = {"normscope", "gpt2",  "nanogpt", "llama",
                                      "gpt_neox",  "gpt_j", "vit",     "timm_vit"};
    return kWords[static_cast<int>(naming)];
}

std::string embedding_name(const FoundNaming& naming) {
    switch (naming.naming) {
        case Naming::Llama:
            return naming.prefix + "embed_tokens.weight";
        case Naming::GptNeoX:
            return naming.prefix + "embed_in.weight";
        case Naming::Normscope:
            return "tok_emb";
        case Naming::Vit:
        case Naming::TimmVit:
            return "";
        default:
            return naming.prefix + "wte.weight";
    }
}
std::string head_name(const FoundNaming& naming) {
    switch (naming.naming) {
        case Naming::GptNeoX:
            return "embed_out.weight";
        case Naming::Vit:
            return "classifier.weight";
        case Naming::TimmVit:
            return "head.weight";
        default:
            return "lm_head.weight";
    }
}

FoundNaming as_written(Naming naming) {
    return {naming,
            naming == Naming::Llama     ? "model."
            : naming == Naming::NanoGpt ? "transformer."
                                        : "",
            false};
}

std::vector<ForeignTensor> foreign_tensors(const StackSpec& stack, const FoundNaming& naming) {
    if (naming.naming == Naming::Llama) return llama_tensors(stack, naming);
    if (naming.naming == Naming::GptNeoX) return neox_tensors(stack, naming.prefix);
    if (naming.naming == Naming::GptJ) return gpt_j_tensors(stack, naming.prefix);
    if (naming.naming == Naming::Vit) return vit_tensors(stack, naming.prefix);
    if (naming.naming == Naming::TimmVit) return timm_vit_tensors(stack);
    if (naming.naming != Naming::Normscope)
        return gpt2_tensors(stack, naming.prefix, naming.naming == Naming::Gpt2);
    std::vector<ForeignTensor> all;
    const ParameterTable table(stack);
    for (const TensorInfo& t : table.tensors()) all.push_back({t.name, {t.name}, false});
    return all;
}

bool expressible(const StackSpec& s, Naming naming) {
    if (naming == Naming::Normscope) return true;
    const bool written = naming == Naming::Gpt2 || naming == Naming::NanoGpt || naming == Naming::Llama;
    if (!written || s.rope_fraction != 1 || s.rope_global_every != 1 || s.embedding_scale != 1 ||
        s.has_head_bias() || !s.norm.affine || s.attention_soft_cap > 0)
        return false;
    if (s.head_width > 0 && naming != Naming::Llama) return false;
    for (int l = 0; l < s.depth; ++l)
        for (const Sublayer kind : {Sublayer::Attention, Sublayer::FeedForward}) {
            const SublayerRule rule = sublayer_rule(s, l, kind);
            if (!rule.in || rule.out || rule.post || rule.a != 1 || rule.b != 1 || rule.s_in != 1)
                return false;
        }
    if (s.residual_step != 1 || s.temperature != 1 || s.gpas.enabled || s.branch_scale != BranchScale::None ||
        s.qk_norm != QkNorm::Off || s.embedding_norm || s.logit_soft_cap != 0 || s.layout != Layout::Serial ||
        !s.causal || !has_final_norm(s))
        return false;
    // One flag for q, k, v and the output's bias in LLaMA's configuration, one for all in GPT-2's.
    if (naming == Naming::Llama ? s.qkv_bias() != s.attention_out_bias()
                                : s.qkv_bias() != s.bias || s.attention_out_bias() != s.bias)
        return false;
    if (naming == Naming::Llama)
        return s.norm.kind == NormKind::RmsNorm && s.activation == Activation::SwiGlu &&
               s.position == Position::Rope;
    if (s.norm.kind != NormKind::LayerNorm || is_gated(s.activation) || s.position != Position::Learned ||
        s.kv_heads != s.heads)
        return false;
    // nanoGPT's feed-forward, eps and tied head are fixed; only its biases are a choice.
    return naming == Naming::Gpt2 ? s.bias
                                  : s.activation == Activation::GeluErf && s.tied_head &&
                                        s.norm.eps == 1e-5 && s.d_ff == 4 * s.d_model;
}

std::optional<FoundNaming> find_naming(const Safetensors& file) {
    if (file.find("tok_emb")) return FoundNaming{Naming::Normscope, ""};
    for (const std::string prefix : {"model.", ""}) {
        const bool tied =
            file.find("lm_head.weight") && file.find(prefix + "layers.0.input_layernorm.weight");
        if (file.find(prefix + "embed_tokens.weight") || tied)
            return FoundNaming{Naming::Llama, prefix,
                               file.find(prefix + "layers.0.self_attn.qkv_proj.weight") != nullptr};
    }
    for (const std::string prefix : {"transformer.", ""})
        if (file.find(prefix + "h.0.attn.q_proj.weight")) return FoundNaming{Naming::GptJ, prefix};
    for (const std::string prefix : {"vit.", ""})
        if (file.find(prefix + "embeddings.patch_embeddings.projection.weight"))
            return FoundNaming{Naming::Vit, prefix};
    if (file.find("patch_embed.proj.weight")) return FoundNaming{Naming::TimmVit, ""};
    for (const std::string prefix : {"gpt_neox.", ""})
        if (file.find(prefix + "layers.0.attention.query_key_value.weight"))
            return FoundNaming{Naming::GptNeoX, prefix};
    for (const std::string prefix : {"", "transformer."}) {
        const SafetensorsEntry* fused = file.find(prefix + "h.0.attn.c_attn.weight");
        if (!fused || fused->shape.size() != 2) continue;
        // [d, 3d] or [3d, d]: the other matrices follow it.
        return FoundNaming{fused->shape[0] < fused->shape[1] ? Naming::Gpt2 : Naming::NanoGpt, prefix};
    }
    return std::nullopt;
}

std::vector<StoredTensor> from_foreign(const StackSpec& stack, const FoundNaming& found,
                                       const Safetensors& file, const std::string& where,
                                       std::vector<std::string>& notes) {
    const auto shapes = shapes_of(stack);
    std::map<std::string, StoredTensor> ours;
    std::set<std::string> used;
    const auto layout = foreign_tensors(stack, found);
    for (const ForeignTensor& foreign : layout) {
        const Shape untransposed = stacked_shape(foreign, shapes);
        Shape needed = foreign.shape.empty() ? untransposed : foreign.shape;
        if (foreign.transposed) std::swap(needed[0], needed[1]);
        const SafetensorsEntry* entry = file.find(foreign.name);
        if (!entry && stack.tied_head && foreign.name == embedding_name(found)) {
            entry = file.find(head_name(found));
            if (entry)
                notes.push_back("the embedding is stored as " + entry->name + ": the two are tied again");
        }
        if (!entry) throw InputError(where + ": " + foreign.name, "is missing", shape_text(needed));
        if (entry->bytes == 0 && hdf5::element_count(needed) > 0)
            throw InputError(
                where + ": " + foreign.name,
                "has the shape " + shape_text(entry->shape) + ": without values, as in one shard of ZeRO-3",
                "gathered weights of the shape " + shape_text(needed));
        if (entry->shape != needed)
            throw InputError(where + ": " + foreign.name, "has the shape " + shape_text(entry->shape),
                             shape_text(needed));
        used.insert(entry->name);
        StoredTensor whole = float_tensor(*entry, where);
        if (foreign.transposed) whole.bytes = transposed(whole.bytes, needed[0], needed[1]);
        const std::size_t row =
            whole.bytes.size() / std::max<std::size_t>(1, untransposed.empty() ? 1 : untransposed[0]);
        if (!foreign.rows.empty()) whole.bytes = rows_in_order(whole.bytes, row, foreign.rows);
        if (foreign.plus != 0) add(foreign.plus, whole);
        auto at = whole.bytes.begin();
        for (const std::string& part : foreign.parts) {
            const Shape& shape = shapes.at(part);
            const auto end = at + static_cast<std::ptrdiff_t>(row * (shape.empty() ? 1 : shape[0]));
            ours[part] = {part, shape, whole.type, {at, end}};
            at = end;
        }
    }
    judge_unused(file, used, stack, found, where, notes);
    std::vector<StoredTensor> ordered;
    const ParameterTable table(stack);
    for (const TensorInfo& t : table.tensors()) {
        const auto read = ours.find(t.name);
        ordered.push_back(read == ours.end() ? fixed_gain(t, ordered.front().type) : std::move(read->second));
    }
    return ordered;
}

std::vector<StoredTensor> to_foreign(const StackSpec& stack, Naming naming,
                                     const std::vector<StoredTensor>& ours) {
    std::map<std::string, const StoredTensor*> by_name;
    for (const StoredTensor& tensor : ours) by_name[tensor.name] = &tensor;
    const auto shapes = shapes_of(stack);
    std::vector<StoredTensor> all;
    for (const ForeignTensor& foreign : foreign_tensors(stack, as_written(naming))) {
        StoredTensor tensor{foreign.name, stacked_shape(foreign, shapes), ours.front().type, {}};
        for (const std::string& part : foreign.parts) {
            const auto found = by_name.find(part);
            if (found == by_name.end() || found->second->shape != shapes.at(part))
                throw InputError("export: " + part, "is missing or misshapen", shape_text(shapes.at(part)));
            tensor.bytes.insert(tensor.bytes.end(), found->second->bytes.begin(), found->second->bytes.end());
        }
        if (foreign.transposed) {
            tensor.bytes = transposed(tensor.bytes, tensor.shape[0], tensor.shape[1]);
            std::swap(tensor.shape[0], tensor.shape[1]);
        }
        all.push_back(std::move(tensor));
    }
    return all;
}

}  // namespace normscope
