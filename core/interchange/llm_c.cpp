// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/llm_c.h"

#include "core/base/error.h"
#include "core/interchange/model_config.h"

namespace normscope {

namespace {
constexpr std::int32_t kMagic = 20240326;
constexpr std::size_t kLlmCHeaderBytes = 256 * sizeof(std::int32_t);
constexpr std::int32_t kLargestVocabulary = 1 << 24;
}  // namespace

bool is_llm_c(std::span<const std::byte> file) {
    return file.size() >= sizeof kMagic && header_int(file, 0) == kMagic;
}

StackWithWeights read_llm_c(std::span<const std::byte> file, const std::string& where) {
    if (file.size() < kLlmCHeaderBytes || !is_llm_c(file))
        throw InputError(where, "does not begin with an llm.c header", "256 int32, the first 20240326");
    const std::int32_t version = header_int(file, 1), padded = header_int(file, 7);
    if (version != 3 && version != 5)
        throw InputError(where + ": version", std::to_string(version) + " is not known",
                         "3 (float32), 5 (BF16)");
    StackWithWeights model;
    StackSpec& s = model.stack;
    apply_block_preset(s, Block::Gpt2);
    s.tied_head = true;
    s.init.rule = InitRule::Gpt2;
    s.context = header_int(file, 2);
    s.vocab = header_int(file, 3);
    s.depth = header_int(file, 4);
    s.heads = header_int(file, 5);
    s.d_model = header_int(file, 6);
    s = checked(s, where);
    if (padded < s.vocab || padded > kLargestVocabulary)
        throw InputError(where + ": padded vocabulary", std::to_string(padded) + " is out of range",
                         std::to_string(s.vocab) + " … " + std::to_string(kLargestVocabulary));

    const FloatType type = version == 3 ? FloatType::F32 : FloatType::BF16;
    const std::size_t d = static_cast<std::size_t>(s.d_model), V = static_cast<std::size_t>(s.vocab),
                      padding = static_cast<std::size_t>(padded) - V, n = static_cast<std::size_t>(s.context),
                      ff = static_cast<std::size_t>(s.d_ff), L = static_cast<std::size_t>(s.depth);
    // Within the checked ranges the sum stays below 2^54.
    const std::uint64_t count =
        (V + padding + n) * d + L * (4 * d + 4 * d * d + 4 * d + 2 * ff * d + ff + d) + 2 * d;
    require_size(file, kLlmCHeaderBytes + count * float_size(type), where, "llm.c");

    BinReader in(file, kLlmCHeaderBytes, type);
    std::vector<StoredTensor>& to = model.weights;
    to.push_back(in.take("tok_emb", {V, d}));
    in.skip(padding * d);
    to.push_back(in.take("pos_emb", {n, d}));
    const auto layers = [&](const char* name, const std::vector<std::size_t>& shape) {
        in.take_layers(s.depth, name, shape, to);
    };
    const auto fused = [&](const char* kind, const std::vector<std::size_t>& shape) {
        for (int l = 0; l < s.depth; ++l)
            for (const char* which : {"q", "k", "v"})
                to.push_back(in.take("blocks." + std::to_string(l) + ".attn." + kind + which, shape));
    };
    layers("attn.norm_in.weight", {d});
    layers("attn.norm_in.bias", {d});
    fused("w", {d, d});
    fused("b", {d});
    layers("attn.wo", {d, d});
    layers("attn.bo", {d});
    layers("ffn.norm_in.weight", {d});
    layers("ffn.norm_in.bias", {d});
    layers("ffn.w1", {ff, d});
    layers("ffn.b1", {ff});
    layers("ffn.w2", {d, ff});
    layers("ffn.b2", {d});
    to.push_back(in.take("final_norm.weight", {d}));
    to.push_back(in.take("final_norm.bias", {d}));
    return model;
}

}  // namespace normscope
