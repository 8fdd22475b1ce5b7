// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/lab_run.h"

namespace normscope::app {

/// How many steps a run that has ended at its last step can train more: as many as were planned at first. 0
/// where it has not, diverged, is of another process or a reference, has no checkpoint of its end, or waits
/// for new knobs.
int furtherSteps(const LabRun& run);

/// Plans `total` steps, from the last row of `history`, the run's, on: their recipes, and a line among the
/// events.
void planSteps(LabRun& run, RunData& history, int total);

/// Plans as many steps as its data were planned with, where no more could be trained.
void planRecordedSteps(LabRun& run);

}  // namespace normscope::app
