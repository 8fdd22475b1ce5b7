// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/claims/claim_input.h"
#include "core/run/checkpoints/run_checkpoint.h"
#include "core/train/data/corpus.h"

#include <memory>
#include <string>
#include <vector>

namespace normscope {

/// The first held-out sequences of a completed recipe's data, at most ClaimInput::kSequences of kTokens.
Batch claim_batch(const Recipe& recipe, const Corpus& corpus);

/// A recipe at its initial weights; completes and validates it. `run` as for ClaimInput. Throws InputError.
std::unique_ptr<ClaimInput> initial_claim_input(Recipe recipe, ThreadPool& pool,
                                                const Quantities* quantities = nullptr,
                                                const std::atomic<bool>* cancel = nullptr,
                                                const RunData* run = nullptr);

/// The same with these weights instead; `where` begins a message about them.
std::unique_ptr<ClaimInput> loaded_claim_input(Recipe recipe, const std::vector<StoredTensor>& weights,
                                               const std::string& where, ThreadPool& pool,
                                               const std::atomic<bool>* cancel = nullptr);

/// A recorded run in the state of a checkpoint. `run` must outlive the input. Throws InputError.
std::unique_ptr<ClaimInput> recorded_claim_input(const RunCheckpoint& at, const std::string& where,
                                                 ThreadPool& pool, const RunData& run,
                                                 const std::atomic<bool>* cancel = nullptr);

}  // namespace normscope
