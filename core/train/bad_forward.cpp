// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/bad_forward.h"

#include "core/backend/shared/number_format.h"
#include "core/model/residual_sum.h"
#include "core/model/sublayer_factors.h"
#include "core/train/bad_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>

namespace normscope {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Whether an operation is a product: autocast rounds those alone.
enum class Rounded { Product, Other };

template <class T>
class ForwardWalk {
  public:
    ForwardWalk(const Transformer<T>& model, const Tape<T>& tape)
        : model_(model), tape_(tape), search_(model.device()), spec_(model.spec()) {}

    std::optional<BadPlace> first() {
        const std::size_t R = rows(), d = width();
        look(-1, "embedding", tape_.embedded, R * d, spec_.d_model, Rounded::Other,
             [&](auto row, auto column) { return embedding_value(row, column); });
        if (model_.table().embedding_norm.present())
            norm(-1, "emb_norm", tape_.hidden.front(), model_.table().embedding_norm, tape_.embedded,
                 tape_.embedding_statistics);
        for (int k = 0; k < static_cast<int>(tape_.sublayers.size()) && !found_; ++k) sublayer(k);
        if (model_.table().final_norm.present())
            norm(-1, "final_norm", tape_.final_hidden, model_.table().final_norm, tape_.hidden.back(),
                 tape_.final_statistics);
        linear(-1, "head", tape_.logits, spec_.vocab, tape_.final_hidden, spec_.d_model, model_.table().head,
               model_.table().head_bias);
        look(-1, "loss", tape_.losses, R, 1, Rounded::Other, {});
        return found_;
    }

  private:
    using Value = std::function<double(std::int64_t row, int column)>;

    std::size_t rows() const { return static_cast<std::size_t>(tape_.rows()); }
    std::size_t width() const { return static_cast<std::size_t>(spec_.d_model); }
    HostView<T> part(const T* values, std::int64_t row, int columns) const {
        return {model_.device(), values + row * columns, static_cast<std::size_t>(columns)};
    }
    double parameter(std::size_t offset, int i, double absent) const {
        if (offset == kAbsent) return absent;
        return static_cast<double>(model_.host_parameters(offset + static_cast<std::size_t>(i), 1)[0]);
    }

    double limit(Rounded of) const {
        const bool rounded = model_.policy() == PrecisionPolicy::Pure || of == Rounded::Product;
        if (rounded && model_.rounding() == Rounding::Fp16) return kFp16Numbers.largest;
        if (rounded && model_.rounding() == Rounding::Bf16) return kBf16Numbers.largest;
        return static_cast<double>(std::numeric_limits<T>::max());
    }

    void put(int layer, std::string operation, std::int64_t row, double result, double value, Rounded of,
             std::string detail = {}) {
        BadPlace place;
        place.layer = layer;
        place.operation = std::move(operation);
        place.row = row;
        place.detail = std::move(detail);
        place.result = result_word(result);
        // What did not exceed the limit by itself failed in between; no number explains that.
        if (std::isfinite(value) && std::abs(value) > limit(of)) {
            place.value = value;
            place.limit = limit(of);
        }
        found_ = std::move(place);
    }

    void look(int layer, const char* operation, const T* values, std::size_t count, int columns, Rounded of,
              const Value& value) {
        if (found_ || !values) return;
        const auto bad = search_.first(values, count);
        if (!bad) return;
        const std::int64_t row = bad->at / columns;
        const int column = static_cast<int>(bad->at % columns);
        put(layer, operation, row, bad->value, value ? value(row, column) : kNaN, of);
    }

    double linear_value(const T* input, int in, std::size_t weight, std::size_t bias, std::int64_t row,
                        int column) const {
        const HostView<T> x = part(input, row, in);
        const HostView<T> w =
            model_.host_parameters(weight + static_cast<std::size_t>(column) * static_cast<std::size_t>(in),
                                   static_cast<std::size_t>(in));
        double sum = parameter(bias, column, 0);
        for (std::size_t i = 0; i < x.size(); ++i)
            sum += static_cast<double>(x[i]) * static_cast<double>(w[i]);
        return sum;
    }

