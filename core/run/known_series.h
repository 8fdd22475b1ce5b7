// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace normscope {

/// The series of a resumed run: a recording cannot change them, and one of another version has other ones
/// than this version measures. Its series continue in their order; additional ones are skipped, and those no
/// longer measured (or in another shape) are NaN.
class KnownSeries {
  public:
    explicit KnownSeries(const RunData& history);

    /// Converts the record's columns to those of the run.
    void fit(StepRecord& record) const;
    /// Converts the result's arrays to those of the run. The first time for each probe whose arrays had to
    /// change, an event that names them is added to `events`.
    void fit(ProbeResult& result, std::vector<RunEvent>& events);

  private:
    std::vector<std::string> columns_;
    std::map<std::string, std::vector<NamedArray>> arrays_;  ///< by probe, of its first sample
    std::set<std::string> reported_;
};

}  // namespace normscope
