// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sweep/sweep_folder.h"
#include "core/sweep/sweep_results.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <vector>

namespace normscope {

/// Writes results.csv of a folder as its rows become more: of many runs that take milliseconds the table
/// would take most of the time if each of them wrote it; here at most one part in 20. All outlive it; one
/// call at a time.
class ResultsWriter {
  public:
    ResultsWriter(const SweepFolder& folder, const SweepSpec& spec, const std::vector<SweepRun>& runs,
                  bool timed)
        : folder_(folder), spec_(spec), runs_(runs), timed_(timed) {}

    /// By the index of the run.
    std::map<std::size_t, SweepRow> rows;

    /// Now. Returns false where the file was this text already. Throws SystemError.
    bool write();
    /// Now, or with a later row; the last one is written at once.
    void write_in_time(bool last);
    /// Whether there are rows since the last writing.
    bool waiting() const { return waiting_; }

  private:
    using Clock = std::chrono::steady_clock;
    const SweepFolder& folder_;
    const SweepSpec& spec_;
    const std::vector<SweepRun>& runs_;
    const bool timed_;
    Clock::time_point written_{};
    Clock::duration took_{};  ///< the last writing
    bool waiting_ = false;
};

}  // namespace normscope
