// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/figure.h"

#include <optional>
#include <utility>

namespace normscope::widgets {

using Range = std::pair<double, double>;

/// What an axis of this scale is even in: x, log₁₀ x or log₂(1 + x). NaN where the scale has no place for x.
double toEven(Scale scale, double value);
double fromEven(Scale scale, double even);
/// Whether an axis of this scale has a place for the value: finite, > 0 on Log, > −1 on Log1p.
bool hasPlace(Scale scale, double value);

/// Maps data to pixels along one axis. `low` and `high` are data values at the pixels `from` and `to`. A
/// value for which the scale has no place (on a log axis a non-positive one) maps to NaN, so it becomes a
/// gap.
struct AxisMap {
    double low = 0, high = 1;
    Scale scale = Scale::Linear;
    double from = 0, to = 1;

    double toPixel(double value) const;
    double toValue(double pixel) const;
};

/// AxisMap::toPixel, the same bits, for many values: what depends on the axis alone is evaluated once.
class PixelScale {
  public:
    explicit PixelScale(const AxisMap& axis);
    double operator()(double value) const {
        if (scale_ == Scale::Linear) return from_ + length_ * ((value - low_) / span_);
        return uneven(value);
    }

  private:
    double uneven(double value) const;

    Scale scale_;
    double from_, length_;
    double low_;   ///< of the axis, even but on Log
    double span_;  ///< between its ends, even; on Log natural logarithms
};

/// The range of an axis when nothing fixes it: the extent of the plot's curves, bands, stems and lines, with
/// 5 % margin (of its length on the axis), zero span widened. Non-finite values, and values ≤ 0 on a log
/// axis, are skipped. Bounds extend a y axis only while they are near: a factor of ten on a log axis, one
/// span on a linear one. Where `x_view` is given, a y range covers only the points inside it, so that y
/// follows a zoom in x. An axis that covers more (Axis::covers) shows that too. A y range is at least one and
/// a half decades, or a fifth of its largest magnitude on a linear axis, so that noise is no cliff.
Range xRange(const Plot& plot);
Range yRange(const Plot& plot, std::optional<Range> x_view = std::nullopt);
/// The extents without margin, least range and what the axes cover; nullopt without a value, and of maps.
std::optional<Range> xExtent(const Plot& plot);
std::optional<Range> yExtent(const Plot& plot);

/// Whether an axis can show this range: low < high, a finite span, low > 0 on a log axis, low > −1 on Log1p.
bool isUsable(const Range& range, Scale scale);

}  // namespace normscope::widgets
