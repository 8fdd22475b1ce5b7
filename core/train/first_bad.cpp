// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/first_bad.h"

#include "core/backend/step_ops.h"
#include "core/model/residual_sum.h"
#include "core/model/scratch_slots.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace normscope {

namespace {

struct NotFinite {
    double value;
    std::size_t at;  ///< its index
};

/// Searches for non-finite values on a device.
template <class T>
class Search {
  public:
    explicit Search(Device& device) : device_(device), place_(device, 1) {}
    std::optional<NotFinite> first(const T* values, std::size_t count) {
        device_.step_ops<T>().find_first_non_finite(count, values, place_.data());
        const std::int64_t place = HostView<std::int64_t>(place_)[0];
        if (place < 0) return std::nullopt;
        return NotFinite{static_cast<double>(HostView<T>(device_, values + place, 1)[0]),
                         static_cast<std::size_t>(place)};
    }

  private:
    Device& device_;
    Buffer<std::int64_t> place_;
};

/// "layer 3 ffn.w2", "head.weight": tensors count layers from 0, texts from 1.
std::string place_of(const TensorInfo& tensor) {
    if (tensor.layer < 0) return tensor.name;
    const std::string block = "blocks." + std::to_string(tensor.layer) + ".";
    return "layer " + std::to_string(tensor.layer + 1) + " " + tensor.name.substr(block.size());
}

/// The place of a tensor in the backward pass of its sub-layer; the smaller comes first.
int backward_rank(const std::string& name) {
    static constexpr const char* kOrder[] = {".gate", ".norm_post.", ".scale", ".norm_out."};
    static constexpr const char* kSecond[] = {".wo", ".bo", ".w2", ".b2", ".w_down", ".b_down"};
    int rank = 0;
    for (const char* part : kOrder) {
        if (name.find(part) != std::string::npos) return rank;
        ++rank;
    }
    for (const char* matrix : kSecond)
        if (name.ends_with(matrix)) return rank;
    if (name.find(".q_norm.") != std::string::npos || name.find(".k_norm.") != std::string::npos)
        return rank + 1;
    return name.find(".norm_in.") != std::string::npos ? rank + 3 : rank + 2;
}

/// All tensors as the backward pass reaches them, from the head down. A tied head is the embedding.
std::vector<const TensorInfo*> backward_order(const ParameterTable& table) {
    const int layers = static_cast<int>(table.attention.size());
    const auto key = [&](const TensorInfo& t) {
        const bool above = t.name.starts_with("final_norm") || t.name.starts_with("head");
        const int layer = t.layer >= 0 ? t.layer : above ? layers : -1;
        // A gate is shared by the sub-layers of its layer: the second one reaches it first.
        const int sublayer = t.layer >= 0 && t.sublayer < 0 ? 1 : t.sublayer;
        const int outside = t.name.starts_with("head")                  ? 0
                            : t.name.find("_norm") != std::string::npos ? 1
                                                                        : 2;
        return std::tuple(-layer, -sublayer, t.layer >= 0 ? backward_rank(t.name) : outside);
    };
    std::vector<const TensorInfo*> order;
    for (const TensorInfo& t : table.tensors()) order.push_back(&t);
    std::stable_sort(order.begin(), order.end(),
                     [&](const TensorInfo* a, const TensorInfo* b) { return key(*a) < key(*b); });
    return order;
}

/// The first tensor in that order whose gradient is not finite, with the value; null where all are. Frozen
/// tensors have no part in the norm.
template <class T>
std::pair<const TensorInfo*, double> first_bad_tensor(Search<T>& search, const ParameterTable& table,
                                                      const T* gradients) {
    for (const TensorInfo* t : backward_order(table))
        if (!t->frozen)
            if (const auto bad = search.first(gradients + t->offset, t->count)) return {t, bad->value};
    return {nullptr, 0};
}

Outcome diverged(std::int64_t step, int layer, const std::string& operation, double value,
                 const std::string& detail = {}) {
    std::string where;
    if (layer >= 0) where.append("layer ").append(std::to_string(layer + 1)).append(" ");
    const std::string block = "blocks." + std::to_string(layer) + ".";
    const std::size_t at = operation.find(block);
    where.append(at == std::string::npos ? operation
                                         : operation.substr(0, at) + operation.substr(at + block.size()));
    const std::string what = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    return {RunState::Diverged, step, "step " + std::to_string(step) + " · " + where + detail + " · " + what,
            layer};
}

/// Five digits: all of 65504, the largest number of FP16.
std::string digits(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.5g", value);
    return text;
}

/// A stored result of the forward pass, [rows, columns], and what it is computed from.
template <class T>
struct Stage {
    const char* operation;
    const T* values;
    std::size_t rows, columns;
    // Of a linear layer: its input [rows, width] and its weights.
    const T* in = nullptr;
    std::size_t width = 0, weight = kAbsent, bias = kAbsent;
    int sum_of = -1;  ///< of a residual sum: the sub-layer
};

/// The forward pass in its order of computation, and why an entry of it is not finite.
template <class T>
class ForwardPass {
  public:
    ForwardPass(const Transformer<T>& model, const Tape<T>& tape) : model_(model), tape_(tape) {}

