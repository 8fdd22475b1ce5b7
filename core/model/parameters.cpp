// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/parameters.h"

#include <algorithm>

namespace normscope {

ParameterTable::ParameterTable(const StackSpec& s) {
    const int d = s.d_model, d_q = s.d_q(), d_kv = s.d_kv();
    if (s.of_images()) {
        embedded_tokens = 2;
        tok_emb = add("cls_tok", {d});
        add("patch_emb.bias", {d});
        patch_emb = add("patch_emb.weight", {d, s.image.patch_width()});
        linear_layers_.push_back({patch_emb, d, s.image.patch_width()});
    } else {
        embedded_tokens = s.vocab;
        tok_emb = add("tok_emb", {s.vocab, d});
    }
    if (s.position == Position::Learned) pos_emb = add("pos_emb", {s.context, d});
    embedding_norm = add_norm("emb_norm", embedding_norm_of(s), d, s.bias);
    for (int l = 0; l < s.depth; ++l) {
        const std::string layer = "blocks." + std::to_string(l);
        const auto norms = [&](SublayerOffsets& to, Sublayer kind) {
            const SublayerRule rule = sublayer_rule(s, l, kind);
            const int sub = kind == Sublayer::Attention ? 0 : 1;
            const std::string at = layer + "." + sublayer_name(kind) + ".norm_";
            const bool shared = s.shared_norm && kind == Sublayer::FeedForward && rule.in &&
                                attention.back().norm_in.present();
            to.norm_in = shared ? attention.back().norm_in : add_norm(at + "in", rule.in, d, s.bias, l, sub);
            to.norm_out = add_norm(at + "out", rule.out, d, s.bias, l, sub);
            to.norm_post = add_norm(at + "post", rule.post, d, s.bias, l, sub);
            if (s.branch_scale != BranchScale::None)
                to.scale = add(
                    layer + "." + sublayer_name(kind) + ".scale",
                    s.branch_scale == BranchScale::Scalar ? std::vector<int>{} : std::vector<int>{d}, l, sub);
        };

        AttentionOffsets a;
        const std::string attn = layer + ".attn.";
        a.wqkv = add(attn + "wq", {d_q, d}, l, 0);
        add(attn + "wk", {d_kv, d}, l, 0);
        add(attn + "wv", {d_kv, d}, l, 0);
        if (s.qkv_bias()) {
            a.bqkv = add(attn + "bq", {d_q}, l, 0);
            add(attn + "bk", {d_kv}, l, 0);
            add(attn + "bv", {d_kv}, l, 0);
        }
        a.wo = add(attn + "wo", {d, d_q}, l, 0);
        if (s.attention_out_bias()) a.bo = add(attn + "bo", {d}, l, 0);
        if (s.qk_norm != QkNorm::Off) {
            const bool each_head = s.qk_norm == QkNorm::Head;
            a.q_norm = add_norm(attn + "q_norm", qk_norm_of(s), each_head ? s.d_head() : d_q, false, l, 0);
            a.k_norm = add_norm(attn + "k_norm", qk_norm_of(s), each_head ? s.d_head() : d_kv, false, l, 0);
        }
        if (s.position == Position::Rope && s.is_local(l))
            a.angles = static_cast<std::size_t>(s.context) * static_cast<std::size_t>(s.d_head());
        a.local = s.is_local(l);
        norms(a, Sublayer::Attention);
        attention.push_back(a);

        FeedForwardOffsets f;
        const std::string ffn = layer + ".ffn.";
        const bool gated = is_gated(s.activation);
        f.w1 = add(ffn + (gated ? "w_gate" : "w1"), {s.d_ff, d}, l, 1);
        if (gated) add(ffn + "w_up", {s.d_ff, d}, l, 1);
        if (s.bias) {
            f.b1 = add(ffn + (gated ? "b_gate" : "b1"), {s.d_ff}, l, 1);
            if (gated) add(ffn + "b_up", {s.d_ff}, l, 1);
        }
        f.w2 = add(ffn + (gated ? "w_down" : "w2"), {d, s.d_ff}, l, 1);
        if (s.bias) f.b2 = add(ffn + (gated ? "b_down" : "b2"), {d}, l, 1);
        norms(f, Sublayer::FeedForward);

        if (s.gpas.enabled) {
            attention.back().gate = f.gate = add(layer + ".gate", {}, l);
            tensors_.back().frozen = !s.gpas.learnable;
        }
        const int width = gated ? 2 * s.d_ff : s.d_ff;
        for (const LinearLayer& linear :
             {LinearLayer{a.wqkv, d_q + 2 * d_kv, d}, {a.wo, d, d_q}, {f.w1, width, d}, {f.w2, d, s.d_ff}})
            linear_layers_.push_back(linear);
        feed_forward.push_back(f);
    }
    final_norm = add_norm("final_norm", final_norm_of(s), d, s.bias);
    head = s.tied_head ? tok_emb : add("head.weight", {s.vocab, d});
    linear_layers_.push_back({head, s.vocab, d});
    if (s.has_head_bias()) head_bias = add("head.bias", {s.vocab});
}

std::size_t ParameterTable::add(std::string name, std::vector<int> shape, int layer, int sublayer) {
    TensorInfo tensor{std::move(name), std::move(shape), size_, 1, layer, sublayer, false};
    for (int extent : tensor.shape) tensor.count *= static_cast<std::size_t>(extent);
    size_ += tensor.count;
    tensors_.push_back(std::move(tensor));
    return tensors_.back().offset;
}

NormOffsets ParameterTable::add_norm(const std::string& name, const std::optional<NormSpec>& norm, int width,
                                     bool bias, int layer, int sublayer) {
    NormOffsets offsets;
    if (!norm) return offsets;
    const NormKindRow& kind = norm_kind_row(norm->kind);
    offsets.kind = norm->kind;
    offsets.weight = add(name + ".weight", {width}, layer, sublayer);
    tensors_.back().frozen = !norm->affine;
    for (const NormParameter& own : kind.own) add(name + "." + own.name, {}, layer, sublayer);
    if (bias && kind.bias && norm->affine) offsets.bias = add(name + ".bias", {width}, layer, sublayer);
    return offsets;
}

bool ParameterTable::has_frozen() const {
    return std::any_of(tensors_.begin(), tensors_.end(),
                       [](const TensorInfo& tensor) { return tensor.frozen; });
}

const TensorInfo* ParameterTable::find(const std::string& name) const {
    for (const auto& tensor : tensors_)
        if (tensor.name == name) return &tensor;
    return nullptr;
}

}  // namespace normscope
