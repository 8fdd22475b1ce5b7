// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/claims/claim_input.h"
#include "core/train/data/corpus.h"

#include <memory>

namespace normscope {

/// The first held-out sequences of a completed recipe's data, at most ClaimInput::kSequences of kTokens.
Batch claim_batch(const Recipe& recipe, const Corpus& corpus);

/// A recipe at its initial weights; completes and validates it. Throws InputError.
std::unique_ptr<ClaimInput> initial_claim_input(Recipe recipe, ThreadPool& pool,
                                                const Quantities* quantities = nullptr,
                                                const std::atomic<bool>* cancel = nullptr);

}  // namespace normscope
