// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/interchange/bin_reader.h"

namespace normscope {

/// A model of llama2.c in its first .bin layout: 7 int32 (width, feed-forward width, layers, heads, key/value
/// heads, vocabulary, negative where the head is untied, context), then float32 arrays, [out, in], each for
/// all layers. RMSNorm ε is 1e-5, the rotary base 10000. Its rotary pairs are (2i, 2i+1), ours i and i +
/// d_h/2: the rows of wq and wk are permuted head by head, which leaves every score as it is. InputError.
StackWithWeights read_llama2_c(std::span<const std::byte> file, const std::string& where);

}  // namespace normscope
