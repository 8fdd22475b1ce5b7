// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/probe/bounds/layer_bounds.h"

#include "core/backend/row/gate.h"
#include "core/base/nan.h"
#include "core/model/sublayer_factors.h"
#include "core/probe/bounds/branch_bound.h"
#include "core/probe/bounds/matrix_norms.h"
#include "core/theory/softmax_sensitivity.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace normscope {

template <class T>
std::vector<double> largest_thetas(const Transformer<T>& model, const Tape<T>& tape, int layer) {
    const StackSpec& s = model.spec();
    const auto H = static_cast<std::size_t>(s.heads), n = static_cast<std::size_t>(tape.length),
               B = static_cast<std::size_t>(tape.sequences);
    const SensitivityOptions options =
        std::is_same_v<T, float> ? SensitivityOptions::single_precision() : SensitivityOptions{};
    const double enough = 1 - options.tolerance;
    SoftmaxSensitivity solver(options);
    std::vector<double> largest(H, 0.0);
    for (std::size_t h = 0; h < H; ++h) {
        double& most = largest[h];
        for (std::size_t row = n; row-- > 0 && most < enough;)
            for (std::size_t b = 0; b < B && most < enough; ++b) {
                const std::size_t length = s.causal ? row + 1 : n;
                const HostView<T> p =
                    tape.view(tape.sublayers[2 * static_cast<std::size_t>(layer)].probabilities +
                                  ((b * H + h) * n + row) * n,
                              length);
                if (!std::all_of(p.begin(), p.end(), [](T v) { return std::isfinite(v); })) {
                    most = kNaN;
                    break;
                }
                most = std::max(most, std::min(1.0, solver.solve({p.data(), length}).upper));
            }
        if (most >= enough) most = 1;
    }
    return largest;
}

namespace {

/// max_i ‖x_i‖₂ over rows of `width` entries that are `stride` apart; NaN where one is not finite.
template <class T>
double longest_row(const Tape<T>& tape, const T* x, std::size_t rows, std::size_t width, std::size_t stride) {
    const HostView<T> values = tape.view(x, (rows - 1) * stride + width);
    double largest = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        double squares = 0;
        for (std::size_t c = i * stride; c < i * stride + width; ++c)
            squares += static_cast<double>(values[c]) * static_cast<double>(values[c]);
        if (!(squares <= largest)) largest = squares;
    }
    return std::isfinite(largest) ? std::sqrt(largest) : kNaN;
}

template <class T>
double largest_value(const Tape<T>& tape, const T* x, std::size_t count) {
    double largest = 0;
    for (const T v : tape.view(x, count))
        if (const auto value = static_cast<double>(v); !(value <= largest)) largest = value;
    return largest;
}

/// Norms of the parts of one layer's weights.
template <class T>
class Weights {
  public:
    Weights(const Transformer<T>& model, const std::function<void()>& check)
        : parameters_(model.host_parameters()), check_(check) {}

    double norm(std::size_t offset, int rows, int columns) const {
        return matrix_norms(rows, columns, parameters_.data() + offset, columns, check_).upper();
    }
    /// ‖b‖₂; 0 for an absent tensor.
    double length(std::size_t offset, std::size_t first, int count) const {
        if (offset == kAbsent) return 0;
        double squares = 0;
        for (int i = 0; i < count; ++i) {
            const auto b = static_cast<double>(parameters_[offset + first + static_cast<std::size_t>(i)]);
            squares += b * b;
        }
        return std::sqrt(squares);
    }

  private:
    HostView<T> parameters_;
    const std::function<void()>& check_;
};

/// The heads of a layer and the projections' norms.
struct AttentionNorms {
    std::vector<HeadLipschitz> heads, paper;  ///< `paper` without biases
    double output = 0, projection = 0;        ///< ‖W^O‖₂, G_ℓ
};

