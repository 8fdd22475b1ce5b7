// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run.h"

#include <chrono>
#include <memory>
#include <string>

namespace normscope {

/// The files of one run under way: its recording and the live checkpoints beside it. A checkpoint is written
/// after everything that was added before it has been flushed: killed at any moment, the rows reach at least
/// as far as the newest checkpoint, and a resumed run has no hole. All calls come from the one thread that
/// owns HDF5.
///
/// Every method throws SystemError where the disk refuses, and InputError where a delta does not fit the
/// recording.
class Recording final : public RunSink {
  public:
    /// `header` with rows is a run that continues: they are written first. The file appears with the first
    /// samples or rows, whose shapes it must know before.
    Recording(std::string path, std::shared_ptr<const RunData> header);

    void add(const RunDelta& delta) override;
    /// The one of step 0 is kept beside the others.
    void save(const std::shared_ptr<const Checkpoint>& checkpoint) override;
    /// Says that this process lives; add() does it too. To be called about once a second where a run may
    /// pause.
    void heartbeat();
    void close();
    /// Ends the recording with an outcome that the run itself did not report, as far as the disk lets it: the
    /// first error is the one to report.
    void abandon(Outcome outcome) noexcept;

    const std::string& path() const { return path_; }
    /// The last row that was added; -1 before.
    std::int64_t last_step() const { return last_step_; }

  private:
    void open(const RunDelta& delta);

    std::string path_;
    std::shared_ptr<const RunData> header_;  ///< let go when the file is open
    std::unique_ptr<Recorder> recorder_;
    CheckpointPair checkpoints_;
    RunDelta waiting_;  ///< what came before the file
    std::int64_t last_step_ = -1;
    std::chrono::steady_clock::time_point last_beat_ = std::chrono::steady_clock::now();
};

}  // namespace normscope