    /// The stages of one sub-layer; those that the stack does not store have no values.
    std::vector<Stage<T>> stages(std::size_t k) const {
        const StackSpec& s = model_.spec();
        const SublayerTape<T>& t = tape_.sublayers[k];
        const std::size_t R = rows(), d = width(), n = static_cast<std::size_t>(tape_.length),
                          H = static_cast<std::size_t>(s.heads), d_kv = static_cast<std::size_t>(s.d_kv()),
                          d_ff = static_cast<std::size_t>(s.d_ff);
        const T *u = t.u ? t.u : t.x, *after = tape_.hidden[k + 1];
        // Where nothing follows the sum, it is the hidden state.
        const bool plain = !t.z && !t.ungated;
        const int sum = static_cast<int>(k);
        if (k % 2 == 0) {
            const AttentionOffsets& at = model_.table().attention[k / 2];
            const bool projected =
                !t.qk && s.position != Position::Rope;  // not normalised or rotated afterwards
            return {{"attn.norm_in", t.u, R, d},
                    {"attn.qkv", t.qk, R, d + d_kv, u, d, at.wqkv, at.bqkv},
                    {"attn.qkv", t.qkv, R, d + 2 * d_kv, projected ? u : nullptr, d, at.wqkv, at.bqkv},
                    {"attn.softmax", t.probabilities, R * H, n},
                    {"attn.softmax", t.row_softmax, R * H, 2},
                    {"attn.mixed", t.mixed, R, d},
                    {"attn.wo", t.f, R, d, t.mixed, d, at.wo, at.bo},
                    {"attn.sum",
                     t.z     ? t.z
                     : plain ? after
                             : nullptr,
                     R, d, nullptr, 0, kAbsent, kAbsent, sum},
                    {"attn.output", after, R, d}};
        }
        const FeedForwardOffsets& at = model_.table().feed_forward[k / 2];
        const bool gated = s.activation == Activation::SwiGlu;
        return {{"ffn.norm_in", t.u, R, d},
                {gated ? "ffn.w_gate/w_up" : "ffn.w1", t.pre, R,
                 static_cast<std::size_t>(feed_forward_width(s)), u, d, at.w1, at.b1},
                {"ffn.activation", t.activated, R, d_ff},
                {gated ? "ffn.w_down" : "ffn.w2", t.f, R, d, t.activated, d_ff, at.w2, at.b2},
                {"ffn.sum",
                 t.z     ? t.z
                 : plain ? after
                         : nullptr,
                 R, d, nullptr, 0, kAbsent, kAbsent, sum},
                {"ffn.output", after, R, d}};
    }

    std::size_t rows() const { return static_cast<std::size_t>(tape_.rows()); }
    std::size_t width() const { return static_cast<std::size_t>(model_.spec().d_model); }

    /// The outcome for a stage's entry: with its token, and with the value that the format cannot hold where
    /// that is known.
    Outcome outcome(const Stage<T>& stage, const NotFinite& bad, int layer, std::int64_t step) const {
        std::size_t row = bad.at / stage.columns;
        std::string operation = stage.operation;
        double exact = std::numeric_limits<double>::quiet_NaN();
        if (operation == "attn.softmax") {
            const std::size_t n = static_cast<std::size_t>(tape_.length),
                              H = static_cast<std::size_t>(model_.spec().heads);
            exact = largest_score(2 * static_cast<std::size_t>(layer), row);
            if (std::abs(exact) > limit(true)) operation = "attn.scores";
            row = row / (H * n) * n + row % n;
        } else if (stage.in) {
            exact = product(stage, row, bad.at % stage.columns);
        } else if (stage.sum_of >= 0) {
            exact = sum(stage.sum_of, row, bad.at % stage.columns);
        }
        const double most = limit(stage.in || operation == "attn.scores");
        std::string detail = " · sequence " +
                             std::to_string(row / static_cast<std::size_t>(tape_.length) + 1) + " token " +
                             std::to_string(row % static_cast<std::size_t>(tape_.length) + 1);
        if (std::isfinite(exact) && std::abs(exact) > most)
            detail += " · " + digits(exact) + " beyond ±" + digits(most) + " of " +
                      format(stage.in != nullptr || operation == "attn.scores");
        return diverged(step, layer, operation, bad.value, detail);
    }