    void linear(int layer, const char* operation, const T* values, int out, const T* input, int in,
                std::size_t weight, std::size_t bias) {
        look(
            layer, operation, values, rows() * static_cast<std::size_t>(out), out, Rounded::Product,
            [&](std::int64_t row, int column) { return linear_value(input, in, weight, bias, row, column); });
    }

    /// A norm that failed with a finite input: its 1/σ is infinite (0·∞), or γ or s_in made it overflow.
    void norm(int layer, const char* operation, const T* values, const NormOffsets& at, const T* x,
              NormStatistics<T> statistics) {
        look(layer, operation, values, rows() * width(), spec_.d_model, Rounded::Other,
             [&](std::int64_t row, int column) {
                 const auto input =
                     static_cast<double>(part(x, row, spec_.d_model)[static_cast<std::size_t>(column)]);
                 const auto of_row = statistics.from(static_cast<std::size_t>(row));
                 const auto mean = static_cast<double>(HostView<T>(model_.device(), of_row.mean, 1)[0]);
                 rstd_ = static_cast<double>(HostView<T>(model_.device(), of_row.rstd, 1)[0]);
                 return (input - mean) * rstd_ * parameter(at.weight, column, 1) +
                        parameter(at.bias, column, 0);
             });
        if (found_ && found_->operation == operation && std::isinf(rstd_)) found_->detail = "1/sigma = inf";
    }

    double embedding_value(std::int64_t row, int column) const {
        const HostView<std::int32_t> token(model_.device(), tape_.batch.tokens.data() + row, 1);
        const std::size_t of_token = static_cast<std::size_t>(token[0]) * width(),
                          of_place = static_cast<std::size_t>(row % tape_.length) * width();
        const auto& table = model_.table();
        double value = parameter(table.tok_emb + of_token, column, 0) +
                       (table.pos_emb == kAbsent ? 0 : parameter(table.pos_emb + of_place, column, 0));
        if (table.patch_emb == kAbsent) return value * spec_.embedding_scale;
        const auto pixels = static_cast<std::size_t>(spec_.image.patch_width());
        const HostView<T> patch(model_.device(),
                                tape_.batch.patches.data() + static_cast<std::size_t>(row) * pixels, pixels);
        const HostView<T> weights =
            model_.host_parameters(table.patch_emb + static_cast<std::size_t>(column) * pixels, pixels);
        for (std::size_t i = 0; i < pixels; ++i)
            value += static_cast<double>(patch[i]) * static_cast<double>(weights[i]);
        return value * spec_.embedding_scale;
    }

    void sublayer(int k) {
        const SublayerTape<T>& t = tape_.sublayers[static_cast<std::size_t>(k)];
        const SublayerRule& rule = model_.rules()[static_cast<std::size_t>(k)];
        const SublayerOffsets& at = offsets(model_.table(), k);
        const int layer = k / 2;
        const bool attends = k % 2 == 0;
        const auto name = [&](const char* in_attention, const char* in_ffn) {
            return attends ? in_attention : in_ffn;
        };
        if (rule.in)
            norm(layer, name("attn.norm_in", "ffn.norm_in"), t.u, at.norm_in, t.x, t.in);
        else
            look(layer, name("attn.input", "ffn.input"), t.u, rows() * width(), spec_.d_model, Rounded::Other,
                 {});
        const T* u = t.u ? t.u : t.x;
        if (attends)
            attention(layer, u, t);
        else
            feed_forward(layer, u, t);
        if (rule.out && t.y) norm(layer, name("attn.norm_out", "ffn.norm_out"), t.y, at.norm_out, t.f, t.out);

        // Without a norm or a gate after it, the sum is the next hidden state.
        const SublayerGate gate(spec_, rule, k);
        const bool gated = gate.at(GateSite::Output);
        const T* next = tape_.hidden[static_cast<std::size_t>(k) + 1];
        const T* before_gate = gated ? t.ungated : next;
        residual_add(k, rule.post ? t.z : before_gate);
        if (rule.post)
            norm(layer, name("attn.norm_post", "ffn.norm_post"), before_gate, at.norm_post, t.z, t.post);
        if (gated)
            look(layer, name("attn.gate", "ffn.gate"), next, rows() * width(), spec_.d_model, Rounded::Other,
                 {});
    }

