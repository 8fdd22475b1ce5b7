// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace normscope::app {

class Lab;

/// One sentence on what was measured at the step shown: a failure at or before it, else the gradient after
/// layer 1 over that after the last one, of the run where it is farthest from 1. Empty where no run has it.
QString presentationHeadline(const Lab& lab);

}  // namespace normscope::app
