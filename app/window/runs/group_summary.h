// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/outcome.h"

#include <QString>
#include <cstdint>
#include <vector>

namespace normscope::widgets {
struct RunGroup;
}

namespace normscope::app {

class Lab;

/// What the runs of a group reached at the shown step, without one at the last step of the group: the median
/// of their losses there, the lowest and the highest, and how many of them have which outcome. A run that
/// ended before, or whose loss is not finite, is missing in these values; `range` counts the others. Before
/// training the losses are those of the probes' held-out batch, from the probe `gradients`.
struct GroupSummary {
    QString name;                    ///< "Post-LN ×3"
    std::int64_t step = -1;          ///< of the losses; -1 before training
    bool draft = false;              ///< before training: one of them is a first estimate
    QString loss;                    ///< "2.87"; empty where no run has one
    QString range;                   ///< "2.86 – 2.88"; of fewer runs than the group has, their number too
    QString held_out;                ///< in training: a line on the runs' newest held-out losses, or empty
    std::vector<RunState> outcomes;  ///< of each run, in their order
    QString outcome;                 ///< "2 of 3 stalled", "3 finished"
};
GroupSummary groupSummary(const Lab& lab, const widgets::RunGroup& group);

/// All runs of the comparison, in a line each: "18 runs in 6 groups", "14 finished, 4 stalled".
QString groupTotal(const Lab& lab);
QString outcomeTotal(const Lab& lab);

}  // namespace normscope::app
