// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/parameters.h"

#include <algorithm>
#include <cmath>

#include "core/backend/counter_rng.h"

namespace normscope {

ParameterTable::ParameterTable(const StackSpec& s) {
    const int d = s.d_model, d_kv = s.d_kv();
    tok_emb = add("tok_emb", {s.vocab, d});
    if (s.position == Position::Learned) pos_emb = add("pos_emb", {s.context, d});
    embedding_norm = add_norm(s, "emb_norm", s.embedding_norm);
    for (int l = 0; l < s.depth; ++l) {
        const std::string layer = "blocks." + std::to_string(l);
        const auto norms = [&](SublayerOffsets& to, Sublayer kind) {
            const SublayerRule rule = sublayer_rule(s, l, kind);
            const int sub = kind == Sublayer::Attention ? 0 : 1;
            const std::string at = layer + "." + sublayer_name(kind) + ".norm_";
            to.norm_in = add_norm(s, at + "in", rule.in, l, sub);
            to.norm_out = add_norm(s, at + "out", rule.out, l, sub);
            to.norm_post = add_norm(s, at + "post", rule.post, l, sub);
        };

        AttentionOffsets a;
        const std::string attn = layer + ".attn.";
        a.wqkv = add(attn + "wq", {d, d}, l, 0);
        add(attn + "wk", {d_kv, d}, l, 0);
        add(attn + "wv", {d_kv, d}, l, 0);
        if (s.bias) {
            a.bqkv = add(attn + "bq", {d}, l, 0);
            add(attn + "bk", {d_kv}, l, 0);
            add(attn + "bv", {d_kv}, l, 0);
        }
        a.wo = add(attn + "wo", {d, d}, l, 0);
        if (s.bias) a.bo = add(attn + "bo", {d}, l, 0);
        if (s.qk_norm != QkNorm::Off) {
            const bool each_head = s.qk_norm == QkNorm::Head;
            a.q_norm = add(attn + "q_norm.weight", {each_head ? s.d_head() : d}, l, 0);
            a.k_norm = add(attn + "k_norm.weight", {each_head ? s.d_head() : d_kv}, l, 0);
        }
        norms(a, Sublayer::Attention);

        FeedForwardOffsets f;
        const std::string ffn = layer + ".ffn.";
        const bool gated = s.activation == Activation::SwiGlu;
        f.w1 = add(ffn + (gated ? "w_gate" : "w1"), {s.d_ff, d}, l, 1);
        if (gated) add(ffn + "w_up", {s.d_ff, d}, l, 1);
        if (s.bias) {
            f.b1 = add(ffn + (gated ? "b_gate" : "b1"), {s.d_ff}, l, 1);
            if (gated) add(ffn + "b_up", {s.d_ff}, l, 1);
        }
        f.w2 = add(ffn + (gated ? "w_down" : "w2"), {d, s.d_ff}, l, 1);
        if (s.bias) f.b2 = add(ffn + (gated ? "b_down" : "b2"), {d}, l, 1);
        norms(f, Sublayer::FeedForward);

        if (s.gpas.enabled) a.gate = f.gate = add(layer + ".gate", {}, l);
        attention.push_back(a);
        feed_forward.push_back(f);
    }
    final_norm = add_norm(s, "final_norm", has_final_norm(s));
    if (!s.tied_head) head = add("head.weight", {s.vocab, d});
}

std::size_t ParameterTable::add(std::string name, std::vector<int> shape, int layer, int sublayer) {
    TensorInfo tensor{std::move(name), std::move(shape), size_, 1, layer, sublayer};
    for (int extent : tensor.shape) tensor.count *= static_cast<std::size_t>(extent);
    size_ += tensor.count;
    tensors_.push_back(std::move(tensor));
    return tensors_.back().offset;
}

NormOffsets ParameterTable::add_norm(const StackSpec& s, const std::string& name, bool present, int layer, int sub) {
    NormOffsets offsets;
    if (!present) return offsets;
    offsets.weight = add(name + ".weight", {s.d_model}, layer, sub);
    if (s.bias && s.norm.kind == NormKind::LayerNorm) offsets.bias = add(name + ".bias", {s.d_model}, layer, sub);
    return offsets;
}

const TensorInfo* ParameterTable::find(const std::string& name) const {
    for (const auto& tensor : tensors_)
        if (tensor.name == name) return &tensor;
    return nullptr;
}

namespace {

bool ends_with(const std::string& text, const char* end) {
    const std::string tail = end;
    return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

bool is_output_projection(const TensorInfo& t) { return ends_with(t.name, ".wo") || ends_with(t.name, ".w2"); }

}  // namespace

double initial_std(const StackSpec& s, const TensorInfo& t) {
    if (t.shape.size() < 2) return 0;
    const bool token = t.name == "tok_emb", position = t.name == "pos_emb";
    if (s.init.rule == InitRule::Lab) return token ? 1.0 : position ? 0.5 : 1.0 / std::sqrt(s.d_model);
    if (token || position) return s.init.embedding_std;
    // GPT-2: the 2N output projections are scaled down so that their sum keeps its size.
    if (s.init.rule == InitRule::Gpt2 && is_output_projection(t)) return s.init.std / std::sqrt(2.0 * s.depth);
    return s.init.std;
}

template <class T>
void initialise(const StackSpec& s, const ParameterTable& table, std::uint64_t seed, T* parameters) {
    for (const auto& tensor : table.tensors()) {
        T* at = parameters + tensor.offset;
        if (tensor.shape.size() < 2) {
            std::fill(at, at + tensor.count, ends_with(tensor.name, ".weight") ? T(1) : T(0));
            continue;
        }
        const NormalKey key(seed, tensor.name);
        const double std = initial_std(s, tensor);
        const auto columns = static_cast<std::uint32_t>(tensor.shape[1]);
        for (int row = 0; row < tensor.shape[0]; ++row)
            fill_normal_row(key, static_cast<std::uint32_t>(row), 0, columns, std, at + static_cast<std::size_t>(row) * columns);
    }
}
template void initialise<float>(const StackSpec&, const ParameterTable&, std::uint64_t, float*);
template void initialise<double>(const StackSpec&, const ParameterTable&, std::uint64_t, double*);

}  // namespace normscope
