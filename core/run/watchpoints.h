// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/probe/interface/probe_result.h"
#include "core/recipe/recipe.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace normscope {

/// The kinds of a run's events: a watchpoint has triggered ("grad_norm 153 > 100"), or the list was changed
/// during the run ("watches loss < 2").
inline constexpr const char* kWatchEvent = "watch";
inline constexpr const char* kWatchesEvent = "watches";

/// InputError names the entry of `watch` that this recipe cannot measure: entropy without the probe
/// `attention`. The recipe's probes are completed.
void validate_watch(const Recipe& recipe);

/// The values of one step. What a step did not measure is empty.
struct WatchedStep {
    double loss = 0, grad_norm = 0, grad_ratio = 0;
    std::span<const double> hidden_rms;      ///< [2D+1]
    const ProbeResult* attention = nullptr;  ///< its sample at this step; null: none
};

/// The watchpoints of a run, and which of them have triggered. One triggers at the first step at which its
/// condition holds; it triggers again only after a step that measured the other side. NaN is on neither side.
/// It reads each step in order, and nothing else of a run: a run with watchpoints computes what a run
/// without them does.
class Watchpoints {
  public:
    explicit Watchpoints(std::vector<WatchSpec> list = {});

    const std::vector<WatchSpec>& list() const { return list_; }
    bool empty() const { return list_.empty(); }
    /// Another list. One that was in the old list remains as it was; the others have not triggered.
    void set(std::vector<WatchSpec> list);

    /// One more step: a line for each watchpoint that triggers, with the value.
    std::vector<std::string> add(const WatchedStep& step);

    /// Of each of list(): 1 where it has triggered and the other side was not seen since; for checkpoints.
    std::vector<std::int64_t> state() const { return inside_; }
    /// Takes the state of another list's entries (`list` and its state(), equally long) where they are the
    /// same.
    void restore(const std::vector<WatchSpec>& list, const std::vector<std::int64_t>& state);

  private:
    std::vector<WatchSpec> list_;
    std::vector<std::int64_t> inside_;  ///< of each
};

}  // namespace normscope
