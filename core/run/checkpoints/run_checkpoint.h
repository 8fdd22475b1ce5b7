// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"
#include "core/recipe/recipe.h"
#include "core/session/checkpoint.h"

#include <string>
#include <vector>

namespace normscope {

/// A run at one of its checkpoints.
struct RunCheckpoint {
    Recipe recipe;  ///< the run's own, completed for evaluation
    Checkpoint checkpoint;
    Numerics numerics;               ///< Δt, τ and ε at that step: knobs may move during a run
    std::vector<double> raised_eps;  ///< by interventions, per norm; empty where none
};

/// The run in the state of a checkpoint; `path` begins a message. Throws InputError for a recipe that cannot
/// be read.
RunCheckpoint at_checkpoint(Checkpoint checkpoint, const std::string& path);

}  // namespace normscope
