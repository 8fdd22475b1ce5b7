// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/figure.h"

#include <vector>

namespace normscope::widgets {

/// Whether the maps of these plots have the same rows and columns, so that they can share their axes.
bool sameShape(const std::vector<Plot>& plots);

}  // namespace normscope::widgets
