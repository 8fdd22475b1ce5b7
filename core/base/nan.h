// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <limits>

namespace normscope {

/// Of a quantity that is not defined or was not measured.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace normscope
