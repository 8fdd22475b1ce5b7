// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/error_band.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

namespace {

constexpr double kStrength = 0.2;
/// Half the width of a line of 2 px in a plot 300 px high: of the range on a linear axis, and as a relative
/// error on a log axis of one and a half decades, the shortest there is.
constexpr double kHalfLine = 1.0 / 300, kHalfLineOnLog = 0.0115;
constexpr double kMaxOnLog = 10;  // wider errors would set the range

}  // namespace

void addErrorBand(Plot& plot, const Curve& curve) {
    if (curve.y_error.size() != curve.y.size() || curve.x.size() != curve.y.size()) return;
    const bool log = plot.y.scale == Scale::Log;
    double low = INFINITY, high = -INFINITY;
    for (const double y : curve.y) {
        if (!std::isfinite(y)) continue;
        low = std::min(low, y);
        high = std::max(high, y);
    }
    Band band;
    band.name = curve.name + " ± error";
    band.role = curve.role;
    band.x = curve.x;
    band.strength = kStrength;
    band.step = curve.step;
    band.is_error = true;
    bool wide = false;
    for (std::size_t i = 0; i < curve.y.size(); ++i) {
        const double y = curve.y[i], error = curve.y_error[i];
        const bool defined = std::isfinite(y) && std::isfinite(error) && (!log || y > 0);
        const double factor = log && defined ? std::min(std::exp(error / y), kMaxOnLog) : 1;
        band.low.push_back(!defined ? kNaN : log ? y / factor : y - error);
        band.high.push_back(!defined ? kNaN : log ? y * factor : y + error);
        if (defined) wide |= log ? error > kHalfLineOnLog * y : error > kHalfLine * (high - low);
    }
    if (wide) plot.bands.push_back(std::move(band));
}

}  // namespace normscope::widgets