    void residual_add(int k, const T* sum) {
        if (found_) return;
        const auto bad = search_.first(sum, rows() * width());
        if (!bad) return;
        const SublayerRule& rule = model_.rules()[static_cast<std::size_t>(k)];
        const SublayerTape<T>& t = tape_.sublayers[static_cast<std::size_t>(k)];
        const std::int64_t row = bad->at / spec_.d_model;
        const auto column = static_cast<std::size_t>(bad->at % spec_.d_model);
        Buffer<T> branch(model_.device(), width());
        branch_rows(model_, tape_, k, static_cast<int>(row), 1, branch.data());
        const auto added = static_cast<double>(HostView<T>(branch)[column]);
        const std::string part_of = k % 2 == 0 ? "attn." : "ffn.";
        if (!std::isfinite(added)) {
            // An output norm whose result the pass did not keep, or the learned scale of the branch.
            put(k / 2, part_of + (rule.out && !t.y ? "norm_out" : "branch"), row, added, kNaN,
                Rounded::Other);
            return;
        }
        const SublayerGate gate(spec_, rule, k);
        const bool second = second_of_parallel(spec_, k);
        const T* stream =
            gate.at(GateSite::Input) && !second ? t.x : tape_.hidden[static_cast<std::size_t>(k)];
        const HostView<SublayerCoefficients<T>> c(model_.device(), tape_.coefficients.sublayers.data() + k,
                                                  1);
        const double value = static_cast<double>(c[0].shortcut) *
                                 static_cast<double>(part(stream, row, spec_.d_model)[column]) +
                             added;
        put(k / 2, part_of + "residual_add", row, bad->value, value, Rounded::Other);
    }

    void attention(int layer, const T* u, const SublayerTape<T>& t) {
        const auto& at = model_.table().attention[static_cast<std::size_t>(layer)];
        const int d = spec_.d_model, d_q = spec_.d_q(), both = d_q + spec_.d_kv(), all = both + spec_.d_kv();
        if (t.qk) linear(layer, "attn.qkv", t.qk, both, u, d, at.wqkv, at.bqkv);
        if (found_) return;
        if (const auto bad = search_.first(t.qkv, rows() * static_cast<std::size_t>(all))) {
            const std::int64_t row = bad->at / all;
            const int column = static_cast<int>(bad->at % all);
            double value = kNaN;
            const char* operation = "attn.qkv";
            if (t.qk && column < both)
                operation = "attn.qk_norm";
            else if (column >= both || !rotates())
                value = linear_value(u, d, at.wqkv, at.bqkv, row, column);
            else if (value = largest_of_head(u, at, row, column);
                     !(std::abs(value) > limit(Rounded::Product)))
                operation = "attn.rope";
            put(layer, operation, row, bad->value, value, Rounded::Product);
            return;
        }
        softmax(layer, t);
        look(layer, "attn.mixed", t.mixed, rows() * static_cast<std::size_t>(d_q), d_q, Rounded::Product, {});
        linear(layer, "attn.wo", t.f, d, t.mixed, d_q, at.wo, at.bo);
    }

    bool rotates() const { return spec_.position == Position::Rope; }

    /// Rotation mixes the entries of a head: the projection of largest magnitude among them.
    double largest_of_head(const T* u, const AttentionOffsets& at, std::int64_t row, int column) const {
        const int dh = spec_.d_head(), first = column / dh * dh;
        double largest = 0;
        for (int i = first; i < first + dh; ++i) {
            const double value = linear_value(u, spec_.d_model, at.wqkv, at.bqkv, row, i);
            if (!(std::abs(value) <= std::abs(largest))) largest = value;
        }
        return largest;
    }

