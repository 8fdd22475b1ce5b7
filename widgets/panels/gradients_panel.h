// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

#include <optional>

namespace normscope::widgets {

/// Gradient norms by depth, of the held-out batch, with the ratio of layer 1 to layer D of each run.
/// Options: quantity hidden | scaled (‖h‖·‖∂L/∂h‖) | params | factors (gradient_factors.h; by depth only); x
/// depth | step.
PanelInfo gradientsPanel();
Figure buildGradients(const PanelInput& input);

/// ‖∂L/∂h‖ at the output of layer 1 over that at the output of layer D, from a sample of the gradients probe.
/// Nullopt where the sample lacks `hidden` or D < 2; NaN or Inf where the quotient is.
std::optional<double> gradientRatio(const ProbeResult& sample);

}  // namespace normscope::widgets
