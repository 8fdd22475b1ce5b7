// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/axis_range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace normscope::widgets {
namespace {

constexpr double kMargin = 0.05;
constexpr double kMinDecades = 1.5, kMinShare = 0.2;  // of a y axis, margins included
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The largest value that the axis cannot show at its lower end.
double underAll(Scale scale) {
    return scale == Scale::Linear ? -kInfinity : scale == Scale::Log ? 0 : -1;
}

/// Smallest and largest of the values an axis can show.
class Extent {
  public:
    explicit Extent(Scale scale) : scale_(scale), under_(underAll(scale)) {}
    void add(double value) {
        if (!(value > under_ && value < kInfinity)) return;
        low_ = std::min(low_, value);
        high_ = std::max(high_, value);
    }
    /// A loop without calls and branches: every redraw reads all values of all curves.
    void add(const std::vector<double>& values) {
        double low = low_, high = high_;
        for (const double value : values) {
            const bool has_place = value > under_ && value < kInfinity;
            low = has_place && value < low ? value : low;
            high = has_place && value > high ? value : high;
        }
        low_ = low, high_ = high;
    }
    bool isEmpty() const { return low_ > high_; }
    double low() const { return low_; }
    double high() const { return high_; }
    void add(const std::optional<Range>& covered) {
        if (covered) add(covered->first), add(covered->second);
    }
    std::optional<Range> range() const {
        return isEmpty() ? std::nullopt : std::optional(Range{low_, high_});
    }
    Range withMargin() const {
        if (isEmpty()) return scale_ == Scale::Log ? Range{0.1, 10} : Range{0, 1};
        if (scale_ == Scale::Log) {
            double a = std::log10(low_), b = std::log10(high_);
            if (b - a < 1e-9) a -= 0.5, b += 0.5;
            const double margin = kMargin * (b - a);
            // Denormals: 10^-324 is zero, which a log axis cannot show.
            return {std::max(std::pow(10.0, a - margin), std::numeric_limits<double>::min()),
                    std::min(std::pow(10.0, b + margin), std::numeric_limits<double>::max())};
        }
        if (scale_ == Scale::Log1p) {
            double a = toEven(scale_, low_), b = toEven(scale_, high_);
            if (b - a < 1e-9) a -= 0.5, b += 0.5;
            const double margin = kMargin * (b - a);
            return {fromEven(scale_, a - margin),
                    std::min(fromEven(scale_, b + margin), std::numeric_limits<double>::max())};
        }
        // A quarter of the largest double keeps the span and its margin finite.
        constexpr double kFar = std::numeric_limits<double>::max() / 4;
        double a = std::max(low_, -kFar), b = std::min(high_, kFar);
        const double size = std::max(std::abs(a), std::abs(b));
        if (b - a <= 1e-12 * size || b == a) {
            const double half = size > 0 ? 0.5 * size : 0.5;
            a -= half, b += half;
        }
        const double margin = kMargin * (b - a);
        return {a - margin, b + margin};
    }

  private:
    Scale scale_;
    double under_, low_ = kInfinity, high_ = -kInfinity;
};

}  // namespace

double toEven(Scale scale, double value) {
    if (scale == Scale::Log) return value > 0 ? std::log10(value) : kNaN;
    if (scale == Scale::Log1p) return value > -1 ? std::log1p(value) / std::numbers::ln2 : kNaN;
    return value;
}

double fromEven(Scale scale, double even) {
    if (scale == Scale::Log) return std::pow(10.0, even);
    return scale == Scale::Log1p ? std::expm1(even * std::numbers::ln2) : even;
}

bool hasPlace(Scale scale, double value) {
    return value > underAll(scale) && value < kInfinity;
}

double AxisMap::toPixel(double value) const {
    return PixelScale(*this)(value);
}

PixelScale::PixelScale(const AxisMap& axis)
    : scale_(axis.scale),
      from_(axis.from),
      length_(axis.to - axis.from),
      low_(scale_ == Scale::Log ? axis.low : toEven(scale_, axis.low)),
      span_(scale_ == Scale::Log ? std::log(axis.high / axis.low) : toEven(scale_, axis.high) - low_) {}

double PixelScale::uneven(double value) const {
    if (scale_ == Scale::Log1p) return from_ + length_ * ((toEven(scale_, value) - low_) / span_);
    return value > 0 ? from_ + length_ * std::log(value / low_) / span_ : kNaN;
}

