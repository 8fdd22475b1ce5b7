// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/initial_weights.h"

#include "core/backend/cpu/host/thread_pool.h"
#include "core/backend/shared/counter_rng.h"

#include <algorithm>
#include <cmath>

namespace normscope {

namespace {

bool ends_with(const std::string& text, const char* end) {
    const std::string tail = end;
    return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

bool is_output_projection(const TensorInfo& t) {
    return ends_with(t.name, ".wo") || ends_with(t.name, ".w2") || ends_with(t.name, ".w_down");
}
bool is_query_or_key(const TensorInfo& t) {
    return ends_with(t.name, ".wq") || ends_with(t.name, ".wk");
}

/// Xavier-normal of a matrix [out, in].
double xavier(const TensorInfo& t, double gain) {
    return gain * std::sqrt(2.0 / (static_cast<double>(t.shape[0]) + t.shape[1]));
}

}  // namespace

double initial_std(const StackSpec& s, const TensorInfo& t) {
    if (t.shape.size() < 2) return 0;
    const double N = s.depth;
    const bool token = t.name == "tok_emb", position = t.name == "pos_emb", in_block = t.layer >= 0;
    if (s.init.rule == InitRule::Lab) return token ? 1.0 : position ? 0.5 : 1.0 / std::sqrt(s.d_model);
    if (token || position) return s.init.embedding_std;
    switch (s.init.rule) {
        case InitRule::Gpt2:
            return is_output_projection(t) ? s.init.std / std::sqrt(2 * N) : s.init.std;
        case InitRule::Xavier:
            return xavier(t, 1);
        case InitRule::DeepNorm:
            if (in_block) return xavier(t, is_query_or_key(t) ? 1 : std::pow(8 * N, -0.25));
            break;
        case InitRule::PathLength:
            if (in_block) return s.init.std * std::pow(N, -1.0 / s.init.path_maps);
            break;
        case InitRule::Lab:
        case InitRule::Plain:
            break;
    }
    return s.init.std;
}

double initial_constant(const StackSpec& s, const TensorInfo& t) {
    if (ends_with(t.name, ".scale")) return s.branch_scale_init;
    if (s.scheme == Scheme::Lns && s.lns_form == LnsForm::Gamma && ends_with(t.name, ".norm_in.weight"))
        return 1 / std::sqrt(t.layer + 1.0);
    for (const NormParameter& own : norm_kind_row(s.norm.kind).own)
        if (ends_with(t.name, own.name)) return own.initial;
    return ends_with(t.name, ".weight") ? 1 : 0;
}

template <class T>
void initialise(const StackSpec& s, const ParameterTable& table, std::uint64_t seed, T* parameters) {
    struct Rows {
        const TensorInfo* tensor;
        int begin, end;
    };
    constexpr int kPiece = 1 << 14;  // entries: some 30 µs
    std::vector<Rows> pieces;
    for (const auto& tensor : table.tensors()) {
        T* at = parameters + tensor.offset;
        if (tensor.shape.size() < 2) {
            std::fill(at, at + tensor.count, static_cast<T>(initial_constant(s, tensor)));
            continue;
        }
        const int height = tensor.shape[0], step = std::max(1, kPiece / tensor.shape[1]);
        for (int row = 0; row < height; row += step)
            pieces.push_back({&tensor, row, std::min(height, row + step)});
    }
    // Every row is a function of its name and index alone, so threads need no synchronisation; for few pieces
    // starting them costs more than they save.
    ThreadPool pool(pieces.size() < 8 ? 1 : 0);
    pool.run(static_cast<int>(pieces.size()), [&](int i) {
        const auto& [tensor, begin, end] = pieces[static_cast<std::size_t>(i)];
        const NormalKey key(seed, tensor->name);
        const double std = initial_std(s, *tensor);
        const auto columns = static_cast<std::uint32_t>(tensor->shape[1]);
        for (int row = begin; row < end; ++row)
            fill_normal_row(key, static_cast<std::uint32_t>(row), 0, columns, std,
                            parameters + tensor->offset + static_cast<std::size_t>(row) * columns);
    });
}
template void initialise<float>(const StackSpec&, const ParameterTable&, std::uint64_t, float*);
template void initialise<double>(const StackSpec&, const ParameterTable&, std::uint64_t, double*);

}  // namespace normscope
