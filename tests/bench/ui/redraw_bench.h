// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace normscope::app::bench {

/// A figure of that many curves, shown with new values time after time in a view of 580 × 360: from the
/// figure to the end of its paint, ms each. Interface thread, with a screen.
std::vector<double> redrawTimes(int curves, int points, int times);

}  // namespace normscope::app::bench
