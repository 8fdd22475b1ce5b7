// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/depth_figure.h"

#include <optional>

namespace normscope::widgets {

/// Gradient norms by depth, of the held-out batch, with the ratio of layer 1 to layer D of each run.
/// Options: quantity hidden | tokens (median and quartiles) | scaled (‖h‖·‖∂L/∂h‖) | params | factors
/// (gradient_factors.h; by depth only); x depth | step.
PanelInfo gradientsPanel();
Figure buildGradients(const PanelInput& input);

/// A value of the option `quantity`.
struct GradientQuantity {
    QString name;  ///< on the axis
    QString formula;
    const char* of;  ///< in a sentence
};
GradientQuantity gradientQuantity(const std::string& option);
/// Of hidden, scaled or params; nullopt where the sample lacks it.
std::optional<Profile> gradientProfile(const ProbeResult& sample, const std::string& option);
/// Both panels'.
void nameGradientSource(Figure& figure);

/// ‖∂L/∂h‖ at the output of layer 1 over that at the output of layer D, from a sample of the gradients probe.
/// Nullopt where the sample lacks `hidden` or D < 2; NaN or Inf where the quotient is.
std::optional<double> gradientRatio(const ProbeResult& sample);

}  // namespace normscope::widgets