template <class T>
AttentionNorms attention_norms(const Transformer<T>& model, const Tape<T>& tape, std::size_t layer,
                               const std::vector<double>& theta, double token_norm,
                               const Weights<T>& weights) {
    const StackSpec& s = model.spec();
    const AttentionOffsets& at = model.table().attention[layer];
    const SublayerTape<T>& t = tape.sublayers[2 * layer];
    const int d = s.d_model, dh = s.d_head(), group = s.heads / s.kv_heads;
    const auto width = static_cast<std::size_t>(d), queries = static_cast<std::size_t>(s.d_q()),
               kv = static_cast<std::size_t>(s.d_kv()), rows = static_cast<std::size_t>(tape.rows()),
               head_width = static_cast<std::size_t>(dh);
    const double query = weights.norm(at.wqkv, s.d_q(), d),
                 key = weights.norm(at.wqkv + queries * width, s.d_kv(), d),
                 value = weights.norm(at.wqkv + (queries + kv) * width, s.d_kv(), d);
    AttentionNorms norms;
    norms.output = weights.norm(at.wo, d, s.d_q());
    norms.projection = norms.output * query * key * value;

    // Norms on q and k: their sizes are read from the tape, which holds them as the scores read them.
    const auto qk_gain = [&](const NormOffsets& norm, const NormStatistics<T>& statistics,
                             std::size_t heads) {
        const bool by_head = s.qk_norm == QkNorm::Head;
        const std::size_t gains = by_head ? head_width : heads * head_width;
        return norm_lipschitz(largest_magnitude(model, norm.weight, gains),
                              largest_value(tape, statistics.rstd, rows * (by_head ? heads : 1)));
    };
    const bool normed = s.qk_norm != QkNorm::Off;
    const double of_query = normed ? qk_gain(at.q_norm, t.q_norm, static_cast<std::size_t>(s.heads)) : 1,
                 of_key = normed ? qk_gain(at.k_norm, t.k_norm, static_cast<std::size_t>(s.kv_heads)) : 1;
    for (int h = 0; h < s.heads; ++h) {
        const auto first_query = static_cast<std::size_t>(h * dh),
                   shared = static_cast<std::size_t>(h / group * dh);
        HeadLipschitz head;
        head.theta = theta[static_cast<std::size_t>(h)];
        head.query_slope = weights.norm(at.wqkv + first_query * width, dh, d);
        head.key_slope = weights.norm(at.wqkv + (queries + shared) * width, dh, d);
        head.value = weights.norm(at.wqkv + (queries + kv + shared) * width, dh, d);
        head.query_size = head.query_slope * token_norm;
        head.key_size = head.key_slope * token_norm;
        norms.paper.push_back(head);
        head.query_size += weights.length(at.bqkv, first_query, dh);
        // Rotated by positions, a bias of the keys no longer adds the same to all scores of a row.
        if (s.position == Position::Rope) head.key_size += weights.length(at.bqkv, queries + shared, dh);
        if (normed) {
            const std::size_t stride = queries + 2 * kv;
            head.query_size = longest_row(tape, t.qkv + first_query, rows, head_width, stride);
            head.key_size = longest_row(tape, t.qkv + queries + shared, rows, head_width, stride);
            const bool full = s.qk_norm == QkNorm::Full;  // one norm over all heads
            head.query_slope = of_query * (full ? query : head.query_slope);
            head.key_slope = of_key * (full ? key : head.key_slope);
        }
        norms.heads.push_back(head);
    }
    return norms;
}

/// GELU in its tanh form (row/activation.h).
double gelu_tanh(double x) {
    return x * gate::logistic(2 * std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x));
}

/// The largest |up| and |φ(gate)| of a gated activation over the tokens.
template <class T>
std::pair<double, double> gated_sizes(const Tape<T>& tape, Activation activation, const T* pre, int ff) {
    const auto width = static_cast<std::size_t>(ff), rows = static_cast<std::size_t>(tape.rows());
    const HostView<T> values = tape.view(pre, rows * 2 * width);
    double up = 0, gated = 0;
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < width; ++c) {
            const double g = static_cast<double>(values[2 * r * width + c]),
                         p = std::abs(static_cast<double>(values[(2 * r + 1) * width + c]));
            const double opened =
                std::abs(activation == Activation::SwiGlu ? g * gate::logistic(g) : gelu_tanh(g));
            if (!(p <= up)) up = p;
            if (!(opened <= gated)) gated = opened;
        }
    return {up, gated};
}

template <class T>
double feed_forward_bound(const Transformer<T>& model, const Tape<T>& tape, std::size_t layer,
                          const Weights<T>& weights) {
    const StackSpec& s = model.spec();
    const FeedForwardOffsets& at = model.table().feed_forward[layer];
    const int d = s.d_model, ff = s.d_ff;
    const double first = weights.norm(at.w1, ff, d), second = weights.norm(at.w2, d, ff);
    if (!is_gated(s.activation)) return feed_forward_lipschitz(first, second, s.activation);
    const auto [up, gated] = gated_sizes(tape, s.activation, tape.sublayers[2 * layer + 1].pre, ff);
    const std::size_t up_weight = at.w1 + static_cast<std::size_t>(ff) * static_cast<std::size_t>(d);
    return gated_lipschitz(s.activation, first, weights.norm(up_weight, ff, d), second, up, gated);
}

template <class T>
double norm_gain(const Transformer<T>& model, const Tape<T>& tape, const NormOffsets& norm,
                 const NormStatistics<T>& statistics, std::optional<double> eps) {
    const double gamma =
        largest_magnitude(model, norm.weight, static_cast<std::size_t>(model.spec().d_model));
    return norm_lipschitz(gamma,
                          eps ? 1 / std::sqrt(*eps)
                              : largest_value(tape, statistics.rstd, static_cast<std::size_t>(tape.rows())));
}

