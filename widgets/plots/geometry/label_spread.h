// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace normscope::widgets {

/// Moves labels of one height apart so that none overlap, each as near to its wanted position as possible
/// (least squares), all between `top` and `bottom` while they fit. `wanted` and the result are label centres.
std::vector<double> spreadLabels(const std::vector<double>& wanted, double height, double top, double bottom);

}  // namespace normscope::widgets
