// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// The largest singular values of whole-sequence Jacobians [n·d × n·d] with their error bars, and quantities
/// derived from them. Options: view layers | sublayers | end_to_end | stable_rank | alignment | lyapunov.
PanelInfo spectraPanel();
Figure buildSpectra(const PanelInput& input);

}  // namespace normscope::widgets
