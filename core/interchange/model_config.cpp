// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/model_config.h"

#include "core/base/error.h"
#include "core/interchange/activation_words.h"
#include "core/interchange/config_reader.h"
#include "core/interchange/gpt_j.h"
#include "core/interchange/vision.h"
#include "core/stack/json_fields.h"

#include <algorithm>
#include <cmath>

namespace normscope {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

Activation gpt2_activation(ConfigReader& c, Naming naming) {
    // Hugging Face's default is the tanh form; nanoGPT has no such key and computes the exact one.
    const char* otherwise = naming == Naming::NanoGpt && !c.has("model_type") ? "gelu" : "gelu_new";
    return known_activation(c, "activation_function", otherwise);
}

StackSpec gpt2_stack(ConfigReader& c, const FoundNaming& found, const Safetensors& file) {
    c.only("model_type", "gpt2");
    c.only("scale_attn_weights", true);
    c.only("scale_attn_by_inverse_layer_idx", false);
    c.only("add_cross_attention", false);
    StackSpec s;
    apply_block_preset(s, Block::Gpt2);
    s.depth = c.integer("n_layer");
    s.d_model = c.integer("n_embd");
    s.heads = c.integer("n_head");
    s.d_ff = c.integer("n_inner", 0);
    s.context = c.integer(c.has("n_positions")  ? "n_positions"
                          : c.has("block_size") ? "block_size"
                                                : "n_ctx");
    s.vocab = c.integer("vocab_size");
    s.norm.eps = c.real("layer_norm_epsilon", 1e-5);
    s.activation = gpt2_activation(c, found.naming);
    s.bias = c.flag("bias", file.find(found.prefix + "h.0.ln_1.bias") != nullptr);
    s.tied_head = c.flag("tie_word_embeddings", true);
    s.init.rule = InitRule::Gpt2;
    return s;
}

/// How the frequencies are scaled, of the object rope_scaling or rope_parameters. `original`: tokens where
/// the object does not state them.
RopeScaling rope_scaling(ConfigReader& c, int original) {
    RopeScaling scaling;
    // Of kinds that do not read them they change nothing.
    for (const char* const key : {"factor", "low_freq_factor", "high_freq_factor", "beta_fast", "beta_slow",
                                  "original_max_position_embeddings", "attention_factor"})
        c.find(key);
    const std::string otherwise = c.text("type", "default"), type = c.text("rope_type", otherwise);
    if (type == "default") return scaling;
    scaling.factor = c.real("factor", 1);
    if (type == "linear") {
        if (scaling.factor != 1) scaling.kind = RopeScalingKind::Linear;
    } else if (type == "llama3") {
        scaling.kind = RopeScalingKind::Llama3;
        scaling.low_frequency = c.real("low_freq_factor", scaling.low_frequency);
        scaling.high_frequency = c.real("high_freq_factor", scaling.high_frequency);
        scaling.original_context = c.integer("original_max_position_embeddings", original);
    } else if (type == "yarn") {
        scaling.kind = RopeScalingKind::Yarn;
        scaling.original_context = c.integer("original_max_position_embeddings", original);
        if (!c.has("factor")) c.reject("factor", "is missing", "a number");
        scaling.beta_fast = c.real("beta_fast", scaling.beta_fast);
        scaling.beta_slow = c.real("beta_slow", scaling.beta_slow);
        scaling.attention_factor = c.real("attention_factor", 0);
        c.only("truncate", true);
    } else {
        c.reject("rope_type", "\"" + type + "\" is not expressed", "default, linear, llama3, yarn");
    }
    return scaling;
}

/// The frequencies of the layers that an object is about.
void read_frequencies(ConfigReader& c, int original, StackSpec& s) {
    s.rope_scaling = rope_scaling(c, original);
    s.rope_fraction = c.real("partial_rotary_factor", s.rope_fraction);
    s.rope_base = c.real("rope_theta", s.rope_base);
}

/// The rotary angles; `context` as the configuration states it. Newer configurations have all about them in
/// rope_parameters, which goes before.
void read_rotation(ConfigReader& c, int context, StackSpec& s, std::vector<std::string>& notes) {
    // GPT-NeoX' own words first.
    s.rope_fraction = c.real("partial_rotary_factor", c.real("rotary_pct", s.rope_fraction));
    s.rope_base = c.real("rope_theta", c.real("rotary_emb_base", s.rope_base));
    s.rope_local_base = c.real("rope_local_base_freq", s.rope_local_base);
    const int original = c.integer("original_max_position_embeddings", context);
    for (const char* const key : {"rope_scaling", "rope_parameters"}) {
        const json* const object = c.find(key);
        if (!object) continue;
        ConfigReader inner(*object, c.where() + ": " + key);
        const json* const full = inner.find("full_attention");
        const json* const local = inner.find("sliding_attention");
        if (full) {
            ConfigReader of_full(*full, inner.where() + ": full_attention");
            read_frequencies(of_full, original, s);
            of_full.finish(notes);
        }
        if (local) {
            ConfigReader of_local(*local, inner.where() + ": sliding_attention");
            StackSpec other = s;
            other.rope_base = s.rope_local_base;
            read_frequencies(of_local, original, other);
            if (other.rope_scaling.kind != RopeScalingKind::Off) of_local.reject("rope_type", "default");
            s.rope_local_base = other.rope_base;
            of_local.finish(notes);
        }
        if (!full && !local) read_frequencies(inner, original, s);
        inner.finish(notes);
    }
    const double turning = s.heads > 0 ? s.rope_fraction * s.d_head() : 0;
    if (turning != 2 * std::floor(turning / 2))
        c.reject("partial_rotary_factor", "turns " + json_text(json(turning)) + " entries of a head",
                 "a factor that gives an even number");
}

// Of the recipe's keys. What is computed of such numbers before they are checked there must not overflow.
constexpr int kMaxDepth = 4096, kMaxHeads = 4096, kMaxHeadWidth = 65536;

/// The layers with a sliding window, by layer_types, or where that is missing by the family's rule: of
/// Gemma 2 every other layer from the first, of Gemma 3 all but every sixth, of Qwen 2 from
/// max_window_layers on, else all.
std::vector<bool> windowed_layers(ConfigReader& c, const std::string& type, int depth) {
    const int pattern = c.integer("sliding_window_pattern", c.integer("_sliding_window_pattern", 6)),
              from = c.integer("max_window_layers", 0);
    const json* types = c.find("layer_types");
    if (types && (!types->is_array() || types->size() != static_cast<std::size_t>(depth)))
        c.reject("layer_types", "a list of " + std::to_string(depth) + " words");
    std::vector<bool> windowed;
    for (int l = 0; l < depth; ++l) {
        if (types) {
            const json& word = (*types)[static_cast<std::size_t>(l)];
            if (word != "full_attention" && word != "sliding_attention")
                c.reject("layer_types", "a list of full_attention, sliding_attention");
            windowed.push_back(word == "sliding_attention");
        } else if (type == "gemma2") {
            windowed.push_back(l % 2 == 0);
        } else if (type == "gemma3_text") {
            windowed.push_back(pattern < 1 || (l + 1) % pattern != 0);
        } else {
            windowed.push_back(l >= from);
        }
    }
    return windowed;
}

/// Which k makes the layers that k does not divide, counted from 1, those with a window; 0 for none.
int period_of(const std::vector<bool>& windowed) {
    const int depth = static_cast<int>(windowed.size());
    StackSpec s;
    for (s.rope_global_every = 2; s.rope_global_every <= depth + 1; ++s.rope_global_every) {
        bool same = true;
        for (int l = 0; l < depth; ++l) same = same && s.is_local(l) == windowed[static_cast<std::size_t>(l)];
        if (same) return s.rope_global_every;
    }
    return 0;
}

void shorten_to_window(int window, StackSpec& s, std::vector<std::string>& notes) {
    notes.push_back("sliding_window " + std::to_string(window) + ": the context is shortened to it from " +
                    std::to_string(s.context) + "; within it, it hides no token");
    s.context = window;
    s.window = 0;
    s.rope_global_every = 1;
}

/// Sliding windows, of which Gemma 3's layers have a rotary base of their own. Where no rule of ours picks
/// the same layers the context becomes the window, for within it nothing is hidden.
void read_windows(ConfigReader& c, const std::string& type, StackSpec& s, std::vector<std::string>& notes) {
    if (s.depth < 1 || s.depth > kMaxDepth) c.reject("num_hidden_layers", "1 … " + std::to_string(kMaxDepth));
    const bool used = c.flag("use_sliding_window", type.rfind("qwen", 0) != 0);
    const std::vector<bool> windowed = windowed_layers(c, type, s.depth);
    const auto layers = std::count(windowed.begin(), windowed.end(), true);
    const json* window = c.find("sliding_window");
    const int period = period_of(windowed);
    const bool own_base = type == "gemma3_text" && layers > 0;
    if (own_base && period == 0)
        c.reject("layer_types", "a list with every k-th layer full_attention, the others sliding_attention");
    if (own_base) s.rope_global_every = period;
    if (!window || *window == false || !used || layers == 0) return;
    if (!window->is_number_unsigned() || *window < 1) c.reject("sliding_window", "null, or a whole number");
    if (*window >= s.context) return;
    if (period > 0) {
        s.rope_global_every = period;
        s.window = window->get<int>();
        return;
    }
    shorten_to_window(window->get<int>(), s, notes);
}

/// The width of a head: as stated, or as the tensor has it.
void read_head_width(ConfigReader& c, const Safetensors& file, const std::string& layer, StackSpec& s) {
    if (s.heads < 1 || s.heads > kMaxHeads)
        c.reject("num_attention_heads", "1 … " + std::to_string(kMaxHeads));
    const auto heads = static_cast<std::size_t>(s.heads);
    int width = 0;
    const SafetensorsEntry* query = file.find(layer + "self_attn.q_proj.weight");
    if (query && query->shape.size() == 2 && query->shape[0] < (1u << 24) && query->shape[0] % heads == 0)
        width = static_cast<int>(query->shape[0] / heads);
    width = c.integer("head_dim", width);
    if (width > kMaxHeadWidth) c.reject("head_dim", "1 … " + std::to_string(kMaxHeadWidth));
    if (width * s.heads != s.d_model) s.head_width = width;
}

/// Biases as the tensors have them, where the configuration leaves that open.
void read_biases(ConfigReader& c, const Safetensors& file, const std::string& layer, bool qkv_by_default,
                 StackSpec& s) {
    const bool stated = c.has("attention_bias");
    const auto present = [&](const char* name) { return file.find(layer + name + ".bias") != nullptr; };
    const bool attention = c.flag("attention_bias", false);
    const bool qkv = stated ? attention || present("self_attn.q_proj")
                            : qkv_by_default || present("self_attn.q_proj") || present("self_attn.qkv_proj");
    const bool out = attention || present("self_attn.o_proj");
    s.bias = c.flag("mlp_bias", false) || present("mlp.down_proj");
    if (qkv != s.bias || out != s.bias)
        s.attention_bias = !qkv ? AttentionBias::Off : out ? AttentionBias::On : AttentionBias::Qkv;
    if (out && !qkv)
        c.reject("attention_bias", "an output bias alone cannot be expressed", "biases of q, k and v too");
}

/// The gate's function. The first files of Gemma name GELU where its tanh form was meant.
Activation gated_activation(ConfigReader& c, bool gemma) {
    const std::string legacy = c.text("hidden_act", gemma ? "gelu_pytorch_tanh" : "silu");
    const std::string word = c.text("hidden_activation", legacy);
    if (word == "silu" || word == "swish") return Activation::SwiGlu;
    if (word == "gelu_pytorch_tanh" || word == "gelu_new" || (gemma && word == "gelu"))
        return Activation::GeGlu;
    c.reject(c.has("hidden_activation") ? "hidden_activation" : "hidden_act",
             "silu, swish, gelu_pytorch_tanh");
}

/// What Gemma's configurations have besides those of LLaMA.
void read_gemma(ConfigReader& c, const std::string& type, FoundNaming& found, StackSpec& s) {
    found.plus_gain = 1;
    s.embedding_scale = std::sqrt(static_cast<double>(s.d_model));
    if (type == "gemma") return;
    s.scheme = Scheme::Peri;
    // Where Gemma 2's are missing, other programs take 50 and 30.
    for (const char* const cap : {"attn_logit_softcapping", "final_logit_softcapping"})
        if (type == "gemma2" && !c.states(cap)) c.reject(cap, "is missing", "null, or a number");
    s.attention_soft_cap = c.real("attn_logit_softcapping", 0);
    s.logit_soft_cap = c.real("final_logit_softcapping", 0);
    c.only("use_bidirectional_attention", false);
    const double scalar = c.real("query_pre_attn_scalar", 256);
    if (!(scalar > 0)) c.reject("query_pre_attn_scalar", "a positive number");
    s.temperature = std::sqrt(scalar / s.d_head());
}

/// OLMo 1: LayerNorm without gain and shift, of a fixed ε.
void read_olmo(ConfigReader& c, StackSpec& s) {
    s.norm = {NormKind::LayerNorm, 1e-5, false};
    c.only("clip_qkv", nullptr);
}

/// LLaMA and its relatives, which differ in biases, norms of q and k, where the norms are placed, fused
/// matrices, and by Gemma's rules.
StackSpec llama_stack(ConfigReader& c, FoundNaming& found, const Safetensors& file,
                      std::vector<std::string>& notes) {
    const std::string type = c.text("model_type", "llama");
    constexpr const char* kTypes[] = {"llama", "mistral", "qwen2", "qwen3",  "olmo",
                                      "olmo2", "phi3",    "gemma", "gemma2", "gemma3_text"};
    const bool gemma = type.rfind("gemma", 0) == 0;
    if (std::none_of(std::begin(kTypes), std::end(kTypes), [&](const char* known) { return type == known; }))
        c.reject("model_type",
                 "llama, mistral, qwen2, qwen3, olmo, olmo2, phi3, gemma, gemma2, gemma3_text, gpt2, gptj, "
                 "gpt_neox, vit");
    c.only("pretraining_tp", 1);
    StackSpec s;
    apply_block_preset(s, Block::Llama);
    s.activation = gated_activation(c, gemma);
    s.depth = c.integer("num_hidden_layers");
    s.d_model = c.integer("hidden_size");
    s.heads = c.integer("num_attention_heads");
    s.kv_heads = c.integer("num_key_value_heads", s.heads);
    s.d_ff = c.integer("intermediate_size");
    s.context =
        c.integer(c.has("max_position_embeddings") ? "max_position_embeddings" : "max_sequence_length");
    s.vocab = c.integer("vocab_size");
    s.norm.eps = c.real("rms_norm_eps", type == "olmo2" || type == "phi3" ? 1e-5 : 1e-6);
    if (type == "olmo") read_olmo(c, s);
    const std::string layer = found.prefix + "layers.0.";
    read_head_width(c, file, layer, s);
    if (gemma) read_gemma(c, type, found, s);
    if (type == "gemma3_text") s.rope_base = 1e6;
    const int context = s.context;  // before windows shorten it
    read_windows(c, type, s, notes);
    read_rotation(c, context, s, notes);
    if (s.window > 0 && type != "gemma3_text") {  // local by the window alone
        s.rope_local_base = s.rope_base;
        // Frequencies of local layers are not scaled.
        if (s.rope_scaling.kind != RopeScalingKind::Off) shorten_to_window(s.window, s, notes);
    }
    if (found.fused && s.rope_fraction != 1)
        c.reject("partial_rotary_factor", "of one matrix for q, k and v is not expressed", "1");
    read_biases(c, file, layer, type == "qwen2", s);
    s.tied_head = c.flag("tie_word_embeddings", gemma);
    if (type == "olmo2") s.scheme = Scheme::Output;
    if (const SafetensorsEntry* norm = file.find(layer + "self_attn.q_norm.weight"))
        s.qk_norm = norm->shape == std::vector{static_cast<std::size_t>(s.d_q())} && s.heads != 1
                        ? QkNorm::Full
                        : QkNorm::Head;
    else if (type == "olmo2" || type == "qwen3" || type == "gemma3_text")
        s.qk_norm = type == "olmo2" ? QkNorm::Full : QkNorm::Head;
    if (s.rope_fraction != 1 && s.qk_norm != QkNorm::Off)
        c.reject("partial_rotary_factor", "next to norms of q and k is not expressed", "1");
    s.init.rule = InitRule::Plain;
    return s;
}

StackSpec neox_stack(ConfigReader& c, const FoundNaming& found, const Safetensors& file,
                     std::vector<std::string>& notes) {
    c.only("model_type", "gpt_neox");
    StackSpec s;
    apply_block_preset(s, Block::Gpt2);
    s.position = Position::Rope;
    s.depth = c.integer("num_hidden_layers");
    s.d_model = c.integer("hidden_size");
    s.heads = c.integer("num_attention_heads");
    s.d_ff = c.integer("intermediate_size");
    s.context = c.integer("max_position_embeddings");
    s.vocab = c.integer("vocab_size");
    s.norm.eps = c.real("layer_norm_eps", 1e-5);
    s.activation = known_activation(c, "hidden_act", "gelu");
    s.layout = c.flag("use_parallel_residual", true) ? Layout::Parallel : Layout::Serial;
    s.rope_fraction = 0.25;
    read_rotation(c, s.context, s, notes);
    c.flag("attention_bias", true);  // the tensors decide
    const std::string layer = found.prefix + "layers.0.attention.";
    const bool qkv = file.find(layer + "query_key_value.bias"), out = file.find(layer + "dense.bias");
    s.attention_bias = !qkv ? AttentionBias::Off : out ? AttentionBias::On : AttentionBias::Qkv;
    if (out && !qkv)
        c.reject("attention_bias", "an output bias alone cannot be expressed", "biases of q, k and v too");
    s.tied_head = c.flag("tie_word_embeddings", false);
    s.init.rule = InitRule::Plain;
    return s;
}

/// Whether the head is the embedding, by the tensors rather than by the configuration.
void read_tied_head(const FoundNaming& found, const Safetensors& file, StackSpec& s,
                    std::vector<std::string>& notes) {
    const SafetensorsEntry* head = file.find(head_name(found));
    const SafetensorsEntry* embedding = file.find(embedding_name(found));
    if (s.tied_head && head && embedding &&
        (head->dtype != embedding->dtype || head->shape != embedding->shape ||
         head->read() != embedding->read())) {
        s.tied_head = false;
        notes.push_back(head->name + " differs from " + embedding->name +
                        " though the configuration ties them: the head is read as one of its own");
    } else if (!s.tied_head && !head && embedding) {
        s.tied_head = true;
        notes.push_back("there is no " + head_name(found) +
                        " though the configuration does not tie it: the head is tied to " + embedding->name);
    }
}

}  // namespace

