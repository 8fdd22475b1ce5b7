// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/config_reader.h"

#include "core/base/error.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace normscope {

using nlohmann::json;

namespace {

/// Parts of the names of keys that compute something in the models of the field.
constexpr const char* kComputing[] = {
    "rope",   "rotary",   "norm",        "attn",   "attention", "act",      "scal",     "bias",
    "window", "cap",      "alibi",       "expert", "moe",       "residual", "parallel", "multiplier",
    "mup",    "head_dim", "layer_types", "mixer",  "conv",      "clip"};

bool computes(const std::string& key) {
    return std::any_of(std::begin(kComputing), std::end(kComputing),
                       [&](const char* part) { return key.find(part) != std::string::npos; });
}

bool is_full_attention(const json& value) {
    return value.is_array() && std::all_of(value.begin(), value.end(),
                                           [](const json& layer) { return layer == "full_attention"; });
}

/// Whether a value switches off whatever the key is about.
bool neutral(const std::string& key, const json& value) {
    if (value.is_null() || value == false || value == "default") return true;
    if (value.is_string() && value.get_ref<const std::string&>().empty()) return true;
    if ((value.is_array() || value.is_object()) && value.empty()) return true;
    if (key == "layer_types") return is_full_attention(value);
    const bool factor = key.find("scal") != std::string::npos ||
                        key.find("multiplier") != std::string::npos ||
                        key.find("factor") != std::string::npos;
    if (factor && value.is_number()) return value.get<double>() == 1;
    return false;
}

bool starts_with(const std::string& text, const char* begin) {
    return text.rfind(begin, 0) == 0;
}

/// Families of keys of programs around the model.
bool bookkeeping(const std::string& key) {
    return starts_with(key, "_") || starts_with(key, "unsloth_") ||
           starts_with(key, "quantization_config_") || starts_with(key, "max_length") || key == "auto_map";
}

std::string listed(const std::vector<std::string>& keys) {
    std::string text;
    for (const std::string& key : keys) text += (text.empty() ? "" : ", ") + key;
    return text;
}

}  // namespace

const std::vector<KnownConfigKey>& known_config_keys() {
    static const std::vector<KnownConfigKey> keys{
        {"add_cross_attention", "cross-attention of a decoder, off"},
        {"architectures", "the class that wrote the file"},
        {"attention_dropout", "dropout, of training alone"},
        {"attn_implementation", "which kernel computes attention"},
        {"attn_pdrop", "dropout, of training alone"},
        {"auto_map", "where code of its own would be loaded from; none is"},
        {"bad_words_ids", "sampling of text"},
        {"begin_suppress_tokens", "sampling of text"},
        {"bos_token_id", "number of a special token"},
        {"chunk_size_feed_forward", "memory of the feed-forward map"},
        {"cross_attention_hidden_size", "of encoder and decoder models"},
        {"decoder_start_token_id", "of encoder and decoder models"},
        {"diversity_penalty", "sampling of text"},
        {"do_sample", "sampling of text"},
        {"dropout", "dropout, of training alone"},
        {"dtype", "the type that the weights were saved in"},
        {"early_stopping", "sampling of text"},
        {"embd_pdrop", "dropout, of training alone"},
        {"encoder_no_repeat_ngram_size", "sampling of text"},
        {"eos_token_id", "number of a special token"},
        {"exponential_decay_length_penalty", "sampling of text"},
        {"finetuning_task", "a name"},
        {"forced_bos_token_id", "sampling of text"},
        {"forced_eos_token_id", "sampling of text"},
        {"gradient_checkpointing", "memory of training"},
        {"hidden_dropout", "dropout, of training alone"},
        {"classifier_dropout", "dropout, of training a classifier alone"},
        {"id2label", "names of classes"},
        {"initializer_range", "initialisation"},
        {"is_decoder", "of encoder and decoder models"},
        {"is_encoder_decoder", "of encoder and decoder models"},
        {"is_llama_config", "a mark of a converter"},
        {"keys_to_ignore_at_inference", "outputs of transformers"},
        {"label2id", "names of classes"},
        {"length_penalty", "sampling of text"},
        {"max_length", "sampling of text"},
        {"max_sequence_length", "another name of the context"},
        {"max_window_layers", "of a sliding window that is not used"},
        {"min_length", "sampling of text"},
        {"model_type", "the family"},
        {"n_ctx", "another name of the context"},
        {"no_repeat_ngram_size", "sampling of text"},
        {"num_beam_groups", "sampling of text"},
        {"num_beams", "sampling of text"},
        {"num_labels", "number of classes of another head"},
        {"num_return_sequences", "sampling of text"},
        {"output_attentions", "outputs of transformers"},
        {"output_hidden_states", "outputs of transformers"},
        {"output_past", "outputs of transformers"},
        {"output_scores", "outputs of transformers"},
        {"pad_token_id", "number of a special token"},
        {"prefix", "sampling of text"},
        {"pretraining_tp", "how products were split in training; 1"},
        {"problem_type", "of another head"},
        {"pruned_heads", "none are"},
        {"remove_invalid_values", "sampling of text"},
        {"reorder_and_upcast_attn", "the precision of attention"},
        {"repetition_penalty", "sampling of text"},
        {"resid_pdrop", "dropout, of training alone"},
        {"return_dict", "outputs of transformers"},
        {"return_dict_in_generate", "outputs of transformers"},
        {"sep_token_id", "number of a special token"},
        {"summary_activation", "of another head"},
        {"summary_first_dropout", "of another head"},
        {"summary_proj_to_labels", "of another head"},
        {"summary_type", "of another head"},
        {"summary_use_proj", "of another head"},
        {"suppress_tokens", "sampling of text"},
        {"task_specific_params", "sampling of text"},
        {"temperature", "sampling of text"},
        {"tf_legacy_loss", "of another program"},
        {"tie_encoder_decoder", "of encoder and decoder models"},
        {"tokenizer_class", "the tokenizer"},
        {"top_k", "sampling of text"},
        {"top_p", "sampling of text"},
        {"torch_dtype", "the type that the weights were saved in"},
        {"torchscript", "a form of export"},
        {"transformers_version", "who wrote the file"},
        {"typical_p", "sampling of text"},
        {"unk_token_id", "number of a special token"},
        {"use_bfloat16", "the type of training on other machines"},
        {"use_cache", "memory of sampling"},
        {"use_sliding_window", "false: the window is not used"},
    };
    return keys;
}

