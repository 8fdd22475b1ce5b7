// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/frame.h"
#include "app/lab/state/comparison.h"
#include "app/lab/state/pending.h"

#include <QSet>
#include <QStringList>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace normscope::app {

/// What an answer of the engine changed.
struct Changes {
    QSet<QString> panels;   ///< with new values
    bool runs = false;      ///< names, floors, outcomes
    bool notices = false;   ///< rejections and warnings
    bool results = false;   ///< rows, samples or events of a training
    QStringList problems;   ///< to be reported, one line each
    bool failures = false;  ///< a run has failed
    QStringList watched;    ///< watchpoints that triggered, one line each
};

/// Requests measurements of the current recipes and applies the replies to the runs. While a request waits
/// for its first reply no other is made, and one is made after it: so a drag gets frames at the rate of the
/// engine instead of being starved by newer requests. A reply has the generation of its request; one to an
/// older request, or a duplicate first reply, has no effect.
class Exploration {
  public:
    explicit Exploration(PendingRequests& requests)
        : requests_(requests), asked_(requests, "explore", Pending<Asked>::Replies::OfNewest) {}

    /// Sets the probes shown. True if they require a new request.
    bool setProbes(const std::vector<std::string>& probes, const Comparison& now);
    const std::vector<std::string>& probes() const { return probes_; }

    /// The request after a knob change; nullopt while a first reply is pending or without anything to
    /// measure.
    std::optional<ExploreRequest> request(const Comparison& now);
    /// Whether a delayed request can be made now.
    bool again() const { return again_ && !firstDue(); }

    bool answers(const Frame& frame) { return asked_.find(frame.generation) != nullptr; }
    /// Applies a reply (see answers()) to the runs.
    Changes take(const Frame& frame, Comparison& now);
    /// Marks the newest request as failed. False if it is not the newest.
    bool rejected(std::uint64_t generation);
    /// Starts over with another comparison, whose samples are complete: pending replies do not apply to it.
    void startOver(Comparison& now);

    /// Whether no requested measurement is running.
    bool exact() const { return !asked_.waiting() && !again_; }
    std::uint64_t generation() const { return generation_; }

  private:
    struct Asked {
        bool answered = false;  ///< its first reply has come
    };
    bool firstDue() const { return asked_.waiting() && !asked_.newest()->answered; }
    void applyRun(const RunFrame& part, LabRun& run, const Frame& frame, Changes& changes);

    PendingRequests& requests_;
    Pending<Asked> asked_;
    std::vector<std::string> probes_;
    std::set<std::string> drafts_drawn_;  ///< probes shown as drafts since they were last measured
    std::map<std::string, std::chrono::steady_clock::time_point> measured_at_;  ///< probes, the last time
    std::uint64_t generation_ = 0;
    bool again_ = true;  ///< a request is due: the first one, or one that waits for the first reply
};

/// A run as the engine is to make it.
RunPlan planOf(const LabRun& run);

}  // namespace normscope::app
