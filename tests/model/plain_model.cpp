// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/model/plain_model.h"

#include "core/backend/row/gate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace normscope {

namespace {

using Vector = PlainModel::Vector;

Vector sum(double a, const Vector& x, double b, const Vector& y) {
    Vector z(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) z[i] = a * x[i] + b * y[i];
    return z;
}

}  // namespace

PlainModel::PlainModel(const Transformer<double>& model)
    : parameters(model.parameters().begin(), model.parameters().end()),
      spec_(model.spec()),
      table_(model.table()),
      rules_(model.rules()),
      numerics_(model.numerics) {}

Vector PlainModel::tensor(const std::string& name) const {
    const TensorInfo* t = table_.find(name);
    if (!t) return {};
    const auto begin = parameters.begin() + static_cast<std::ptrdiff_t>(t->offset);
    return Vector(begin, begin + static_cast<std::ptrdiff_t>(t->count));
}

Vector PlainModel::normed(const Vector& x, const std::string& name) const {
    const auto d = static_cast<std::size_t>(spec_.d_model);
    const Vector gain = tensor(name + ".weight"), bias = tensor(name + ".bias");
    Vector y(x.size());
    for (std::size_t row = 0; row < x.size(); row += d) {
        double mean = 0, square = 0;
        if (spec_.norm.kind == NormKind::LayerNorm)
            for (std::size_t i = 0; i < d; ++i) mean += x[row + i] / static_cast<double>(d);
        for (std::size_t i = 0; i < d; ++i) square += std::pow(x[row + i] - mean, 2) / static_cast<double>(d);
        for (std::size_t i = 0; i < d; ++i)
            y[row + i] = gain[i] * (x[row + i] - mean) / std::sqrt(square + numerics_.eps) +
                         (bias.empty() ? 0 : bias[i]);
    }
    return y;
}

Vector PlainModel::linear(const Vector& x, const std::string& weight, const std::string& bias, int out,
                          int in) const {
    const auto columns = static_cast<std::size_t>(in), width = static_cast<std::size_t>(out);
    const Vector W = tensor(weight), b = tensor(bias);
    const std::size_t rows = x.size() / columns;
    Vector y(rows * width);
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t o = 0; o < width; ++o) {
            y[r * width + o] = b.empty() ? 0 : b[o];
            for (std::size_t i = 0; i < columns; ++i)
                y[r * width + o] += W[o * columns + i] * x[r * columns + i];
        }
    return y;
}

Vector PlainModel::attention(const Vector& u, const std::string& at) const {
    const int d = spec_.d_model, dh = spec_.d_head(), n = static_cast<int>(u.size()) / d;
    const Vector q = linear(u, at + "wq", at + "bq", d, d), k = linear(u, at + "wk", at + "bk", d, d),
                 v = linear(u, at + "wv", at + "bv", d, d);
    const auto place = [&](int t, int c) { return static_cast<std::size_t>(t) * d + c; };
    Vector mixed(u.size(), 0.0);
    for (int h = 0; h < spec_.heads; ++h)
        for (int t = 0; t < n; ++t) {
            const int seen = spec_.causal ? t + 1 : n;
            Vector p(static_cast<std::size_t>(seen));
            double total = 0;
            for (int s = 0; s < seen; ++s) {
                double score = 0;
                for (int c = h * dh; c < (h + 1) * dh; ++c) score += q[place(t, c)] * k[place(s, c)];
                p[static_cast<std::size_t>(s)] = std::exp(score / (numerics_.temperature * std::sqrt(dh)));
                total += p[static_cast<std::size_t>(s)];
            }
            for (int s = 0; s < seen; ++s)
                for (int c = h * dh; c < (h + 1) * dh; ++c)
                    mixed[place(t, c)] += p[static_cast<std::size_t>(s)] / total * v[place(s, c)];
        }
    return linear(mixed, at + "wo", at + "bo", d, d);
}

Vector PlainModel::feed_forward(const Vector& u, const std::string& at) const {
    Vector h = linear(u, at + "w1", at + "b1", spec_.d_ff, spec_.d_model);
    for (double& x : h)
        x = 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    return linear(h, at + "w2", at + "b2", spec_.d_model, spec_.d_ff);
}

Vector PlainModel::gated(GateSite site, int index, const Vector& x) {
    if (!spec_.gpas.enabled || rules_[static_cast<std::size_t>(index)].gate != site) return x;
    const double g = tensor("blocks." + std::to_string(index / 2) + ".gate").front();
    const Vector* stopped = &x;
    if (holding_ && spec_.gpas.stop_gradient) {
        if (recording_) stopped_.push_back(x);
        stopped = &stopped_.at(next_++);
    }
    return sum(1, x, -gate_activation(spec_.gpas.activation, g), *stopped);
}

