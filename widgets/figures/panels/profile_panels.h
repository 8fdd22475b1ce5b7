// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// Panels that draw one array of one probe along the depth or over the steps, where it has one with its bound
/// above. Options of each: quantity, x depth | step; of Weight norms also matrix.

PanelInfo lipschitzPanel();   ///< largest gains found, Lipschitz bounds above them; G_ℓ and S_ℓ
PanelInfo gatesPanel();       ///< GPAS: α, act(α), 1 − act(α)
PanelInfo weightsPanel();     ///< norms and stable rank of the weight matrices
PanelInfo importancePanel();  ///< loss change without a branch
PanelInfo shiftPanel();       ///< W₂ and variance over inputs with their bounds
PanelInfo pathsPanel();       ///< ‖J‖, ‖ΣJ_k‖ and the remainder

}  // namespace normscope::widgets
