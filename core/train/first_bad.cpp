// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/first_bad.h"

#include "core/train/bad_forward.h"
#include "core/train/bad_search.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace normscope {

namespace {

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
std::pair<const TensorInfo*, double> first_bad_tensor(BadSearch<T>& search, const ParameterTable& table,
                                                      const T* gradients) {
    for (const TensorInfo* t : backward_order(table))
        if (!t->frozen)
            if (const auto bad = search.first(gradients + t->offset, t->count)) return {t, bad->value};
    return {nullptr, 0};
}

/// A tensor's name without the layer that the text has before it.
std::string within_layer(const std::string& operation, int layer) {
    const std::string block = "blocks." + std::to_string(layer) + ".";
    const std::size_t at = operation.find(block);
    return at == std::string::npos ? operation
                                   : operation.substr(0, at) + operation.substr(at + block.size());
}

Outcome diverged(BadPlace place, std::int64_t step) {
    place.step = step;
    return {RunState::Diverged, step, bad_place_text(place), place.layer};
}

Outcome diverged(std::int64_t step, int layer, const std::string& operation, double value) {
    BadPlace place;
    place.layer = layer;
    place.operation = within_layer(operation, layer);
    place.result = result_word(value);
    return diverged(std::move(place), step);
}

}  // namespace

template <class T>
std::optional<Outcome> first_bad_value(const Transformer<T>& model, const Tape<T>& tape, const T* gradients,
                                       std::int64_t step) {
    BadSearch<T> search(model.device());
    for (const TensorInfo& t : model.table().tensors())
        if (const auto bad = search.first(model.parameters().data() + t.offset, t.count))
            return diverged(step, t.layer, "parameter " + t.name, bad->value);
    if (auto bad = first_bad_forward(model, tape)) return diverged(std::move(*bad), step);
    if (gradients)
        if (const auto [tensor, bad] = first_bad_tensor(search, model.table(), gradients); tensor)
            return diverged(step, tensor->layer, "gradient of " + tensor->name, bad);
    return std::nullopt;
}

template <class T>
std::optional<Outcome> first_bad_backward(const Transformer<T>& model, const BackwardRecord<T>& record,
                                          const T* gradients, std::int64_t step) {
    BadSearch<T> search(model.device());
    const auto state = [&](std::size_t k) -> std::optional<Outcome> {
        const auto bad = search.first(record.hidden[k].data(), record.hidden[k].size());
        if (!bad) return std::nullopt;
        const bool last = k + 1 == record.hidden.size();
        BadPlace place;
        place.layer = k == 0 || last ? -1 : static_cast<int>((k - 1) / 2);
        place.operation = std::string("gradient of ") + (last     ? "final_norm's input"
                                                         : k == 0 ? "embedding"
                                                         : k % 2  ? "attn.output"
                                                                  : "ffn.output");
        place.row = bad->at / model.spec().d_model;
        place.result = result_word(bad->value);
        return diverged(std::move(place), step);
    };
    // What is above a state comes before it, and the state before what is below.
    std::size_t below = record.hidden.size();
    for (const TensorInfo* t : backward_order(model.table())) {
        std::size_t under = 0;  // the embedding's tensors
        if (t->layer >= 0)      // a gate, of a layer, lies above the states of its second sub-layer
            under = static_cast<std::size_t>(2 * t->layer + (t->sublayer < 0 ? 1 : t->sublayer)) + 1;
        else if (t->name.starts_with("head") || t->name.starts_with("final_norm"))
            under = record.hidden.size();
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
    BadSearch<T> search(model.device());
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