Vector PlainModel::branch(int index, const Vector& x) {
    const SublayerRule& rule = rules_[static_cast<std::size_t>(index)];
    const bool is_attention = index % 2 == 0;
    const std::string at = "blocks." + std::to_string(index / 2) + (is_attention ? ".attn." : ".ffn.");
    Vector u = rule.in ? normed(x, at + "norm_in") : x;
    for (double& v : u) v *= rule.s_in;
    u = gated(GateSite::Norm, index, u);
    Vector y = is_attention ? attention(u, at) : feed_forward(u, at);
    if (rule.out) y = normed(y, at + "norm_out");
    y = gated(GateSite::Branch, index, y);
    const Vector scale = tensor(at + "scale");
    for (std::size_t i = 0; i < y.size(); ++i)
        y[i] *= numerics_.residual_step * rule.b * (scale.empty() ? 1 : scale[i % scale.size()]);
    return y;
}

Vector PlainModel::leave(int index, const Vector& z) {
    const std::string at = "blocks." + std::to_string(index / 2) + (index % 2 == 0 ? ".attn." : ".ffn.");
    return gated(GateSite::Output, index,
                 rules_[static_cast<std::size_t>(index)].post ? normed(z, at + "norm_post") : z);
}

PlainModel::Pass PlainModel::run(const std::vector<int>& tokens, const std::vector<int>& targets,
                                 const Vector& shift) {
    const auto d = static_cast<std::size_t>(spec_.d_model), V = static_cast<std::size_t>(spec_.vocab);
    next_ = 0;
    const Vector embedding = tensor("tok_emb"), position = tensor("pos_emb");
    Vector x;
    for (std::size_t t = 0; t < tokens.size(); ++t)
        for (std::size_t i = 0; i < d; ++i)
            x.push_back(embedding[static_cast<std::size_t>(tokens[t]) * d + i] + position[t * d + i] +
                        (shift.empty() ? 0 : shift[t * d + i]));
    Pass pass;
    pass.hidden.push_back(x);
    for (int layer = 0; layer < spec_.depth; ++layer) {
        const int first = 2 * layer, second = first + 1;
        const auto a = [&](int index) { return rules_[static_cast<std::size_t>(index)].a; };
        if (spec_.layout == Layout::Parallel) {
            x = gated(GateSite::Input, first, x);
            const Vector between = sum(a(first), gated(GateSite::Shortcut, first, x), 1, branch(first, x));
            pass.hidden.push_back(between);
            x = leave(second, sum(1, between, 1, branch(second, x)));
            pass.hidden.push_back(x);
            continue;
        }
        for (int index : {first, second}) {
            x = gated(GateSite::Input, index, x);
            const Vector shortcut = gated(GateSite::Shortcut, index, x);
            x = leave(index, sum(a(index), shortcut, 1, branch(index, x)));
            pass.hidden.push_back(x);
        }
    }
    if (has_final_norm(spec_)) x = normed(x, "final_norm");
    const Vector logits =
        linear(x, spec_.tied_head ? "tok_emb" : "head.weight", "", spec_.vocab, spec_.d_model);
    for (std::size_t t = 0; t < targets.size(); ++t) {
        double total = 0;
        for (std::size_t v = 0; v < V; ++v) total += std::exp(logits[t * V + v]);
        pass.loss += (std::log(total) - logits[t * V + static_cast<std::size_t>(targets[t])]) /
                     static_cast<double>(targets.size());
    }
    return pass;
}

void PlainModel::hold_stopped(const std::vector<int>& tokens, const std::vector<int>& targets) {
    holding_ = recording_ = true;
    stopped_.clear();
    run(tokens, targets);
    recording_ = false;
}

Vector PlainModel::feed_forward_alone(int layer, const Vector& x, const Vector& held_at) {
    const int attention = 2 * layer, index = attention + 1;
    const Vector held = branch(attention, gated(GateSite::Input, attention, held_at));
    const Vector read = gated(GateSite::Input, index, x);
    const Vector stream =
        sum(rules_[static_cast<std::size_t>(index)].a, gated(GateSite::Shortcut, index, read), 1, held);
    return leave(index, sum(1, stream, 1, branch(index, read)));
}

}  // namespace normscope