  private:
    /// Whether a result is rounded to the emulated format: everything under the pure policy, GEMM
    /// under autocast.
    bool rounded(bool gemm) const {
        return model_.rounding() != Rounding::None && model_.rounding() != Rounding::Tf32 &&
               (gemm || model_.policy() == PrecisionPolicy::Pure);
    }
    double limit(bool gemm) const {
        if (!rounded(gemm)) return static_cast<double>(std::numeric_limits<T>::max());
        return model_.rounding() == Rounding::Fp16 ? 65504 : 0x1.fep127;
    }
    const char* format(bool gemm) const {
        if (rounded(gemm)) return model_.rounding() == Rounding::Fp16 ? "FP16" : "BF16";
        return sizeof(T) == sizeof(double) ? "FP64" : "FP32";
    }

    double product(const Stage<T>& stage, std::size_t row, std::size_t column) const {
        const HostView<T> in = tape_.view(stage.in + row * stage.width, stage.width),
                          weight = model_.host_parameters(stage.weight + column * stage.width, stage.width);
        double total = stage.bias == kAbsent
                           ? 0
                           : static_cast<double>(model_.host_parameters(stage.bias + column, 1)[0]);
        for (std::size_t i = 0; i < stage.width; ++i)
            total += static_cast<double>(in[i]) * static_cast<double>(weight[i]);
        return total;
    }

    /// a·h + branch; NaN in a parallel layer and under a gate, whose sums have other parts.
    double sum(int sublayer, std::size_t row, std::size_t column) const {
        const StackSpec& s = model_.spec();
        if (s.layout == Layout::Parallel || s.gpas.enabled) return std::numeric_limits<double>::quiet_NaN();
        const std::size_t d = width();
        T* branch = model_.device().template scratch_of<T>(kResidualRows, d);
        branch_rows(model_, tape_, sublayer, static_cast<int>(row), 1, branch);
        const SublayerRule& rule = model_.rules()[static_cast<std::size_t>(sublayer)];
        return rule.a * static_cast<double>(tape_.view(
                            tape_.hidden[static_cast<std::size_t>(sublayer)] + row * d + column, 1)[0]) +
               static_cast<double>(tape_.view(branch + column, 1)[0]);
    }

    /// The product q·k of largest magnitude of a row [sequence, head, token]: what is stored before softmax
    /// scales it.
    double largest_score(std::size_t k, std::size_t row) const {
        const StackSpec& s = model_.spec();
        const std::size_t n = static_cast<std::size_t>(tape_.length), H = static_cast<std::size_t>(s.heads),
                          d = width(), d_kv = static_cast<std::size_t>(s.d_kv()),
                          d_head = static_cast<std::size_t>(s.d_head()), across = d + 2 * d_kv,
                          token = row % n, head = row / n % H, first = row / (n * H) * n;
        const HostView<T> qkv = tape_.view(tape_.sublayers[k].qkv + first * across, n * across);
        const T* q = qkv.data() + token * across + head * d_head;
        double most = 0;
        for (std::size_t j = 0; j < (s.causal ? token + 1 : n); ++j) {
            const T* key =
                qkv.data() + j * across + d + head * static_cast<std::size_t>(s.kv_heads) / H * d_head;
            double score = 0;
            for (std::size_t i = 0; i < d_head; ++i)
                score += static_cast<double>(q[i]) * static_cast<double>(key[i]);
            if (!(std::abs(score) <= std::abs(most))) most = score;
        }
        return most;
    }

    const Transformer<T>& model_;
    const Tape<T>& tape_;
};

}  // namespace

