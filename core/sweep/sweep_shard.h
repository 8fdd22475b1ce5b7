// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sweep/sweep_results.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace normscope {

/// Runs i, i + n, i + 2n, … of a sweep, i from 1: "2/3".
struct SweepShard {
    std::size_t index = 1, count = 1;
    bool has(std::size_t run) const { return run % count == index - 1; }
    bool operator==(const SweepShard&) const = default;
};

/// InputError for anything but i/n with 1 ≤ i ≤ n.
SweepShard parse_shard(const std::string& text);

/// A variable of the environment; null where it is not set.
using Environment = std::function<const char*(const char* name)>;

/// The shard of this process by what its launcher set: the task of a Slurm array (SLURM_ARRAY_TASK_ID, _MIN,
/// _MAX, _STEP), else the rank of Open MPI (OMPI_COMM_WORLD_RANK, _SIZE), of PMI (PMI_RANK, PMI_SIZE: MPICH,
/// Intel MPI) or of a Slurm step (SLURM_PROCID, SLURM_STEP_NUM_TASKS). Throws InputError where there is none
/// of them, where one is no number, and for an array with a limit or gaps that leaves no even parts.
SweepShard launched_shard(const Environment& environment);

/// The folder of a shard that shares `out` with the others: "out/shard-2-of-8".
std::string shard_folder(const std::string& out, const SweepShard& shard);

/// `folder`, or, where it is no sweep's own, those of the shards in it, in order; `folder` where there are
/// none.
std::vector<std::string> sweep_folders(const std::string& folder);

/// A sweep as it is in a folder, or in the shards in it: the rows of all, each run once (a result before a
/// failure), recordings relative to `folder`. Reads only, also while other processes write. A results.csv
/// that cannot be read is a line in `problems`. Throws InputError where there is no sweep, and for shards of
/// different ones.
SweepResults read_shards(const std::string& folder, std::vector<std::string>& problems);

}  // namespace normscope
