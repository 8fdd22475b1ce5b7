// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/checkpoints/run_checkpoint.h"

#include "core/run/evaluation.h"
#include "core/run/experiment.h"
#include "core/train/schedule.h"

#include <utility>

namespace normscope {

namespace {

double scalar_of(const Checkpoint& checkpoint, const std::string& name, double otherwise) {
    for (const auto& [key, value] : checkpoint.scalars)
        if (key == name) return value;
    return otherwise;
}

}  // namespace

RunCheckpoint at_checkpoint(Checkpoint checkpoint, const std::string& path) {
    RunCheckpoint found;
    found.checkpoint = std::move(checkpoint);
    found.recipe = found.checkpoint.recipe.value(path);
    complete_for_evaluation(found.recipe);
    const Checkpoint& c = found.checkpoint;
    const StackSpec& s = found.recipe.stack;
    found.numerics = {
        scalar_of(c, "residual_step", s.residual_step),
        temperature(found.recipe.train.schedule, scalar_of(c, "temperature", s.temperature), c.step),
        scalar_of(c, "eps", s.norm.eps)};
    found.raised_eps = raised_eps(c);
    return found;
}

}  // namespace normscope
