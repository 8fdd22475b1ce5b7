// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/findings/sentence.h"

#include <cstdint>

namespace normscope {

// Findings on numbers that a format cannot hold; each at a step, from the newest sample until then. Pure.

/// Updates that were skipped because the scaled gradient overflowed FP16, and where first.
Sentence skipped_sentence(const RunData& run, std::int64_t step);

/// A mean logit of the targets that moved by more than 50 nat since step 0, or was beyond that there: by a
/// shift of all logits together, which changes no loss, or because the model is that sure.
Sentence logits_sentence(const RunData& run, std::int64_t step);

/// A group of tensors of which half of the entries or more have √v̂ below Adam's ε, and by how much clipping
/// made their gradients smaller.
Sentence under_eps_sentence(const RunData& run, std::int64_t step);

/// A norm whose γ blocks of MX E4M3 clamp: 5 % of its entries or more.
Sentence clamped_sentence(const RunData& run, std::int64_t step);

/// Hidden states whose squares are above the largest number of FP16: a norm that keeps its statistics in FP16
/// would overflow on them. Ours are FP32.
Sentence norm_statistics_sentence(const RunData& run, std::int64_t step);

}  // namespace normscope
