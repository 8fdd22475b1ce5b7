// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run.h"

#include <memory>
#include <stdexcept>
#include <vector>

namespace normscope::test {

inline Recipe small_recipe(int steps, int checkpoint_every = 0) {
    Recipe recipe;
    recipe.stack.depth = 2;
    recipe.stack.d_model = 16;
    recipe.stack.heads = 2;
    recipe.stack.context = 16;
    recipe.train.batch = 2;
    recipe.train.steps = steps;
    recipe.train.checkpoint_every = checkpoint_every;
    complete_and_validate(recipe);
    recipe.probes = {{"growth", 3}};
    return recipe;
}

inline std::unique_ptr<Experiment> small_experiment(const Recipe& recipe) {
    return std::make_unique<Experiment>(recipe, "a", "A");
}

/// Stores what it receives; save() fails on request.
struct MemorySink : RunSink {
    RunDelta all;
    std::vector<std::int64_t> checkpoints;
    std::shared_ptr<const Checkpoint> last;
    std::vector<std::size_t> rows_at;  ///< of each checkpoint
    std::vector<RunState> state_at;
    int failing_saves = 0;

    void add(const RunDelta& delta) override { merge(all, delta); }
    void save(const std::shared_ptr<const Checkpoint>& checkpoint) override {
        if (failing_saves > 0) {
            --failing_saves;
            throw std::runtime_error("no space left");
        }
        last = checkpoint;
        checkpoints.push_back(checkpoint->step);
        rows_at.push_back(all.steps.size());
        state_at.push_back(all.outcome ? all.outcome->state : RunState::Running);
    }
    std::vector<double> losses() const {
        std::vector<double> losses;
        for (const StepRecord& record : all.steps) losses.push_back(record.values[0].second);
        return losses;
    }
};

}  // namespace normscope::test
