// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/first_bad.h"

#include "core/backend/step_ops.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace normscope {

namespace {

/// Searches for non-finite values on a device.
template <class T>
class Search {
  public:
    explicit Search(Device& device) : device_(device), place_(device, 1) {}
    std::optional<double> first(const T* values, std::size_t count) {
        device_.step_ops<T>().find_first_non_finite(count, values, place_.data());
        const std::int64_t place = HostView<std::int64_t>(place_)[0];
        if (place < 0) return std::nullopt;
        return static_cast<double>(HostView<T>(device_, values + place, 1)[0]);
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
            if (const auto bad = search.first(gradients + t->offset, t->count)) return {t, *bad};
    return {nullptr, 0};
}

Outcome diverged(std::int64_t step, int layer, const std::string& operation, double value) {
    std::string where;
    if (layer >= 0) where.append("layer ").append(std::to_string(layer + 1)).append(" ");
    const std::string block = "blocks." + std::to_string(layer) + ".";
    const std::size_t at = operation.find(block);
    where.append(at == std::string::npos ? operation
                                         : operation.substr(0, at) + operation.substr(at + block.size()));
    const std::string what = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    return {RunState::Diverged, step, "step " + std::to_string(step) + " · " + where + " · " + what, layer};
}

}  // namespace

template <class T>
std::optional<Outcome> first_bad_value(const Transformer<T>& model, const Tape<T>& tape, const T* gradients,
                                       std::int64_t step) {
    Search<T> search(model.device());
    const StackSpec& s = model.spec();
    for (const TensorInfo& t : model.table().tensors())
        if (const auto bad = search.first(model.parameters().data() + t.offset, t.count))
            return diverged(step, t.layer, "parameter " + t.name, *bad);

    const auto R = static_cast<std::size_t>(tape.rows()), d = static_cast<std::size_t>(s.d_model);
    const auto n = static_cast<std::size_t>(tape.length), H = static_cast<std::size_t>(s.heads);
    const bool gated = s.activation == Activation::SwiGlu;
    const char *first = gated ? "ffn.w_gate/w_up" : "ffn.w1", *last = gated ? "ffn.w_down" : "ffn.w2";
    struct Stage {
        const char* operation;
        const T* values;
        std::size_t count;
    };
    if (const auto bad = search.first(tape.embedded, R * d)) return diverged(step, -1, "embedding", *bad);
    if (const auto bad = search.first(tape.hidden.front(), R * d))
        return diverged(step, -1, "emb_norm", *bad);
    for (std::size_t k = 0; k < tape.sublayers.size(); ++k) {
        const SublayerTape<T>& t = tape.sublayers[k];
        const bool attention = k % 2 == 0;
        const Stage stages[] = {
            {attention ? "attn.norm_in" : "ffn.norm_in", t.u, R * d},
            {"attn.qkv", t.qk, R * (d + static_cast<std::size_t>(s.d_kv()))},
            {"attn.qkv", t.qkv, R * (d + 2 * static_cast<std::size_t>(s.d_kv()))},
            {"attn.softmax", t.probabilities, R * H * n},
            {"attn.softmax", t.row_softmax, 2 * R * H},
            {"attn.mixed", t.mixed, R * d},
            {first, t.pre, R * static_cast<std::size_t>(feed_forward_width(s))},
            {"ffn.activation", t.activated, R * static_cast<std::size_t>(s.d_ff)},
            {attention ? "attn.wo" : last, t.f, R * d},
            {attention ? "attn.sum" : "ffn.sum", t.z, R * d},
            {attention ? "attn.output" : "ffn.output", tape.hidden[k + 1], R * d},
        };
        for (const Stage& stage : stages)
            if (stage.values)
                if (const auto bad = search.first(stage.values, stage.count))
                    return diverged(step, static_cast<int>(k / 2), stage.operation, *bad);
    }
    if (const auto bad = search.first(tape.final_hidden, R * d))
        return diverged(step, -1, "final_norm", *bad);
    if (const auto bad = search.first(tape.logits, R * static_cast<std::size_t>(s.vocab)))
        return diverged(step, -1, "head", *bad);
    if (const auto bad = search.first(tape.losses, R)) return diverged(step, -1, "loss", *bad);
    if (gradients)
        if (const auto [tensor, bad] = first_bad_tensor(search, model.table(), gradients); tensor)
            return diverged(step, tensor->layer, "gradient of " + tensor->name, bad);
    return std::nullopt;
}

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
