// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/initial_weights.h"

#include <algorithm>
#include <cmath>

#include "core/backend/counter_rng.h"

namespace normscope {

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
