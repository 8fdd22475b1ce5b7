// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/model_config.h"

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/stack/json_fields.h"

#include <limits>
#include <optional>
#include <set>

namespace normscope {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

/// Keys without effect on the computation from tokens to logits: names, token ids, training, bookkeeping.
const std::set<std::string> kHarmless{"_name_or_path",
                                      "architectures",
                                      "attention_dropout",
                                      "attn_pdrop",
                                      "bos_token_id",
                                      "chunk_size_feed_forward",
                                      "decoder_start_token_id",
                                      "dropout",
                                      "dtype",
                                      "embd_pdrop",
                                      "eos_token_id",
                                      "gradient_checkpointing",
                                      "hidden_dropout",
                                      "id2label",
                                      "initializer_range",
                                      "label2id",
                                      "max_sequence_length",
                                      "model_type",
                                      "n_ctx",
                                      "num_labels",
                                      "output_past",
                                      "pad_token_id",
                                      "problem_type",
                                      "reorder_and_upcast_attn",
                                      "resid_pdrop",
                                      "return_dict",
                                      "sep_token_id",
                                      "summary_activation",
                                      "summary_first_dropout",
                                      "summary_proj_to_labels",
                                      "summary_type",
                                      "summary_use_proj",
                                      "task_specific_params",
                                      "tokenizer_class",
                                      "torch_dtype",
                                      "transformers_version",
                                      "unk_token_id",
                                      "use_cache"};

/// A configuration that tracks the keys read: each unread key must be harmless.
class Config {
  public:
    Config(const json& object, std::string where) : object_(object), where_(std::move(where)) {
        if (!object.is_object()) throw InputError(where_, "is no configuration", "a JSON object");
    }

    /// nullptr where the key is missing or null.
    const json* find(const std::string& key) {
        seen_.insert(key);
        const auto found = object_.find(key);
        return found == object_.end() || found->is_null() ? nullptr : &*found;
    }
    bool has(const std::string& key) { return find(key) != nullptr; }

    int integer(const std::string& key, std::optional<int> otherwise = std::nullopt) {
        const json* value = find(key);
        if (!value && otherwise) return *otherwise;
        if (!value) throw InputError(where_ + ": " + key, "is missing", "a whole number");
        if (!value->is_number_unsigned() || value->get<std::uint64_t>() > std::numeric_limits<int>::max())
            reject(key, "a whole number");
        return value->get<int>();
    }
    double real(const std::string& key, double otherwise) {
        const json* value = find(key);
        if (value && !value->is_number()) reject(key, "a number");
        return value ? value->get<double>() : otherwise;
    }
    bool flag(const std::string& key, bool otherwise) {
        const json* value = find(key);
        if (value && !value->is_boolean()) reject(key, "true, false");
        return value ? value->get<bool>() : otherwise;
    }
    std::string text(const std::string& key, const std::string& otherwise) {
        const json* value = find(key);
        if (value && !value->is_string()) reject(key, "a word");
        return value ? value->get<std::string>() : otherwise;
    }
    /// The key must be missing, null or exactly this.
    void only(const std::string& key, const json& allowed) {
        const json* value = find(key);
        if (value && *value != allowed) reject(key, json_text(allowed));
    }
    [[noreturn]] void reject(const std::string& key, const std::string& allowed) const {
        throw InputError(where_ + ": " + key, quoted(json_text(object_.at(key))) + " cannot be expressed",
                         allowed);
    }
    void reject_the_rest() const {
        for (const auto& [key, value] : object_.items())
            if (!seen_.count(key) && !kHarmless.count(key) && !value.is_null() && value != false)
                throw InputError(where_ + ": " + quoted(key),
                                 "is not known and may change what the model computes",
                                 "a configuration without it, or null");
    }

