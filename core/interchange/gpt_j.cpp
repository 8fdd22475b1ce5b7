// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/gpt_j.h"

#include "core/interchange/activation_words.h"
#include "core/interchange/rotary_rows.h"

namespace normscope {

StackSpec gpt_j_stack(ConfigReader& c) {
    c.only("model_type", "gptj");
    StackSpec s;
    apply_block_preset(s, Block::Gpt2);
    s.depth = c.integer("n_layer");
    s.d_model = c.integer("n_embd");
    s.heads = c.integer("n_head");
    s.d_ff = c.integer("n_inner", 0);
    s.context = c.integer("n_positions");
    s.vocab = c.integer("vocab_size");
    s.norm.eps = c.real("layer_norm_epsilon", 1e-5);
    s.activation = known_activation(c, "activation_function", "gelu_new");
    s.attention_bias = AttentionBias::Off;
    s.layout = Layout::Parallel;
    s.shared_norm = s.head_bias = true;
    s.position = Position::Rope;
    if (s.heads > 0 && s.d_model % s.heads == 0 && s.d_model > 0) {
        // transformers' default, and null: of the whole head.
        const int width = s.d_model / s.heads;
        const int rotating = c.integer("rotary_dim", c.states("rotary_dim") ? width : 64);
        if (rotating < 2 || rotating > width || rotating % 2 != 0)
            c.reject("rotary_dim", "an even number from 2 to " + std::to_string(width));
        s.rope_fraction = static_cast<double>(rotating) / width;
    }
    s.tied_head = c.flag("tie_word_embeddings", false);
    s.init.rule = InitRule::Plain;
    return s;
}

std::vector<ForeignTensor> gpt_j_tensors(const StackSpec& s, const std::string& prefix) {
    const std::vector<std::size_t> rotated = rotary_rows(s, s.heads, RotaryPairs::Neighbours);
    std::vector<ForeignTensor> all{{prefix + "wte.weight", {"tok_emb"}}};
    for (int l = 0; l < s.depth; ++l) {
        const std::string theirs = prefix + "h." + std::to_string(l) + ".",
                          ours = "blocks." + std::to_string(l) + ".";
        for (const char* const part : {".weight", ".bias"})
            all.push_back({theirs + "ln_1" + part, {ours + "attn.norm_in" + part}});
        for (const std::string which : {"q", "k"})
            all.push_back(
                {theirs + "attn." + which + "_proj.weight", {ours + "attn.w" + which}, false, rotated});
        all.push_back({theirs + "attn.v_proj.weight", {ours + "attn.wv"}});
        all.push_back({theirs + "attn.out_proj.weight", {ours + "attn.wo"}});
        all.push_back({theirs + "mlp.fc_in.weight", {ours + "ffn.w1"}});
        all.push_back({theirs + "mlp.fc_in.bias", {ours + "ffn.b1"}});
        all.push_back({theirs + "mlp.fc_out.weight", {ours + "ffn.w2"}});
        all.push_back({theirs + "mlp.fc_out.bias", {ours + "ffn.b2"}});
    }
    for (const char* const part : {".weight", ".bias"})
        all.push_back({prefix + "ln_f" + part, {std::string("final_norm") + part}});
    if (!s.tied_head) all.push_back({"lm_head.weight", {"head.weight"}});
    all.push_back({"lm_head.bias", {"head.bias"}});
    return all;
}

}  // namespace normscope
