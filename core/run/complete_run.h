// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/experiment.h"

#include <atomic>
#include <string>

namespace normscope {

/// Trains a recipe to its end in memory: no recording, no checkpoints. Throws InputError where it cannot be
/// built, Cancelled between steps, and what a step throws.
RunData complete_run(Recipe recipe, const std::string& name, ThreadPool& pool, Corpora* corpora = nullptr,
                     Device& device = cpu_device(), const std::atomic<bool>* cancel = nullptr);

/// How a run ended, for a table: over its last 20 recorded steps.
struct FinalValues {
    std::int64_t rows = 0;  ///< recorded steps; without any the values are NaN
    double loss = 0;        ///< mean, nat
    double loss_error = 0;  ///< its standard error, from the scatter of these steps; NaN below 2
    double gradient = 0;    ///< median of ‖∂L/∂h‖ after layer 1 over that after the last, finite ones
};
FinalValues final_values(const RunData& run);

}  // namespace normscope