/// The one form around f, whose Lipschitz constant is `inner`.
template <class T>
SublayerLipschitz one_form(const Transformer<T>& model, const Tape<T>& tape, int index, double inner,
                           bool with_eps) {
    const StackSpec& s = model.spec();
    const SublayerRule& rule = model.rules()[static_cast<std::size_t>(index)];
    const SublayerOffsets& at = offsets(model.table(), index);
    const SublayerTape<T>& t = tape.sublayers[static_cast<std::size_t>(index)];
    SublayerLipschitz form;
    form.shortcut = std::abs(rule.a);
    form.branch = model.numerics.residual_step * std::abs(rule.b) * std::abs(rule.s_in) * inner;
    if (s.branch_scale != BranchScale::None)
        form.branch *= largest_magnitude(
            model, at.scale, s.branch_scale == BranchScale::Scalar ? 1 : static_cast<std::size_t>(s.d_model));
    using Place = NormSite::Place;
    const auto eps = [&](Place place) {
        return with_eps ? std::optional(norm_eps(model, place, index)) : std::nullopt;
    };
    if (rule.in) form.branch *= norm_gain(model, tape, at.norm_in, t.in, eps(Place::In));
    if (rule.out) form.branch *= norm_gain(model, tape, at.norm_out, t.out, eps(Place::Out));
    if (rule.post) form.post = norm_gain(model, tape, at.norm_post, t.post, eps(Place::Post));
    if (!s.gpas.enabled) return form;
    const double passed = std::abs(
        1 - gate_activation(s.gpas.activation, static_cast<double>(model.host_parameters(at.gate, 1)[0])));
    const SublayerGate gate(s, rule, index);
    const auto scaled = [&](GateSite site) { return gate.at(site) ? passed : 1.0; };
    form.gate = scaled(GateSite::Output);
    form.shortcut *= scaled(GateSite::Shortcut) * scaled(GateSite::Input);
    form.branch *= scaled(GateSite::Input) * scaled(GateSite::Norm) * scaled(GateSite::Branch);
    return form;
}

/// A layer of two sub-layers in a row, or of two branches of one sum.
double joined(const SublayerLipschitz (&sublayer)[2], Layout layout) {
    if (layout == Layout::Serial) return sublayer[0].total() * sublayer[1].total();
    SublayerLipschitz both = sublayer[1];
    both.shortcut = sublayer[0].shortcut;
    both.branch += sublayer[0].branch;
    return both.total();
}

template <class T>
void add_attention(LayerBounds& bounds, const Transformer<T>& model, const Tape<T>& tape, int layer,
                   const Weights<T>& weights) {
    const StackSpec& s = model.spec();
    const auto l = static_cast<std::size_t>(layer), rows = static_cast<std::size_t>(tape.rows()),
               d = static_cast<std::size_t>(s.d_model);
    const SublayerTape<T>& t = tape.sublayers[2 * l];
    const double read = longest_row(tape, t.u ? t.u : t.x, rows, d, d),
                 stream = longest_row<T>(tape, tape.hidden[2 * l], rows, d, d);
    const double tau = model.numerics.temperature;
    const std::vector<double> theta = largest_thetas(model, tape, layer);
    const AttentionNorms norms = attention_norms(model, tape, l, theta, read, weights);
    bounds.attention = attention_lipschitz(norms.output, norms.heads, read, tau, s.d_head());
    bounds.attention_paper =
        s.qk_norm == QkNorm::Off
            ? attention_lipschitz(norms.output, norms.paper, read, tau, s.d_head()).total()
            : kNaN;
    double highest = 0;
    for (const double value : theta)
        if (!(value <= highest)) highest = value;
    bounds.input = {highest / tau, read, norms.projection};
    bounds.stream = {highest / tau, stream, norms.projection};
}

}  // namespace

template <class T>
LayerBounds layer_bounds(const Transformer<T>& model, const Tape<T>& tape, int layer, LayerParts parts,
                         const std::function<void()>& check) {
    const StackSpec& s = model.spec();
    const auto l = static_cast<std::size_t>(layer);
    const Weights<T> weights(model, check);
    LayerBounds bounds;
    if (parts.attention) add_attention(bounds, model, tape, layer, weights);
    if (parts.feed_forward) bounds.feed_forward = feed_forward_bound(model, tape, l, weights);
    for (int half = 0; half < 2; ++half) {
        if (!(half == 0 ? parts.attention : parts.feed_forward)) continue;
        const double inner = half == 0 ? bounds.attention.total() : bounds.feed_forward;
        bounds.sublayer[half] = one_form(model, tape, 2 * layer + half, inner, false);
        bounds.sublayer_eps[half] = one_form(model, tape, 2 * layer + half, inner, true);
    }
    const bool both = parts.attention && parts.feed_forward;
    bounds.layer = both ? joined(bounds.sublayer, s.layout) : kNaN;
    bounds.layer_eps = both ? joined(bounds.sublayer_eps, s.layout) : kNaN;
    return bounds;
}

template <class T>
double site_gain(const Transformer<T>& model, const Tape<T>& tape, const NormSite& site, bool with_eps) {
    return norm_gain(model, tape, site.offsets, norm_site_input(site, tape).statistics,
                     with_eps ? std::optional(norm_eps(model, site)) : std::nullopt);
}

#define NORMSCOPE_INSTANTIATE(T)                                                              \
    template LayerBounds layer_bounds(const Transformer<T>&, const Tape<T>&, int, LayerParts, \
                                      const std::function<void()>&);                          \
    template std::vector<double> largest_thetas(const Transformer<T>&, const Tape<T>&, int);  \
    template double site_gain(const Transformer<T>&, const Tape<T>&, const NormSite&, bool);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
