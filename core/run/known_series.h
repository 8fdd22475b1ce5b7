// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace normscope {

/// The series that a run has which goes on: a recording can not change them, and one of another version has
/// other ones than this version measures. What it has goes on in its order; what is measured besides is left
/// out, and what is not measured (any more, or in another shape) is NaN.
class KnownSeries {
  public:
    explicit KnownSeries(const RunData& history);

    /// Makes the record's columns those of the run.
    void fit(StepRecord& record) const;
    /// Makes the result's arrays those of the run. The first time for each probe whose arrays had to change,
    /// an event that names them is added to `events`.
    void fit(ProbeResult& result, std::vector<RunEvent>& events);

  private:
    std::vector<std::string> columns_;
    std::map<std::string, std::vector<NamedArray>> arrays_;  ///< by probe, of its first sample
    std::set<std::string> told_;
};

}  // namespace normscope
