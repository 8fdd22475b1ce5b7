// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/device.h"
#include "core/sweep/sweep_choice.h"
#include "core/sweep/sweep_results.h"
#include "core/sweep/sweep_shard.h"
#include "core/sweep/sweep_work.h"

#include <cstddef>
#include <functional>
#include <string>

namespace normscope {

struct SweepOptions {
    std::string folder;
    SweepShard shard;
    /// Runs at a time, each with an equal part of the threads and, on a card, in a lane of its own
    /// (Device::lane); 0: as many as there are threads. Results do not depend on it.
    int jobs = 0;
    /// On a card: runs of equal stacks share the launches of their steps (Device::replicas). Results do not
    /// depend on it.
    bool replicas = false;
    int threads = 0;            ///< of all jobs together; 0: one per core
    bool timed = true;          ///< false: the column `seconds` is empty
    bool keep_weights = false;  ///< each session keeps its run's last checkpoint
    /// Of runs that have ended, and whose recordings are elsewhere: they are not trained again.
    std::vector<SweepRow> known;
    /// Polled before every step, from several threads; true: the sweep stops, and can be continued.
    std::function<bool()> stop;
    /// Executes the calls to HDF5; empty: under a lock of the sweep's own.
    FileCalls files;
};

/// How far a sweep, or its shard, is.
struct SweepCount {
    std::size_t ended = 0, total = 0;
    double remaining_seconds = -1;  ///< by the operations of the runs left; −1 before the first run ended
};

/// What happens in a sweep. Called from its threads, one call at a time.
class SweepWatcher {
  public:
    virtual ~SweepWatcher() = default;
    /// Runs of earlier calls are done already.
    virtual void begun(const SweepCount&) {}
    /// This run is trained from now on.
    virtual void started(const SweepRun&) {}
    /// A row of results.csv, which is written now or, in a sweep of many short runs, soon. `outcome` has the
    /// reason of the state.
    virtual void ended(const SweepRun&, const SweepRow&, const Outcome&, const SweepCount&) {}
    /// An arm's values, once every run that chooses has ended (SweepSpec::choice).
    virtual void chose(const SweepSpec&, const ChosenValues&) {}
    /// Something to tell that changes no result, one line.
    virtual void note(const std::string&) {}
};

/// How a sweep ended.
struct SweepEnd {
    bool stopped = false;  ///< by SweepOptions::stop
    SweepCount count;
    std::vector<SweepRow> rows;  ///< of the whole folder, in the order of the grid
};

/// Trains the runs of a sweep, or of one shard, that its folder has no results of yet. A run that was
/// interrupted, also by kill -9, continues from its last checkpoint; one that failed is tried again. A run
/// that diverges, stalls or fails is a row. Rows depend on the specification alone, up to `seconds`: not on
/// jobs, threads, shards, interruptions.
///
/// Throws InputError, before the first step, for a specification that is not valid and a folder that cannot
/// be used (SweepFolder), and for a shard of a sweep that chooses values; SystemError where a file cannot be
/// written: the other runs are then interrupted with a checkpoint, and the same call continues the sweep.
SweepEnd run_sweep(const SweepSpec& spec, Device& device, const SweepOptions& options, SweepWatcher& watcher);

}  // namespace normscope
