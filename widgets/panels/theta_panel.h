// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

namespace normscope::widgets {

/// Softmax sensitivity θ per layer and head, a map per run side by side. The number in a tile is the share of
/// attention rows with θ < 0.99; the colour is log₁₀(1 − θ) of the chosen quantity, or that share. A tile
/// whose 1 − θ is within the certificate's width can not be told from 1 and is neutral. Options: quantity
/// mean | max | below_099.
PanelInfo thetaPanel();
Figure buildTheta(const PanelInput& input);

}  // namespace normscope::widgets
