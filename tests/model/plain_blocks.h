// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"

#include <cmath>

namespace normscope {

/// A Pre-LN stack as its definition reads: one number at a time, no fused matrices, no kernels; parameters by
/// name.
class PlainBlocks {
  public:
    using Row = std::vector<double>;
    using Rows = std::vector<Row>;
    struct States {
        Rows hidden;  ///< 2D+1 of [n·d]
        Row logits;   ///< [n·V]
    };

    explicit PlainBlocks(const Transformer<double>& model) : model_(model), s_(model.spec()) {}

    States run(const Batch& batch, int sequence) const {
        States states;
        Rows x;
        for (int t = 0; t < batch.length; ++t) {
            const int token = batch.tokens[static_cast<std::size_t>(sequence * batch.length + t)];
            Row row;
            for (int i = 0; i < s_.d_model; ++i)
                row.push_back(at("tok_emb", token, i) +
                              (s_.position == Position::Learned ? at("pos_emb", t, i) : 0));
            for (double& v : row) v *= s_.embedding_scale;
            x.push_back(s_.embedding_norm ? norm(row, "emb_norm") : row);
        }
        states.hidden.push_back(joined(x));
        Rows before;  // of a layer
        for (int k = 0; k < 2 * s_.depth; ++k) {
            const std::string layer = "blocks." + std::to_string(k / 2) + ".",
                              prefix = layer + (k % 2 ? "ffn." : "attn.");
            if (k % 2 == 0) before = x;
            Rows u;
            for (const Row& row : s_.layout == Layout::Parallel ? before : x)
                u.push_back(norm(row, (s_.shared_norm ? layer + "attn." : prefix) + "norm_in"));
            const Rows f = k % 2 ? feed_forward(u, prefix) : attention(u, prefix);
            for (std::size_t t = 0; t < x.size(); ++t)
                for (std::size_t i = 0; i < x[t].size(); ++i) x[t][i] += s_.residual_step * f[t][i];
            states.hidden.push_back(joined(x));
        }
        for (const Row& row : x) {
            Row logits = product(norm(row, "final_norm"), s_.tied_head ? "tok_emb" : "head.weight");
            for (std::size_t v = 0; s_.head_bias && v < logits.size(); ++v)
                logits[v] += at("head.bias", static_cast<int>(v));
            states.logits.insert(states.logits.end(), logits.begin(), logits.end());
        }
        return states;
    }

  private:
    double at(const std::string& name, int row, int column = 0) const {
        const TensorInfo* t = model_.table().find(name);
        if (!t) throw std::runtime_error(name + " is missing");
        const int columns = t->shape.size() == 2 ? t->shape[1] : 1;
        return model_.parameters()[t->offset + static_cast<std::size_t>(row * columns + column)];
    }
    int head_width() const { return s_.head_width > 0 ? s_.head_width : s_.d_model / s_.heads; }
    bool has(const std::string& name) const { return model_.table().find(name); }

    static Row joined(const Rows& rows) {
        Row all;
        for (const Row& row : rows) all.insert(all.end(), row.begin(), row.end());
        return all;
    }

    Row product(const Row& x, const std::string& matrix, const std::string& bias = {}) const {
        Row y;
        for (int o = 0; o < model_.table().find(matrix)->shape[0]; ++o) {
            double sum = has(bias) ? at(bias, o) : 0;
            for (std::size_t i = 0; i < x.size(); ++i) sum += at(matrix, o, static_cast<int>(i)) * x[i];
            y.push_back(sum);
        }
        return y;
    }

    Row norm(const Row& x, const std::string& name) const {
        double mean = 0, square = 0;
        if (s_.norm.kind == NormKind::LayerNorm)
            for (double v : x) mean += v / static_cast<double>(x.size());
        for (double v : x) square += (v - mean) * (v - mean) / static_cast<double>(x.size());
        Row y;
        for (std::size_t i = 0; i < x.size(); ++i) {
            y.push_back((x[i] - mean) / std::sqrt(square + s_.norm.eps) *
                        at(name + ".weight", static_cast<int>(i)));
            if (has(name + ".bias")) y.back() += at(name + ".bias", static_cast<int>(i));
        }
        return y;
    }

