// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run.h"
#include "core/session/run_data.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace normscope {

/// Executes work on HDF5 files: in the thread that owns HDF5, or one at a time under a lock. Returns when it
/// is done; exceptions of the work propagate.
using FileCalls = std::function<void(const std::function<void()>&)>;

/// A run to be trained into a recording, or continued from what there is.
struct RecordedRun {
    Recipe recipe;  ///< completed and validated
    std::string name, path;
    std::shared_ptr<const Corpus> corpus;
    bool keep_weights = false;  ///< the last checkpoint stays in the session
    /// A run that has its result before this time is not recorded while it trains.
    std::chrono::milliseconds unrecorded{100};
};

/// What became of it.
struct RecordedEnd {
    Outcome outcome;
    RunData recorded;  ///< without rows where nothing was recorded
    bool has_recording = false;
    std::string note;  ///< why it did not continue from what there was; empty: no reason to tell
};

/// Trains one run to its end, or until `stop` returns true: it is then interrupted with a checkpoint and
/// continues at the next call, with the bits of an uninterrupted run. It is recorded while it trains, unless
/// it has its result at once (RecordedRun::unrecorded): then its session alone is written. A recording that
/// cannot be read, or has only damaged checkpoints, is renamed to *.h5.damaged and the run trained again. An
/// error of training, the device included, is an outcome (failed, with its message). An error of the files is
/// thrown: SystemError (a full disk), after the recording was closed as far as possible. `pool` is called
/// before every step.
RecordedEnd train_recorded(RecordedRun run, Device& device, const std::function<ThreadPool&()>& pool,
                           const std::function<bool()>& stop, const FileCalls& files);

}  // namespace normscope
