// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/transformer.h"
#include "core/recipe/recipe.h"
#include "core/session/checkpoint.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace normscope::app {

/// "RUN.h5@120" -> "RUN.h5", 120; without a step, or where the whole is a file's name, just the path.
std::pair<std::string, std::optional<std::int64_t>> split_step(const std::string& text);

/// A run at one of its checkpoints.
struct RunCheckpoint {
    Recipe recipe;  ///< the run's own, completed for evaluation
    Checkpoint checkpoint;
    Numerics numerics;  ///< Δt, τ and ε at that step: knobs may move during a run
};

/// The run in the state of a checkpoint; `path` begins a message.
RunCheckpoint at_checkpoint(Checkpoint checkpoint, const std::string& path);

/// The checkpoint of a step, in the session or next to the recording; the newest where no step is given.
/// `run` is needed where the session holds several. InputError names the steps and runs there are.
RunCheckpoint read_run_checkpoint(const std::string& path, const std::string& run,
                                  std::optional<std::int64_t> step);

}  // namespace normscope::app
