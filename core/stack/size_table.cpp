// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/size_table.h"

#include <cmath>

namespace normscope {

namespace {

constexpr Block kLlama = Block::Llama, kGpt2 = Block::Gpt2;

// clang-format off
constexpr SizeRow kSizeTableRows[] = {
    //  name         block   N   d     H   ff     ctx   vocab  lr    warmup steps   batch clip published
    {"llama-9m",     kLlama, 4,  128,  4,  352,   256,  32000, 1e-3, 1000,  10000,  512,  0,   false},
    {"llama-20m",    kLlama, 4,  256,  4,  688,   256,  32000, 1e-3, 1000,  10000,  512,  0,   false},
    {"llama-35m",    kLlama, 6,  384,  8,  1024,  256,  32000, 1e-3, 1000,  10000,  512,  0,   false},
    {"llama-40m",    kLlama, 8,  416,  8,  1024,  256,  32000, 1e-3, 1000,  10000,  512,  0,   false},
    {"llama-60m",    kLlama, 8,  512,  8,  1376,  256,  32000, 1e-3, 1000,  10000,  512,  0,   false},
    {"llama-71m",    kLlama, 12, 512,  8,  1368,  256,  32000, 1e-3, 1000,  10000,  512,  0,   true},
    {"llama-100m",   kLlama, 12, 640,  10, 1708,  256,  32100, 1e-3, 1000,  10000,  512,  0,   false},
    {"llama-130m",   kLlama, 12, 768,  12, 2048,  256,  32000, 1e-3, 2000,  20000,  512,  0,   true},
    {"llama-250m",   kLlama, 24, 768,  16, 2560,  256,  32000, 1e-3, 4000,  40000,  512,  0,   true},
    {"llama-350m",   kLlama, 24, 1024, 16, 2736,  256,  32000, 5e-4, 6000,  60000,  512,  0,   true},
    {"llama-1b",     kLlama, 24, 2048, 32, 5461,  256,  32000, 5e-4, 10000, 100000, 512,  0,   true},
    {"llama-3b",     kLlama, 32, 2560, 32, 6848,  256,  32000, 5e-4, 10000, 100000, 512,  0,   false},
    {"llama-7b",     kLlama, 32, 4096, 32, 11008, 256,  32000, 3e-4, 10000, 150000, 2048, 1,   true},
    {"gpt2-124m",    kGpt2,  12, 768,  12, 3072,  1024, 50257, 6e-4, 2000,  600000, 480,  1,   true},
    {"gpt2-355m",    kGpt2,  24, 1024, 16, 4096,  1024, 50257, 6e-4, 2000,  600000, 480,  1,   false},
    {"gpt2-774m",    kGpt2,  36, 1280, 20, 5120,  1024, 50257, 6e-4, 2000,  600000, 480,  1,   false},
    {"gpt2-1.5b",    kGpt2,  48, 1600, 25, 6400,  1024, 50257, 6e-4, 2000,  600000, 480,  1,   false},
};
// clang-format on

}  // namespace

std::span<const SizeRow> size_table() {
    return kSizeTableRows;
}

StackSpec stack_of(const SizeRow& row) {
    StackSpec s;
    apply_block_preset(s, row.block);
    s.depth = row.depth;
    s.d_model = row.d_model;
    s.heads = s.kv_heads = row.heads;
    s.d_ff = row.d_ff;
    s.context = row.context;
    s.vocab = row.vocab;
    if (row.block == Block::Llama) {
        s.init.rule = InitRule::Plain;
        s.init.embedding_std = 0.6325;  // √(2/5), [G]'s "Scaled Embed"
    } else {
        s.init.rule = InitRule::Gpt2;
        s.tied_head = true;
    }
    return s;
}

}  // namespace normscope