template <class T>
std::optional<Outcome> first_bad_value(const Transformer<T>& model, const Tape<T>& tape, const T* gradients,
                                       std::int64_t step) {
    Search<T> search(model.device());
    for (const TensorInfo& t : model.table().tensors())
        if (const auto bad = search.first(model.parameters().data() + t.offset, t.count))
            return diverged(step, t.layer, "parameter " + t.name, bad->value);

    const ForwardPass<T> pass(model, tape);
    const std::size_t R = pass.rows(), d = pass.width(), V = static_cast<std::size_t>(model.spec().vocab);
    const auto first_of = [&](const Stage<T>& stage, int layer) -> std::optional<Outcome> {
        if (!stage.values) return std::nullopt;
        const auto bad = search.first(stage.values, stage.rows * stage.columns);
        if (!bad) return std::nullopt;
        return pass.outcome(stage, *bad, layer, step);
    };
    if (auto bad = first_of({"embedding", tape.embedded, R, d}, -1)) return bad;
    if (auto bad = first_of({"emb_norm", tape.hidden.front(), R, d}, -1)) return bad;
    for (std::size_t k = 0; k < tape.sublayers.size(); ++k)
        for (const Stage<T>& stage : pass.stages(k))
            if (auto bad = first_of(stage, static_cast<int>(k / 2))) return bad;
    if (auto bad = first_of({"final_norm", tape.final_hidden, R, d}, -1)) return bad;
    const std::size_t head = model.table().head;
    if (auto bad = first_of({"head", tape.logits, R, V, tape.final_hidden, d, head}, -1)) return bad;
    if (auto bad = first_of({"loss", tape.losses, R, 1}, -1)) return bad;
    if (gradients)
        if (const auto [tensor, bad] = first_bad_tensor(search, model.table(), gradients); tensor)
            return diverged(step, tensor->layer, "gradient of " + tensor->name, bad);
    return std::nullopt;
}

template <class T>
std::optional<Outcome> first_bad_backward(const Transformer<T>& model, const BackwardRecord<T>& record,
                                          const T* gradients, std::int64_t step) {
    Search<T> search(model.device());
    const auto state = [&](std::size_t k) -> std::optional<Outcome> {
        const auto bad = search.first(record.hidden[k].data(), record.hidden[k].size());
        if (!bad) return std::nullopt;
        const std::size_t d = static_cast<std::size_t>(model.spec().d_model), row = bad->at / d,
                          length = record.hidden[k].size() / d;
        const bool last = k + 1 == record.hidden.size();
        const int layer = k == 0 || last ? -1 : static_cast<int>((k - 1) / 2);
        const std::string of = last     ? "final_norm's input"
                               : k == 0 ? "embedding"
                               : k % 2  ? "attn.output"
                                        : "ffn.output";
        return diverged(step, layer, "gradient of " + of, bad->value,
                        " · row " + std::to_string(row + 1) + " of " + std::to_string(length));
    };
    // What is above a state comes before it, and the state before what is below.
    std::size_t below = record.hidden.size();
    for (const TensorInfo* t : backward_order(model.table())) {
        // A gate, of a layer, lies above the states of its second sub-layer.
        const std::size_t under =
            t->layer < 0
                ? (t->name.starts_with("head") || t->name.starts_with("final_norm") ? record.hidden.size()
                                                                                    : 0)
                : static_cast<std::size_t>(2 * t->layer + (t->sublayer < 0 ? 1 : t->sublayer)) + 1;
        while (below > under)
            if (auto bad = state(--below)) return bad;
        if (t->frozen) continue;
        if (const auto bad = search.first(gradients + t->offset, t->count))
            return diverged(step, t->layer, "gradient of " + t->name, bad->value);
    }
    while (below > 0)
        if (auto bad = state(--below)) return bad;
    return std::nullopt;
}
template std::optional<Outcome> first_bad_backward(const Transformer<float>&, const BackwardRecord<float>&,
                                                   const float*, std::int64_t);
template std::optional<Outcome> first_bad_backward(const Transformer<double>&, const BackwardRecord<double>&,
                                                   const double*, std::int64_t);

template <class T>
std::string first_bad_gradient(const Transformer<T>& model, const T* gradients) {
    Search<T> search(model.device());
    const TensorInfo* tensor = first_bad_tensor(search, model.table(), gradients).first;
    return tensor ? place_of(*tensor) : std::string();
}
template std::string first_bad_gradient(const Transformer<float>&, const float*);
template std::string first_bad_gradient(const Transformer<double>&, const double*);

template std::optional<Outcome> first_bad_value(const Transformer<float>&, const Tape<float>&, const float*,
                                                std::int64_t);
template std::optional<Outcome> first_bad_value(const Transformer<double>&, const Tape<double>&,
                                                const double*, std::int64_t);

}  // namespace normscope