  private:
    const json& object_;
    std::string where_;
    std::set<std::string> seen_;
};

struct ActivationWord {
    const char* word;
    Activation activation;
};
constexpr ActivationWord kActivationWords[] = {
    {"gelu_new", Activation::GeluTanh}, {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"gelu", Activation::GeluErf},      {"relu", Activation::Relu},
    {"silu", Activation::Silu},         {"swish", Activation::Silu}};

Activation gpt2_activation(Config& c, Naming naming) {
    // Hugging Face's default is the tanh form; nanoGPT has no such key and computes the exact one.
    const char* otherwise = naming == Naming::NanoGpt && !c.has("model_type") ? "gelu" : "gelu_new";
    const std::string word = c.text("activation_function", otherwise);
    for (const auto& [known, activation] : kActivationWords)
        if (word == known) return activation;
    c.reject("activation_function", "gelu_new, gelu_pytorch_tanh, gelu, relu, silu, swish");
}

StackSpec gpt2_stack(Config& c, const FoundNaming& found, const Safetensors& file) {
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

/// The base of the rotary angles; newer configurations put it into rope_parameters.
double rope_base(Config& c) {
    c.only("rope_scaling", nullptr);
    c.only("partial_rotary_factor", 1.0);
    double base = c.real("rope_theta", 10000);
    if (const json* parameters = c.find("rope_parameters")) {
        Config inner(*parameters, "rope_parameters");
        inner.only("rope_type", "default");
        inner.only("partial_rotary_factor", 1.0);
        base = inner.real("rope_theta", base);
        inner.reject_the_rest();
    }
    return base;
}

StackSpec llama_stack(Config& c) {
    if (c.text("model_type", "llama") != "mistral") c.only("model_type", "llama");
    c.only("sliding_window", nullptr);
    c.only("pretraining_tp", 1);
    if (c.text("hidden_act", "silu") != "swish") c.only("hidden_act", "silu");
    StackSpec s;
    apply_block_preset(s, Block::Llama);
    s.depth = c.integer("num_hidden_layers");
    s.d_model = c.integer("hidden_size");
    s.heads = c.integer("num_attention_heads");
    s.kv_heads = c.integer("num_key_value_heads", s.heads);
    s.d_ff = c.integer("intermediate_size");
    s.context =
        c.integer(c.has("max_position_embeddings") ? "max_position_embeddings" : "max_sequence_length");
    s.vocab = c.integer("vocab_size");
    s.norm.eps = c.real("rms_norm_eps", 1e-6);
    s.rope_base = rope_base(c);
    s.bias = c.flag("attention_bias", false);
    if (c.flag("mlp_bias", false) != s.bias)
        c.reject(c.has("mlp_bias") ? "mlp_bias" : "attention_bias", "both or neither");
    s.tied_head = c.flag("tie_word_embeddings", false);
    if (s.heads > 0 && c.integer("head_dim", s.d_model / s.heads) != s.d_model / s.heads)
        c.reject("head_dim", "hidden_size / num_attention_heads");
    s.init.rule = InitRule::Plain;
    return s;
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

StackSpec stack_of_config(const std::string& json_text, const FoundNaming& found, const Safetensors& file,
                          const std::string& where) {
    const json object = strict_json(json_text, where);
    Config config(object, where);
    const StackSpec stack =
        found.naming == Naming::Llama ? llama_stack(config) : gpt2_stack(config, found, file);
    config.reject_the_rest();
    return checked(stack, where);
}

std::string config_of_stack(const StackSpec& s, Naming naming) {
    ordered_json c;
    if (naming == Naming::Llama) {
        c = {{"architectures", {"LlamaForCausalLM"}},
             {"model_type", "llama"},
             {"hidden_size", s.d_model},
             {"num_hidden_layers", s.depth},
             {"num_attention_heads", s.heads},
             {"num_key_value_heads", s.kv_heads},
             {"intermediate_size", s.d_ff},
             {"max_position_embeddings", s.context},
             {"vocab_size", s.vocab},
             {"hidden_act", "silu"},
             {"rms_norm_eps", s.norm.eps},
             {"rope_theta", s.rope_base},
             {"attention_bias", s.bias},
             {"mlp_bias", s.bias},
             {"tie_word_embeddings", s.tied_head}};
    } else if (naming == Naming::NanoGpt) {
        c = {{"n_layer", s.depth},    {"n_head", s.heads}, {"n_embd", s.d_model}, {"block_size", s.context},
             {"vocab_size", s.vocab}, {"bias", s.bias},    {"dropout", 0.0}};
    } else {
        const char* word = "";
        for (const auto& [known, activation] : kActivationWords)
            if (activation == s.activation && !*word) word = known;
        c = {{"architectures", {"GPT2LMHeadModel"}},
             {"model_type", "gpt2"},
             {"n_layer", s.depth},
             {"n_head", s.heads},
             {"n_embd", s.d_model},
             {"n_inner", s.d_ff},
             {"n_positions", s.context},
             {"vocab_size", s.vocab},
             {"activation_function", word},
             {"layer_norm_epsilon", s.norm.eps},
             {"tie_word_embeddings", s.tied_head}};
    }
    return json_text(c, 2) + "\n";
}

}  // namespace normscope
