// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/findings/findings.h"
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
    Progress(bool json, std::int64_t steps);
    void begin(const std::string& name, const std::string& path, std::int64_t first_step);
    /// The rows of a run that continues, or had ended before: the last loss is theirs until a step is shown.
    void recorded(const RunData& history);
    void show(const RunDelta& delta);
    void show(const RunEvent& event);
    void note(const std::string& text);
    /// `findings`: of the recording; in JSON alone.
    void end(const Outcome& outcome, std::int64_t steps_done, const std::string& path,
             const std::vector<Finding>& findings);

  private:
    void show_json(const RunDelta& delta) const;
    void show_step(const StepRecord& record);

    const bool json_, terminal_;
    const std::int64_t steps_;
    bool bar_open_ = false;
    std::string last_loss_ = "—";
    std::chrono::steady_clock::time_point shown_{};
};

}  // namespace normscope::app