StackSpec checked(StackSpec stack, const std::string& where) {
    try {
        JsonWriter writer;
        list_fields(writer, stack);
        // Infinities become null and are rejected as such.
        const json text = strict_json(json_text(writer.take()), "stack");
        StackSpec read;
        JsonReader reader(text, "stack");
        list_fields(reader, read);
        complete(read, 0);
        validate(read);
        return read;
    } catch (const InputError& error) {
        throw InputError(where + ": " + error.what());
    }
}

namespace {

StackSpec stack_of(ConfigReader& config, FoundNaming& found, const Safetensors& file,
                   std::vector<std::string>& notes) {
    switch (found.naming) {
        case Naming::Llama:
            return llama_stack(config, found, file, notes);
        case Naming::GptNeoX:
            return neox_stack(config, found, file, notes);
        case Naming::GptJ:
            return gpt_j_stack(config);
        case Naming::Vit:
            return vit_stack(config, found, file);
        case Naming::TimmVit:
            return timm_vit_stack(config, file);
        default:
            return gpt2_stack(config, found, file);
    }
}

}  // namespace

StackSpec stack_of_config(const std::string& json_text, FoundNaming& found, const Safetensors& file,
                          const std::string& where, std::vector<std::string>& notes) {
    const json object = strict_json(json_text, where);
    ConfigReader config(object, where);
    if (config.has("quantization_config"))
        config.reject("quantization_config", "the weights are quantised", "the dequantised model");
    StackSpec stack = stack_of(config, found, file, notes);
    config.finish(notes);
    read_tied_head(found, file, stack, notes);
    return checked(stack, where);
}