ConfigReader::ConfigReader(const json& object, std::string where)
    : object_(object), where_(std::move(where)) {
    if (!object.is_object()) throw InputError(where_, "is no configuration", "a JSON object");
}

const json* ConfigReader::find(const std::string& key) {
    read_.insert(key);
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
}

int ConfigReader::integer(const std::string& key, std::optional<int> otherwise) {
    const json* value = find(key);
    if (!value && otherwise) return *otherwise;
    if (!value) throw InputError(where_ + ": " + key, "is missing", "a whole number");
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() > std::numeric_limits<int>::max())
        reject(key, "a whole number");
    return value->get<int>();
}

double ConfigReader::real(const std::string& key, double otherwise) {
    const json* value = find(key);
    if (value && !value->is_number()) reject(key, "a number");
    return value ? value->get<double>() : otherwise;
}

bool ConfigReader::flag(const std::string& key, bool otherwise) {
    const json* value = find(key);
    if (value && !value->is_boolean()) reject(key, "true, false");
    return value ? value->get<bool>() : otherwise;
}

std::string ConfigReader::text(const std::string& key, const std::string& otherwise) {
    const json* value = find(key);
    if (value && !value->is_string()) reject(key, "a word");
    return value ? value->get<std::string>() : otherwise;
}

void ConfigReader::only(const std::string& key, const json& allowed) {
    const json* value = find(key);
    if (value && *value != allowed) reject(key, json_text(allowed));
}

void ConfigReader::reject(const std::string& key, const std::string& allowed) const {
    const auto found = object_.find(key);
    // A default may be what cannot be expressed.
    reject(key, found == object_.end() ? "is missing" : json_text(*found) + " cannot be expressed", allowed);
}

void ConfigReader::reject(const std::string& key, const std::string& what, const std::string& allowed) const {
    throw InputError(where_ + ": " + key, what, allowed);
}

void ConfigReader::only_read(const std::string& allowed) const {
    std::vector<std::string> other;
    for (const auto& [key, value] : object_.items())
        if (!read_.count(key) && !value.is_null()) other.push_back(key + " " + json_text(value));
    if (!other.empty()) throw InputError(where_ + ": " + listed(other), "cannot be expressed", allowed);
}

void ConfigReader::finish(std::vector<std::string>& notes) const {
    std::vector<std::string> without_effect, unknown, rejected;
    const auto& known = known_config_keys();
    for (const auto& [key, value] : object_.items()) {
        if (read_.count(key) || value.is_null()) continue;
        const bool listed_key = std::any_of(known.begin(), known.end(),
                                            [&key = key](const KnownConfigKey& k) { return key == k.key; });
        const bool computing = computes(key);
        if (listed_key || bookkeeping(key) || (computing && neutral(key, value)))
            without_effect.push_back(key);
        else if (computing)
            rejected.push_back(key + " " + json_text(value));
        else
            unknown.push_back(key);
    }
    if (!rejected.empty())
        throw InputError(where_ + ": " + listed(rejected),
                         rejected.size() == 1 ? "is not known and may change what the model computes"
                                              : "are not known and may change what the model computes",
                         "a configuration without, or null");
    if (!without_effect.empty()) notes.push_back("keys without effect: " + listed(without_effect));
    if (!unknown.empty()) notes.push_back("unknown keys, ignored: " + listed(unknown));
}

}  // namespace normscope
