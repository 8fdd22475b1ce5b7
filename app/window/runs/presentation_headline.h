// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lab/engine/lab_run.h"

#include <QString>
#include <vector>

namespace normscope::app {

class Lab;

/// One sentence on what was measured at the step shown: a failure at or before it, else the gradient after
/// layer 1 over that after the last one, of the run where it is farthest from 1. Empty where no run has it.
QString presentationHeadline(const Lab& lab);

/// The newest step up to the shown one that all runs in training have, since one may be a step ahead of
/// another: their numbers are compared at it. -1 where no run has a step.
qint64 commonStep(qint64 shown, const std::vector<LabRun>& runs);

}  // namespace normscope::app
