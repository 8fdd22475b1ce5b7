// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/run_data.h"
#include "widgets/figures/figure.h"

#include <string>
#include <vector>

namespace normscope::widgets {

/// Adds a flag for each change of a knob in a run's events ("Δt 1 → 0.2, clip 1 → 2" has two) at or after
/// `from`; the flags of the plot stay in order of steps. A text of another form is one flag as it is.
void addKnobFlags(Plot& plot, const RunData& run, int index, double from);

/// One sentence a run for screen readers: "Post-LN Δt 1→0.2 at step 40"; empty without flags.
QString describedFlags(const Plot& plot);

}  // namespace normscope::widgets
