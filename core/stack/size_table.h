// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/stack/stack_spec.h"

#include <span>

namespace normscope {

/// One model size of the literature, with its training recipe.
struct SizeRow {
    const char* name;  ///< "llama-71m", the preset's name
    Block block;
    int depth, d_model, heads, d_ff, context, vocab;
    double lr;
    int warmup, steps;
    int sequences;   ///< a step's batch, of `context` tokens each
    double clip;     ///< global gradient norm; 0 = off
    bool published;  ///< whether the source gives lr, warm-up and steps; else those of the nearest
                     ///< size
};

/// LLaMA sizes: the configurations of [G] and of Mix-LN, LNS and GaLore, which agree; 9m, 20m, 35m, 40m, 60m,
/// 100m and 3b come without a training recipe. Sequences are of the 256 tokens they were trained at, not the
/// 1024 (7b: 2048) their configurations allow; rotary positions have no tensor of that length. GPT-2 sizes:
/// nanoGPT, whose recipe was written for 124M.
std::span<const SizeRow> size_table();

/// The row's stack, complete: Pre-LN, biases, tied head and initialisation of the family.
StackSpec stack_of(const SizeRow& row);

}  // namespace normscope
