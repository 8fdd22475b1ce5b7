// SPDX-License-Identifier: GPL-3.0-or-later
// Small models whose attention is uneven, uniform or broken, and the rows of their tapes.
#pragma once

#include "core/probe/interface/probe_input.h"
#include "core/probe/interface/probe_result.h"

#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace normscope::attention_model {

inline StackSpec stack_of(int depth, int heads, int context) {
    StackSpec s;
    s.depth = depth;
    s.heads = heads;
    s.d_model = 8 * heads;
    s.context = context;
    complete(s, 17);
    return s;
}

template <class T, class Change>
void change_tensors(Transformer<T>& model, const std::string& ending, const Change& change) {
    for (const TensorInfo& t : model.table().tensors())
        if (t.name.ends_with(ending))
            for (std::size_t i = t.offset; i < t.offset + t.count; ++i) change(model.parameters()[i]);
}

/// Queries three times as long as drawn: some rows are peaked, some are not.
template <class T>
Transformer<T> model_of(const StackSpec& spec, std::uint64_t seed) {
    Transformer<T> model(spec, seed);
    change_tensors(model, "attn.wq", [](T& w) { w *= 3; });
    return model;
}

/// Every row becomes uniform.
template <class T>
void silence_queries(Transformer<T>& model) {
    for (const char* name : {"attn.wq", "attn.bq", "attn.wk", "attn.bk"})
        change_tensors(model, name, [](T& w) { w = 0; });
}

/// Makes the query bias of component `at` of the first layer NaN.
template <class T>
void spoil_query(Transformer<T>& model, std::size_t at) {
    for (const TensorInfo& t : model.table().tensors())
        if (t.name == "blocks.0.attn.bq") {
            model.parameters()[t.offset + at] = std::numeric_limits<T>::quiet_NaN();
            return;
        }
    throw std::runtime_error("no query bias");
}

inline Batch batch_of(int sequences, int length) {
    Batch batch{sequences, length, {}, {}};
    for (int i = 0; i < sequences * length; ++i)
        batch.tokens.push_back((7 * i * i + 3 * i + i / length) % 17);
    return batch;
}

inline const std::vector<double>& values(const ProbeResult& result, const std::string& name) {
    const NamedArray* array = result.find(name);
    if (!array) throw std::runtime_error(name);
    return array->data;
}

/// The entries of one causal row.
template <class T>
std::vector<T> row_of(ProbeInput<T>& input, std::size_t layer, int sequence, std::size_t head,
                      std::size_t row) {
    const auto n = static_cast<std::size_t>(input.tape().length),
               H = static_cast<std::size_t>(input.model.spec().heads);
    const T* p = input.tape().sublayers[2 * layer].probabilities +
                 ((static_cast<std::size_t>(sequence) * H + head) * n + row) * n;
    return {p, p + row + 1};
}

inline double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace normscope::attention_model
