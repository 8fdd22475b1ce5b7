// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// Every norm site: its gain 1/σ_ε, ε's share of var + ε, or ρ_LN in a short format, as lollipops, and below
/// the share of energy that its null space erases, compared with that of a random gradient. Options: quantity
/// gain | epsilon_share | fp16_rho_ln | bf16_rho_ln; erased backward | forward.
PanelInfo nullSpacePanel();
Figure buildNullSpace(const PanelInput& input);

}  // namespace normscope::widgets
