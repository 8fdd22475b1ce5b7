// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/frame.h"
#include "app/lab/state/comparison.h"
#include "app/lab/state/exploration.h"
#include "app/lab/state/pending.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace normscope::app {

/// The state of training: the training start of each run, and the application of the engine's frames. Every
/// start has a token in its runs and their frames; a frame of another start (the run was undone, forked,
/// restarted, or is one of another session with the same id) is dropped.
class Training {
  public:
    /// The data of runs by id.
    using Data = std::map<std::string, std::shared_ptr<RunData>>;

    explicit Training(PendingRequests& requests)
        : starts_(requests, "start", Pending<Data>::Replies::OfEach) {}

    /// Starts these runs: sets the returned token in their plans and in the runs. `before`: the data of runs
    /// that were changed for the start.
    std::uint64_t begin(Comparison& now, std::vector<RunPlan>& plans, Data before = {});
    /// A run that the engine does not start: it is as before. False if the reply is stale.
    bool rejected(std::uint64_t token, const std::string& id, Comparison& now);

    /// Appends a frame; `shown` are the probes shown, `explored` the newest request to measure.
    Changes take(const Frame& frame, Comparison& now, const std::vector<std::string>& shown,
                 std::uint64_t explored);

    bool playing() const { return playing_; }
    void setPlaying(bool playing) { playing_ = playing; }
    // Of all engines that train.
    double stepMs() const;
    double probeOverhead() const;
    DeviceUse deviceUse() const;

  private:
    void applyRun(const RunFrame& part, LabRun& run, const std::vector<std::string>& shown,
                  std::uint64_t explored, Changes& changes);

    std::shared_ptr<RunData> answered(std::uint64_t token, const std::string& id);

    Pending<Data> starts_;  ///< the runs of each start that the engine has not answered, as they were before
    bool playing_ = false;
    struct Rates {
        double step_ms = 0, probe_overhead = 0;
        DeviceUse device;
    };
    std::map<std::uint64_t, Rates> rates_;  ///< by engine, of its newest frame
};

}  // namespace normscope::app