    void softmax(int layer, const SublayerTape<T>& t) {
        if (found_) return;
        const auto n = static_cast<std::size_t>(tape_.length);
        const std::size_t H = static_cast<std::size_t>(spec_.heads), columns = t.probabilities ? n : 2;
        const T* values = t.probabilities ? t.probabilities : t.row_softmax;
        const auto bad = search_.first(values, rows() * H * columns);
        if (!bad) return;
        const std::size_t map_row = static_cast<std::size_t>(bad->at) / columns;
        const std::size_t token = map_row % n, head = map_row / n % H, sequence = map_row / n / H;
        const auto row = static_cast<std::int64_t>(sequence * n + token);
        const std::string of_head = "head " + std::to_string(head + 1);

        const int d_q = spec_.d_q(), all = d_q + 2 * spec_.d_kv();
        const auto dh = static_cast<std::size_t>(spec_.d_head());
        const std::size_t kv_head = head * static_cast<std::size_t>(spec_.kv_heads) / H;
        const HostView<T> q = part(t.qkv, row, all);
        double largest = 0;
        std::size_t key = 0;
        for (auto j = static_cast<std::size_t>(spec_.first_key(layer, static_cast<int>(token)));
             j < (spec_.causal ? token + 1 : n); ++j) {
            const HostView<T> other = part(t.qkv, static_cast<std::int64_t>(sequence * n + j), all);
            const T* k = other.data() + d_q + kv_head * dh;
            double dot = 0;
            for (std::size_t i = 0; i < dh; ++i)
                dot += static_cast<double>(q[head * dh + i]) * static_cast<double>(k[i]);
            if (std::abs(dot) > std::abs(largest)) largest = dot, key = j;
        }
        // Under a soft cap a score that is infinite is the cap.
        if (spec_.attention_soft_cap == 0 && std::abs(largest) > limit(Rounded::Product))
            put(layer, "attn.scores", row, largest > 0 ? HUGE_VAL : -HUGE_VAL, largest, Rounded::Product,
                of_head + ", key " + std::to_string(key));
        else
            put(layer, "attn.softmax", row, bad->value, kNaN, Rounded::Other, of_head);
    }

    void feed_forward(int layer, const T* u, const SublayerTape<T>& t) {
        const auto& at = model_.table().feed_forward[static_cast<std::size_t>(layer)];
        const int ff = spec_.d_ff;
        const bool gated = is_gated(spec_.activation);
        linear(layer, gated ? "ffn.w_gate/w_up" : "ffn.w1", t.pre, feed_forward_width(spec_), u,
               spec_.d_model, at.w1, at.b1);
        look(layer, "ffn.activation", t.activated, rows() * static_cast<std::size_t>(ff), ff,
             Rounded::Product, [&](std::int64_t row, int column) {
                 if (!gated) return kNaN;
                 const HostView<T> pre = part(t.pre, row, 2 * ff);
                 const auto g = static_cast<double>(pre[static_cast<std::size_t>(column)]),
                            up = static_cast<double>(pre[static_cast<std::size_t>(column + ff)]);
                 return g / (1 + std::exp(-g)) * up;
             });
        linear(layer, gated ? "ffn.w_down" : "ffn.w2", t.f, spec_.d_model, t.activated, ff, at.w2, at.b2);
    }

    const Transformer<T>& model_;
    const Tape<T>& tape_;
    BadSearch<T> search_;
    const StackSpec& spec_;
    std::optional<BadPlace> found_;
    double rstd_ = 0;
};

}  // namespace

template <class T>
std::optional<BadPlace> first_bad_forward(const Transformer<T>& model, const Tape<T>& tape) {
    return ForwardWalk<T>(model, tape).first();
}
template std::optional<BadPlace> first_bad_forward(const Transformer<float>&, const Tape<float>&);
template std::optional<BadPlace> first_bad_forward(const Transformer<double>&, const Tape<double>&);

}  // namespace normscope