    double activation(double h) const {
        switch (s_.activation) {
            case Activation::GeluTanh:
            case Activation::GeGlu:
                return h / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (h + 0.044715 * h * h * h)));
            case Activation::GeluErf:
                return h / 2 * (1 + std::erf(h / std::sqrt(2)));
            case Activation::Relu:
                return std::max(h, 0.0);
            default:
                return h / (1 + std::exp(-h));
        }
    }

    Rows feed_forward(const Rows& u, const std::string& at) const {
        Rows f;
        for (const Row& row : u) {
            const bool gated = s_.activation == Activation::SwiGlu || s_.activation == Activation::GeGlu;
            Row inner =
                gated ? product(row, at + "w_gate", at + "b_gate") : product(row, at + "w1", at + "b1");
            for (double& h : inner) h = activation(h);
            if (gated) {
                const Row up = product(row, at + "w_up", at + "b_up");
                for (std::size_t i = 0; i < inner.size(); ++i) inner[i] *= up[i];
            }
            f.push_back(gated ? product(inner, at + "w_down", at + "b_down")
                              : product(inner, at + "w2", at + "b2"));
        }
        return f;
    }

    /// The heads of a projected token: split, normalised and rotated as in the stack. `which` is "q", "k" or
    /// "v".
    Rows heads(const Row& u, int position, const std::string& prefix, const std::string& which,
               int count) const {
        Row all = product(u, prefix + "w" + which, prefix + "b" + which);
        if (which != "v" && s_.qk_norm == QkNorm::Full) all = norm(all, prefix + which + "_norm");
        Rows cut;
        const int width = head_width();
        // Of layer l from 1: the global base where l is a multiple.
        const int layer = std::stoi(prefix.substr(7)) + 1;
        const double base = layer % s_.rope_global_every == 0 ? s_.rope_base : s_.rope_local_base;
        for (int h = 0; h < count; ++h) {
            Row head(all.begin() + h * width, all.begin() + (h + 1) * width);
            if (which != "v" && s_.qk_norm == QkNorm::Head) head = norm(head, prefix + which + "_norm");
            if (which != "v" && s_.position == Position::Rope) {
                const Row before = head;
                for (int i = 0; i < width / 2; ++i) {
                    const double angle = position * std::pow(base, -2.0 * i / width);
                    const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(i + width / 2);
                    head[a] = before[a] * std::cos(angle) - before[b] * std::sin(angle);
                    head[b] = before[b] * std::cos(angle) + before[a] * std::sin(angle);
                }
            }
            cut.push_back(head);
        }
        return cut;
    }

    Rows attention(const Rows& u, const std::string& prefix) const {
        const int n = static_cast<int>(u.size()), width = head_width();
        std::vector<Rows> q, k, v;
        for (int t = 0; t < n; ++t) {
            const Row& row = u[static_cast<std::size_t>(t)];
            q.push_back(heads(row, t, prefix, "q", s_.heads));
            k.push_back(heads(row, t, prefix, "k", s_.kv_heads));
            v.push_back(heads(row, t, prefix, "v", s_.kv_heads));
        }
        Rows f;
        for (std::size_t t = 0; t < u.size(); ++t) {
            Row mixed;
            for (int h = 0; h < s_.heads; ++h) {
                const auto head = static_cast<std::size_t>(h),
                           shared = static_cast<std::size_t>(h * s_.kv_heads / s_.heads);
                const std::size_t seen = s_.causal ? t + 1 : u.size();
                Row weight;
                double total = 0;
                // Of layer l from 1: local ones have the window.
                const int layer = std::stoi(prefix.substr(7)) + 1;
                const std::size_t first = s_.window > 0 && layer % s_.rope_global_every != 0 &&
                                                  t + 1 > static_cast<std::size_t>(s_.window)
                                              ? t + 1 - static_cast<std::size_t>(s_.window)
                                              : 0;
                for (std::size_t j = 0; j < seen; ++j) {
                    if (j < first) {
                        weight.push_back(0);
                        continue;
                    }
                    double score = 0;
                    for (std::size_t i = 0; i < q[t][head].size(); ++i)
                        score += q[t][head][i] * k[j][shared][i];
                    score /= s_.temperature * std::sqrt(width);
                    if (const double c = s_.attention_soft_cap; c > 0) score = c * std::tanh(score / c);
                    weight.push_back(std::exp(score));
                    total += weight.back();
                }
                for (std::size_t i = 0; i < q[t][head].size(); ++i) {
                    double sum = 0;
                    for (std::size_t j = 0; j < seen; ++j) sum += weight[j] / total * v[j][shared][i];
                    mixed.push_back(sum);
                }
            }
            f.push_back(product(mixed, prefix + "wo", prefix + "bo"));
        }
        return f;
    }

    const Transformer<double>& model_;
    const StackSpec& s_;
};

}  // namespace normscope
