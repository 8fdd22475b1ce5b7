// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/lab_run.h"

#include <QString>
#include <map>
#include <string>

namespace normscope::app {

/// How long a training will take, with its probes: from the fastest measurement known of a stack of these
/// sizes, so that the answer for one comparison does not change with what else the machine did meanwhile.
/// Before a run of these sizes has trained, a step takes as long as its operations take in the probes of step
/// 0, which may have fewer threads: on more than two cores it is then shorter.
class TrainingTime {
  public:
    /// Takes in what a run's probes at step 0 cost, or, once it has ended, how fast its steps were. Whether
    /// the answer for a run that is not trained is another one now.
    bool note(const LabRun& run);
    /// Of all steps of a recipe; 0 where nothing like it was measured.
    double seconds(const Recipe& recipe) const;

  private:
    struct Known {
        double operation_s = 0;  ///< of an operation of the probes at step 0; 0: none was measured
        double sequence_s = 0;   ///< of a training step, for each of its sequences; 0: none has run
    };
    std::map<std::string, Known> known_;  ///< by the sizes of the stack
};

/// "15 s", "58 min", "3 h", as coarse as the estimate is; empty for 0.
QString durationText(double seconds);

}  // namespace normscope::app