double AxisMap::toValue(double pixel) const {
    const double t = (pixel - from) / (to - from);
    if (scale == Scale::Log) return low * std::pow(high / low, t);
    const double a = toEven(scale, low), b = toEven(scale, high);
    return fromEven(scale, a + (b - a) * t);
}

namespace {

Extent extentOfX(const Plot& plot) {
    Extent extent(plot.x.scale);
    for (const auto& curve : plot.curves) extent.add(curve.x);
    for (const auto& band : plot.bands) extent.add(band.x);
    for (const auto& stems : plot.stems) extent.add(stems.x);
    for (const auto& mark : plot.frame_marks) extent.add(mark.x);
    for (const auto& line : plot.references) {
        if (line.orientation == Qt::Vertical) extent.add(line.value);
    }
    return extent;
}

Extent extentOfY(const Plot& plot, std::optional<Range> x_view) {
    const auto seen = [&](double x) { return !x_view || (x >= x_view->first && x <= x_view->second); };
    const bool log = plot.y.scale == Scale::Log;
    Extent extent(plot.y.scale);
    for (const auto& curve : plot.curves) {
        if (curve.kind == LineKind::Bound) continue;
        if (!x_view && curve.y.size() <= curve.x.size()) {
            extent.add(curve.y);
            continue;
        }
        for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
            if (seen(curve.x[i])) extent.add(curve.y[i]);
        }
    }
    for (const auto& band : plot.bands) {
        for (std::size_t i = 0; i < std::min({band.x.size(), band.low.size(), band.high.size()}); ++i) {
            if (seen(band.x[i])) extent.add(band.low[i]), extent.add(band.high[i]);
        }
    }
    for (const auto& stems : plot.stems) {
        for (std::size_t i = 0; i < std::min(stems.x.size(), stems.y.size()); ++i) {
            if (seen(stems.x[i])) extent.add(stems.y[i]);
        }
        extent.add(stems.base);
    }
    for (const auto& line : plot.references) {
        if (line.orientation == Qt::Horizontal) extent.add(line.value);
    }
    for (const auto& plateau : plot.plateaus) extent.add(plateau.low), extent.add(plateau.high);

    const Extent measured = extent;
    for (const auto& curve : plot.curves) {
        if (curve.kind != LineKind::Bound) continue;
        const double reach = measured.high() - measured.low();
        for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
            const double y = curve.y[i];
            const bool near =
                measured.isEmpty() || (log ? y >= measured.low() / 10 && y <= measured.high() * 10
                                           : y >= measured.low() - reach && y <= measured.high() + reach);
            if (near && seen(curve.x[i])) extent.add(y);
        }
    }
    return extent;
}

/// Around its middle at least one and a half decades, or a fifth of its largest magnitude.
Range notTooNarrow(Range range, Scale scale) {
    auto& [low, high] = range;
    if (scale == Scale::Log) {
        const double missing = kMinDecades - std::log10(high / low);
        if (!(missing > 0)) return range;
        low = std::max(low * std::pow(10.0, -missing / 2), std::numeric_limits<double>::min());
        // From there on, since low cannot be a denormal.
        high = std::min(std::max(high * std::pow(10.0, missing / 2), low * std::pow(10.0, kMinDecades)),
                        std::numeric_limits<double>::max());
    } else if (scale == Scale::Linear) {
        const double missing = kMinShare * std::max(std::abs(low), std::abs(high)) - (high - low);
        if (missing > 0) low -= missing / 2, high += missing / 2;
    }
    return range;
}

}  // namespace

Range xRange(const Plot& plot) {
    if (!plot.maps.empty()) return {0, std::max(1, plot.maps.front().columns)};
    Extent extent = extentOfX(plot);
    extent.add(plot.x.covers);
    return extent.withMargin();
}

Range yRange(const Plot& plot, std::optional<Range> x_view) {
    if (!plot.maps.empty()) return {0, std::max(1, plot.maps.front().rows)};
    Extent extent = extentOfY(plot, x_view);
    extent.add(plot.y.covers);
    return notTooNarrow(extent.withMargin(), plot.y.scale);
}

std::optional<Range> xExtent(const Plot& plot) {
    return plot.maps.empty() ? extentOfX(plot).range() : std::nullopt;
}

std::optional<Range> yExtent(const Plot& plot) {
    return plot.maps.empty() ? extentOfY(plot, std::nullopt).range() : std::nullopt;
}

bool isUsable(const Range& range, Scale scale) {
    const auto [low, high] = range;
    return std::isfinite(high - low) && low < high && std::isfinite(toEven(scale, low));
}

}  // namespace normscope::widgets