namespace {

/// rope_scaling of a configuration; null without.
ordered_json scaling_of(const RopeScaling& s) {
    switch (s.kind) {
        case RopeScalingKind::Off:
            return nullptr;
        case RopeScalingKind::Linear:
            return {{"rope_type", "linear"}, {"factor", s.factor}};
        case RopeScalingKind::Llama3:
            return {{"rope_type", "llama3"},
                    {"factor", s.factor},
                    {"low_freq_factor", s.low_frequency},
                    {"high_freq_factor", s.high_frequency},
                    {"original_max_position_embeddings", s.original_context}};
        case RopeScalingKind::Yarn:
            break;
    }
    ordered_json yarn = {{"rope_type", "yarn"},
                         {"factor", s.factor},
                         {"original_max_position_embeddings", s.original_context},
                         {"beta_fast", s.beta_fast},
                         {"beta_slow", s.beta_slow}};
    if (s.attention_factor > 0) yarn["attention_factor"] = s.attention_factor;
    return yarn;
}

}  // namespace

std::string config_of_stack(const StackSpec& s, Naming naming) {
    ordered_json c;
    if (naming == Naming::Llama) {
        c = {{"architectures", {"LlamaForCausalLM"}},
             {"model_type", "llama"},
             {"hidden_size", s.d_model},
             {"num_hidden_layers", s.depth},
             {"num_attention_heads", s.heads},
             {"num_key_value_heads", s.kv_heads},
             {"head_dim", s.d_head()},
             {"intermediate_size", s.d_ff},
             {"max_position_embeddings", s.context},
             {"vocab_size", s.vocab},
             {"hidden_act", "silu"},
             {"rms_norm_eps", s.norm.eps},
             {"rope_theta", s.rope_base},
             {"rope_scaling", scaling_of(s.rope_scaling)},
             {"attention_bias", s.qkv_bias()},
             {"mlp_bias", s.bias},
             {"tie_word_embeddings", s.tied_head}};
    } else if (naming == Naming::NanoGpt) {
        c = {{"n_layer", s.depth},    {"n_head", s.heads}, {"n_embd", s.d_model}, {"block_size", s.context},
             {"vocab_size", s.vocab}, {"bias", s.bias},    {"dropout", 0.0}};
    } else {
        c = {{"architectures", {"GPT2LMHeadModel"}},
             {"model_type", "gpt2"},
             {"n_layer", s.depth},
             {"n_head", s.heads},
             {"n_embd", s.d_model},
             {"n_inner", s.d_ff},
             {"n_positions", s.context},
             {"vocab_size", s.vocab},
             {"activation_function", activation_word(s.activation)},
             {"layer_norm_epsilon", s.norm.eps},
             {"tie_word_embeddings", s.tied_head}};
    }
    return json_text(c, 2) + "\n";
}

}  // namespace normscope
