// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/recipe/recipe.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace normscope::app {

struct TrainOptions {
    std::string recipe, out, weights, backend = "auto", probes, only, json_settings, ranks;
    std::vector<std::string> settings, watch;
    int steps = -1, threads = 0, report_every = 0;
    double max_seconds = 0;
    bool sum_by_rank = false, shard_optimizer = false, resume = false, json = false, stop_at_watch = false,
         diverged_ok = false;
};

/// The options of `train`, which outlive the command.
void add_train_options(CLI::App& command, TrainOptions& options);

/// The recipe of the command line, not completed.
Recipe read_options(const TrainOptions& options);

}  // namespace normscope::app
