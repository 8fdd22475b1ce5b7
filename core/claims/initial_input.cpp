// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/claims/initial_input.h"

#include "core/run/complete.h"
#include "core/run/evaluation.h"

#include <algorithm>
#include <utility>

namespace normscope {

Batch claim_batch(const Recipe& recipe, const Corpus& corpus) {
    const Batch batch =
        corpus.held_out_batch(recipe.train.seed, 0, ClaimInput::kSequences, recipe.stack.context);
    return batch.part(0, batch.sequences, std::min(batch.length, ClaimInput::kTokens));
}

std::unique_ptr<ClaimInput> initial_claim_input(Recipe recipe, ThreadPool& pool, const Quantities* quantities,
                                                const std::atomic<bool>* cancel, const RunData* run) {
    const auto corpus = complete_and_validate(recipe);
    Transformer<double> model(recipe.stack, recipe.train.seed);
    model.numerics = initial_numerics(recipe);
    Batch batch = claim_batch(recipe, *corpus);
    return std::make_unique<ClaimInput>(std::move(recipe), std::move(model), std::move(batch), pool, 0, run,
                                        quantities, cancel);
}

std::unique_ptr<ClaimInput> loaded_claim_input(Recipe recipe, const std::vector<StoredTensor>& weights,
                                               const std::string& where, ThreadPool& pool,
                                               const std::atomic<bool>* cancel) {
    const auto corpus = complete_and_validate(recipe);
    auto model = model_with_weights<double>(recipe.stack, weights, where);
    model.numerics = initial_numerics(recipe);
    Batch batch = claim_batch(recipe, *corpus);
    return std::make_unique<ClaimInput>(std::move(recipe), std::move(model), std::move(batch), pool, 0,
                                        nullptr, nullptr, cancel);
}

std::unique_ptr<ClaimInput> recorded_claim_input(const RunCheckpoint& at, const std::string& where,
                                                 ThreadPool& pool, const RunData& run,
                                                 const std::atomic<bool>* cancel) {
    Recipe recipe = at.recipe;
    const auto corpus = complete_and_validate(recipe);
    const std::int64_t step = at.checkpoint.step;
    auto model = model_with_weights<double>(recipe.stack, at.checkpoint.params,
                                            where + ": step " + std::to_string(step));
    model.numerics = at.numerics;
    model.raise_eps(at.raised_eps);
    Batch batch = claim_batch(recipe, *corpus);
    return std::make_unique<ClaimInput>(std::move(recipe), std::move(model), std::move(batch), pool, step,
                                        &run, nullptr, cancel);
}

}  // namespace normscope
