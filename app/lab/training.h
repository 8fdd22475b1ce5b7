// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/comparison.h"
#include "app/lab/engine/frame.h"
#include "app/lab/exploration.h"

#include <vector>

namespace normscope::app {

/// The state of training: the training start of each run, and the application of the engine's frames. Every
/// start has a token in its runs and their frames; a frame of another start (the run was undone, forked,
/// restarted, or is one of another session with the same id) is dropped.
class Training {
  public:
    /// Starts these runs: sets the returned token in their plans and in the runs.
    std::uint64_t begin(Comparison& now, std::vector<RunPlan>& plans);
    /// A start that the engine rejected; its runs are as before. False if none of them is left.
    bool rejected(std::uint64_t token, Comparison& now);

    /// Appends a frame; `shown` are the probes shown, `explored` the newest request to measure.
    Changes take(const Frame& frame, Comparison& now, const std::vector<std::string>& shown,
                 std::uint64_t explored);

    bool playing() const { return playing_; }
    void setPlaying(bool playing) { playing_ = playing; }
    double stepMs() const { return step_ms_; }
    double probeOverhead() const { return probe_overhead_; }
    const DeviceUse& deviceUse() const { return device_use_; }

  private:
    void applyRun(const RunFrame& part, LabRun& run, const std::vector<std::string>& shown,
                  std::uint64_t explored, Changes& changes);

    std::uint64_t token_ = 0;
    bool playing_ = false;
    double step_ms_ = 0, probe_overhead_ = 0;
    DeviceUse device_use_;
};

}  // namespace normscope::app
