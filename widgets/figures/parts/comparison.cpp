// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/comparison.h"

#include "widgets/figures/parts/panel_text.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace normscope::widgets {

namespace {

constexpr double kStripShare = 0.2;       // about 60 px under a plot of 300
constexpr double kComparisonMinSpan = 2;  // the strip shows at least 1/2 … 2: equal runs look equal
constexpr double kRatioMargin = 1.05;     // 5 % on the log axis
constexpr double kFarOutside = 10;

bool comparable(const Curve& curve) {
    return curve.role.kind == Role::Kind::Run &&
           (curve.kind == LineKind::Measured || curve.kind == LineKind::Draft);
}

bool usable(double value) {
    return std::isfinite(value) && value > 0;
}

/// 1/t, 1, t with t the largest of 2, 5, 10, 100, 1000, … within the span: a strip has space for three
/// labels. Both are powers where they leave 0.01 … 100.
std::vector<NamedTick> stripTicks(double span) {
    const double decade = std::floor(std::log10(span));
    const double t = span >= 10 ? std::pow(10, decade) : span >= 5 ? 5 : 2;
    const auto text = [&](double value, const char* sign) {
        return t > 100 ? powerText(QString("1e%1%2").arg(sign).arg(static_cast<int>(decade)))
                       : powerText(brief(value));
    };
    return {{1 / t, text(1 / t, "-"), false}, {1, "1", false}, {t, text(t, ""), false}};
}

struct RowExtent {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    void include(const std::vector<double>& values) {
        for (const double v : values) {
            if (!usable(v)) continue;
            low = std::min(low, v);
            high = std::max(high, v);
        }
    }
};

}  // namespace

std::optional<Plot> ratioStrip(const Plot& plot) {
    const auto base = std::find_if(plot.curves.begin(), plot.curves.end(),
                                   [](const Curve& c) { return comparable(c) && c.role.run == 0; });
    if (base == plot.curves.end()) return std::nullopt;
    std::map<double, double> base_at;
    for (std::size_t i = 0; i < base->x.size(); ++i) base_at[base->x[i]] = base->y[i];

    Plot strip;
    double span = kComparisonMinSpan;
    for (const Curve& curve : plot.curves) {
        if (!comparable(curve) || curve.role.run == 0 || curve.step != base->step) continue;
        Curve ratio;
        ratio.name = curve.name + " over " + base->name;
        ratio.role = curve.role;
        ratio.kind = curve.kind;
        ratio.step = curve.step;
        ratio.label_at_end = false;
        for (std::size_t i = 0; i < curve.x.size(); ++i) {
            const auto found = base_at.find(curve.x[i]);
            if (found == base_at.end()) continue;
            const bool defined = usable(curve.y[i]) && usable(found->second);
            const double value = defined ? curve.y[i] / found->second : kNaN;
            ratio.x.push_back(curve.x[i]);
            ratio.y.push_back(value);
            if (defined) span = std::max({span, value, 1 / value});
        }
        if (!ratio.x.empty()) strip.curves.push_back(std::move(ratio));
    }
    if (strip.curves.empty()) return std::nullopt;

    strip.x = plot.x;
    strip.y.label = strip.curves.size() == 1 ? strip.curves.front().name : "Ratio to " + base->name;
    strip.y.scale = Scale::Log;
    setRatioSpan(strip, span);
    strip.references.push_back({Qt::Horizontal, 1, QString()});
    strip.height_share = kStripShare;
    strip.is_ratio = true;
    return strip;
}

void setRatioSpan(Plot& strip, double span) {
    span = std::max(span, kComparisonMinSpan);
    strip.y.ticks = stripTicks(span);
    span = std::pow(span, kRatioMargin);
    strip.y.range = {1 / span, span};
}

double ratioSpan(const Plot& strip) {
    return std::pow(strip.y.range->second, 1 / kRatioMargin);
}

void addBound(Plot& plot, Curve bound, const QString& word) {
    RowExtent seen;
    for (const Curve& curve : plot.curves)
        if (curve.kind != LineKind::Bound) seen.include(curve.y);
    for (const Band& band : plot.bands) {
        seen.include(band.low);
        seen.include(band.high);
    }
    if (!(seen.high > 0)) return;  // no measured values to draw a bound against
    double farthest = 1, far_value = kNaN;
    bool any = false;
    for (double& y : bound.y) {
        if (!usable(y)) {
            y = kNaN;
            continue;
        }
        const double outside = std::max(y / seen.high, seen.low / y);
        if (outside > kFarOutside) {
            if (outside > farthest) {
                farthest = outside;
                far_value = y;
            }
            y = kNaN;
        } else {
            any = true;
        }
    }
    if (!std::isnan(far_value)) {
        const bool above = far_value > seen.high;
        plot.chips.push_back({above ? Chip::Edge::TopRight : Chip::Edge::BottomRight,
                              QString("%1 %2 %3").arg(word, brief(far_value), above ? "↑" : "↓"),
                              bound.role});
    }
    if (!any) return;
    bound.kind = LineKind::Bound;
    bound.label_at_end = false;
    plot.curves.push_back(std::move(bound));
}

}  // namespace normscope::widgets
