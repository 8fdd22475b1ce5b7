// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/lab_run.h"

#include <QString>
#include <map>
#include <string>

namespace normscope::app {

/// How long a training will take: from the fastest measurement known of a stack of these sizes, so that the
/// answer for one comparison does not change with what else the machine did meanwhile.
class TrainingTime {
  public:
    /// Takes in what a run's probes at step 0 cost, or, once it has ended, how fast its steps were.
    void note(const LabRun& run);
    /// Of all steps of a recipe; 0 where nothing like it was measured.
    double seconds(const Recipe& recipe) const;

  private:
    struct Known {
        std::map<std::string, double> probe_ms;  ///< by probe, of a sequence: the smallest seen
        double step_s = 0;                       ///< of a training step; 0: none has run
    };
    std::map<std::string, Known> known_;  ///< by the sizes of the stack
};

/// "15 s", "58 min", "3 h", as coarse as the estimate is; empty for 0.
QString durationText(double seconds);

}  // namespace normscope::app
