// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/fragility.h"

#include "core/base/nan.h"

#include <cmath>

namespace normscope {

double norm_condition_v1(double variance, double eps) {
    if (!(eps > 0)) return kNaN;
    return std::sqrt(variance / eps) + variance / eps + 1;
}

double norm_factor_v2(double variance, double eps) {
    return (eps + 2 * variance) / std::pow(variance + eps, 1.5);
}

double residual_growth(double attention, double feed_forward, bool parallel) {
    return attention + feed_forward * (parallel ? 1 : 1 + attention);
}

}  // namespace normscope
