// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/llama2_c.h"

#include "core/base/error.h"
#include "core/interchange/model_config.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace normscope {

namespace {

constexpr std::size_t kHeaderInts = 7, kLlama2CHeaderBytes = kHeaderInts * sizeof(std::int32_t);
constexpr std::int32_t kNewerMagic = 0x616b3432;  // "ak42": the versioned layouts

/// Row 2i of a head becomes row i, row 2i+1 becomes row i + d_h/2.
void split_pairs(StoredTensor& matrix, std::size_t d_head) {
    const std::size_t row = matrix.bytes.size() / matrix.shape[0];
    const std::vector<std::byte> pairs = matrix.bytes;
    for (std::size_t r = 0; r < matrix.shape[0]; ++r) {
        const std::size_t in_head = r % d_head, to = r - in_head + in_head / 2 + in_head % 2 * (d_head / 2);
        std::memcpy(&matrix.bytes[to * row], &pairs[r * row], row);
    }
}

/// The table of cosines at position 1 shows whether the file was trained with the usual rotary base.
void require_usual_base(const StoredTensor& cosines, std::size_t half, const std::string& where) {
    const auto value = [&](std::size_t i) {
        float cosine;
        std::memcpy(&cosine, cosines.bytes.data() + i * sizeof cosine, sizeof cosine);
        return static_cast<double>(cosine);
    };
    bool empty = true;
    for (std::size_t i = 0; i < cosines.bytes.size() / sizeof(float) && empty; ++i) empty = value(i) == 0;
    if (empty || cosines.shape[0] < 2) return;  // some writers leave the table empty
    for (std::size_t i = 0; i < half; ++i)
        if (!(std::abs(value(half + i) - std::cos(std::pow(10000.0, -static_cast<double>(i) /
                                                                        static_cast<double>(half)))) < 1e-3))
            throw InputError(where + ": rotary table", "is not that of the base 10000",
                             "files written with that base");
}

}  // namespace

StackWithWeights read_llama2_c(std::span<const std::byte> file, const std::string& where) {
    if (file.size() < kLlama2CHeaderBytes)
        throw InputError(where + ": " + std::to_string(file.size()) + " bytes are too few for a model");
    if (header_int(file, 0) == kNewerMagic)
        throw InputError(where, "is a later llama2.c layout (\"ak42\")",
                         "its first layout (export.py --version 0)");
    const std::int32_t vocab = header_int(file, 5);
    if (vocab == std::numeric_limits<std::int32_t>::min())
        throw InputError(where + ": vocabulary", std::to_string(vocab) + " is out of range", "");
    StackWithWeights model;
    StackSpec& s = model.stack;
    apply_block_preset(s, Block::Llama);
    s.norm.eps = 1e-5;
    s.init.rule = InitRule::Plain;
    s.d_model = header_int(file, 0);
    s.d_ff = header_int(file, 1);
    s.depth = header_int(file, 2);
    s.heads = header_int(file, 3);
    s.kv_heads = header_int(file, 4);
    s.vocab = std::abs(vocab);
    s.tied_head = vocab > 0;
    s.context = header_int(file, 6);
    if (s.kv_heads == 0 || s.d_ff == 0) throw InputError(where + ": the header has a size of 0");
    s = checked(s, where);

    const auto size = [](int value) { return static_cast<std::size_t>(value); };
    const std::size_t d = size(s.d_model), kv = size(s.d_kv()), ff = size(s.d_ff), V = size(s.vocab),
                      n = size(s.context), L = size(s.depth), half = size(s.d_head()) / 2;
    // Within the checked ranges the sum stays below 2^52.
    const std::uint64_t count =
        V * d * (s.tied_head ? 1 : 2) + L * (2 * d + 2 * d * d + 2 * kv * d + 3 * ff * d) + d + 2 * n * half;
    require_size(file, kLlama2CHeaderBytes + count * sizeof(float), where, "llama2.c");

    BinReader in(file, kLlama2CHeaderBytes, FloatType::F32);
    std::vector<StoredTensor>& to = model.weights;
    to.push_back(in.take("tok_emb", {V, d}));
    const auto layers = [&](const char* name, const std::vector<std::size_t>& shape) {
        in.take_layers(s.depth, name, shape, to);
    };
    const auto rotated = [&](const char* name, const std::vector<std::size_t>& shape) {
        const std::size_t first = to.size();
        layers(name, shape);
        for (std::size_t i = first; i < to.size(); ++i) split_pairs(to[i], size(s.d_head()));
    };
    layers("attn.norm_in.weight", {d});
    rotated("attn.wq", {d, d});
    rotated("attn.wk", {kv, d});
    layers("attn.wv", {kv, d});
    layers("attn.wo", {d, d});
    layers("ffn.norm_in.weight", {d});
    layers("ffn.w_gate", {ff, d});
    layers("ffn.w_down", {d, ff});
    layers("ffn.w_up", {ff, d});
    to.push_back(in.take("final_norm.weight", {d}));
    require_usual_base(in.take("cosines", {n, half}), half, where);
    in.skip(n * half);
    if (!s.tied_head) to.push_back(in.take("head.weight", {V, d}));
    return model;
}

}  // namespace normscope
