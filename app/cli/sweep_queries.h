// SPDX-License-Identifier: GPL-3.0-or-later
// What `sweep` prints without training.
#pragma once

#include "core/sweep/sweep_shard.h"
#include "core/sweep/sweep_spec.h"

#include <optional>
#include <string>
#include <vector>

namespace normscope::app {

/// Prints the command of run `number` (from 1, as recordings are numbered), or of every run of the shard, a
/// line each, and writes sweep.json and recipe.json, which they need, into `out`. Commands may run in any
/// order and again; the sweep with the same `out` takes their recordings as its own. Throws InputError for a
/// number that is none and a sweep that chooses values.
void list_commands(const SweepSpec& spec, const std::string& out, const SweepShard& shard,
                   const std::optional<std::string>& number);

/// Prints what the folders of a sweep, or of its shards, have: a line, or an object in JSON.
void print_status(const std::vector<std::string>& folders, bool json);

}  // namespace normscope::app
