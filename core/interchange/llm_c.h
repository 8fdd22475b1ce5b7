// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/interchange/bin_reader.h"

namespace normscope {

/// Whether the file begins with llm.c's magic number (20240326).
bool is_llm_c(std::span<const std::byte> file);

/// A GPT-2 checkpoint of llm.c: 256 int32 (magic, version 3: float32 or 5: BF16, context, vocabulary, layers,
/// heads, channels, padded vocabulary), then the arrays, [out, in], each for all layers. The padding's rows
/// are dropped; the head is tied, GELU the tanh form, ε 1e-5. InputError.
StackWithWeights read_llm_c(std::span<const std::byte> file, const std::string& where);

}  // namespace normscope
