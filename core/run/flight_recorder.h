// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/recording_schema.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace normscope {

/// Per-step quantities, kept for the last 64 steps in memory and written on events: the group
/// `flight` of a recording, with the arrays rms and gradient [2D+1], both on the training batch, which the
/// step computes anyway. A probe's series is on the held-out batch and at its own steps.
class FlightRecorder {
  public:
    static constexpr const char* kId = "flight";
    static constexpr std::size_t kSteps = 64;

    /// After a step: the RMS of every hidden state h_k, and ‖∂L/∂h_k‖_F in nat, before its update. Steps
    /// ascend.
    void add(std::int64_t step, std::vector<double> rms, std::vector<double> gradient);
    /// Removes and returns the stored steps, oldest first, as samples of the group.
    std::vector<ProbeResult> take();

    static ProbeSchema schema(int depth);

  private:
    std::deque<ProbeResult> stored_;
};

}  // namespace normscope
