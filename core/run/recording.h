// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run.h"

#include <chrono>
#include <memory>
#include <string>

namespace normscope {

/// The files of a live run: its recording and its live checkpoints. A checkpoint is written after all earlier
/// rows were flushed: after a kill at any time, the rows reach at least as far as the newest checkpoint, and
/// a resumed run has no gap. All calls are made by the one thread that owns HDF5.
///
/// Every method throws SystemError where writing fails, and InputError where a delta does not match the
/// recording.
class Recording final : public RunSink {
  public:
    /// `header` with rows is a run that continues: they are written first. The file appears with the first
    /// samples or rows, which define the shapes.
    Recording(std::string path, std::shared_ptr<const RunData> header);

    void add(const RunDelta& delta) override;
    /// That of step 0 is kept in addition to the others.
    void save(const std::shared_ptr<const Checkpoint>& checkpoint) override;
    /// Marks this process as alive; add() does so too. Call about once a second where a run may pause.
    void heartbeat();
    void close();
    /// Ends the recording with an outcome that the run did not report, ignoring further errors: the first one
    /// is reported.
    void abandon(const Outcome& outcome) noexcept;

    const std::string& path() const { return path_; }
    /// The last row that was added; -1 before.
    std::int64_t last_step() const { return last_step_; }

  private:
    void open(const RunDelta& delta);

    std::string path_;
    std::shared_ptr<const RunData> header_;  ///< released when the file is open
    std::unique_ptr<Recorder> recorder_;
    CheckpointPair checkpoints_;
    RunDelta waiting_;  ///< deltas before the file exists
    std::int64_t last_step_ = -1;
    std::chrono::steady_clock::time_point last_heartbeat_ = std::chrono::steady_clock::now();
};

}  // namespace normscope
