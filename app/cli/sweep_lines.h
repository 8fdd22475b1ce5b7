// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sweep/sweep.h"

#include <string>

namespace normscope::app {

/// What happens in a sweep, a line on stdout for each run; failed runs on stderr too.
class SweepLines final : public SweepWatcher {
  public:
    explicit SweepLines(std::string folder) : folder_(std::move(folder)) {}
    void begun(const SweepCount& count) override;
    void ended(const SweepRun& run, const SweepRow& row, const Outcome& outcome,
               const SweepCount& count) override;
    void chose(const SweepSpec& spec, const ChosenValues& chosen) override;
    void note(const std::string& line) override;

  private:
    std::string folder_;
};

/// "42 s", "7 min", "1.5 h".
std::string duration_text(double seconds);

}  // namespace normscope::app
