// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/number_format.h"
#include "widgets/figures/figure.h"
#include "widgets/figures/parts/panel.h"

namespace normscope::widgets {

/// Of the probe `ranges`, a map a run: kind of place × layer, the distance of the largest magnitude to the
/// format's largest number in binades (powers of two); negative beyond it.
void drawHeadroom(Figure& figure, const PanelInput& input, const NumberFormat& format);

}  // namespace normscope::widgets
