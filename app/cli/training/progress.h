// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/training/run_result.h"
#include "core/run/experiment.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace normscope::app {

/// Prints progress on stdout: a bar on a terminal, plain lines elsewhere (with every held-out loss, and once
/// a second), or one JSON object a line for other programs.
class Progress {
  public:
    /// report_every: N for the line of every N-th step and of the last one; 0 for the lines above.
    Progress(bool json, std::int64_t report_every);
    /// Of the run.
    void set_steps(std::int64_t steps) { steps_ = steps; }
    void begin(const std::string& name, const std::string& path, std::int64_t first_step);
    /// The rows of a run that continues, or had ended before: the last loss is theirs until a step is shown.
    void recorded(const RunData& history);
    void show(const RunDelta& delta);
    void show(const RunEvent& event);
    void note(const std::string& text);
    /// No notes from now on: another process prints the same.
    void mute() { muted_ = true; }
    /// `result` is what JSON shows, the other arguments what the text shows.
    void end(const Outcome& outcome, std::int64_t steps_done, const std::string& path,
             const RunResult& result);

  private:
    void show_json(const RunDelta& delta) const;
    void show_step(const StepRecord& record);
    bool is_reported(std::int64_t step) const;

    const bool json_, terminal_;
    const std::int64_t report_every_;
    std::int64_t steps_ = 0;
    bool bar_open_ = false, muted_ = false;
    std::string last_loss_ = "—";
    std::chrono::steady_clock::time_point shown_{};
};

}  // namespace normscope::app
