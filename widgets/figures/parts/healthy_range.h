// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/depth_figure.h"

namespace normscope::widgets {

/// Below a plot over the depth the band of the healthy runs (PanelInput::healthy): of the step of the first
/// own sample that has one. `array` is what `profile` reads, entry by entry.
void addHealthyRange(Plot& plot, const PanelInput& input, const std::string& probe, const std::string& array,
                     const ProfileOf& profile);

/// The same over the steps, of a column of the step table.
void addHealthySteps(Plot& plot, const PanelInput& input, const std::string& column);

}  // namespace normscope::widgets
