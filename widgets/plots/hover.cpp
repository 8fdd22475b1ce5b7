// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/hover.h"

#include "widgets/figures/number_text.h"
#include "widgets/plots/curve_shapes.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {
namespace {

constexpr std::size_t kMaxCurves = 8;  // above this (layers over steps) only the nearest is shown

/// All x of a plot that something is drawn at, sorted.
std::vector<double> positions(const Plot& plot) {
    std::vector<double> xs;
    for (const auto& c : plot.curves) xs.insert(xs.end(), c.x.begin(), c.x.end());
    for (const auto& s : plot.stems) xs.insert(xs.end(), s.x.begin(), s.x.end());
    std::erase_if(xs, [&](double x) { return !std::isfinite(x) || (plot.x.scale == Scale::Log && x <= 0); });
    std::sort(xs.begin(), xs.end());
    xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
    return xs;
}

std::optional<double> valueIn(const std::vector<double>& xs, const std::vector<double>& ys, double x) {
    const std::size_t count = std::min(xs.size(), ys.size());
    std::size_t best = count;
    for (std::size_t i = 0; i < count; ++i) {
        if (best == count || std::abs(xs[i] - x) < std::abs(xs[best] - x)) best = i;
    }
    if (best == count || !std::isfinite(xs[best])) return std::nullopt;
    if (xs[best] != x) {
        double spacing = 0;
        if (best > 0) spacing = std::max(spacing, std::abs(xs[best] - xs[best - 1]));
        if (best + 1 < count) spacing = std::max(spacing, std::abs(xs[best + 1] - xs[best]));
        if (std::abs(xs[best] - x) > spacing / 2) return std::nullopt;
    }
    return ys[best];
}

int nearestCurve(const Plot& plot, const PlotLayout& layout, double x, double pixel) {
    int best = -1;
    double distance = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < plot.curves.size(); ++i) {
        const auto value = valueAt(plot.curves[i], x);
        if (!value || !std::isfinite(*value)) continue;
        const double d = std::abs(layout.y.toPixel(*value) - pixel);
        if (d < distance) best = static_cast<int>(i), distance = d;
    }
    return best;
}

QString placeName(const Figure& figure, const Plot& plot, double x) {
    const std::size_t names =
        std::min(figure.x_name_at.size(), static_cast<std::size_t>(figure.x_names.size()));
    for (std::size_t i = 0; i < names; ++i) {
        if (figure.x_name_at[i] == x) return figure.x_names[static_cast<qsizetype>(i)];
    }
    const QString name =
        (plot.x.label.isEmpty() ? QString() : plot.x.label + u' ') + numberText(x, plot.x.integers ? 10 : 4);
    const double words = static_cast<double>(plot.x.words.size());
    if (!(x >= 1 && x <= words) || x != std::floor(x)) return name;
    return QStringLiteral("%1 “%2”").arg(name, plot.x.words[static_cast<qsizetype>(x) - 1]);
}

QString withUnit(double value, const QString& unit, double error = kNaN) {
    QString text = numberText(value);
    if (std::isfinite(error)) text += QStringLiteral(" ± ") + numberText(error, 2);
    return unit.isEmpty() ? text : QStringLiteral("%1 %2").arg(text, unit);
}

/// " at step 18" where the marks of the card are not all of one step.
QString ownStep(const std::optional<std::int64_t>& step, bool differ) {
    return differ && step ? QStringLiteral("  at step %1").arg(*step) : QString();
}

/// The flags that the mouse is on, by their heads or poles.
const FlagShape* flagsAt(const PlotLayout& layout, const QPointF& position) {
    constexpr double kReach = 3;  // px from a pole
    for (const FlagShape& shape : layout.flags) {
        if (shape.pennants.contains(position) || shape.text_rect.contains(position)) return &shape;
        if (!layout.area.contains(position)) continue;
        for (const double pole : shape.poles)
            if (std::abs(pole - position.x()) <= kReach) return &shape;
    }
    return nullptr;
}

/// The x of a branch whose ring the mouse is on; NaN for none.
double branchAt(const Plot& plot, const PlotLayout& layout, const QPointF& position) {
    constexpr double kReach = 7;  // px
    for (const Curve& curve : plot.curves)
        if (const auto at = branchPoint(curve, layout); at && QLineF(*at, position).length() <= kReach)
            return curve.branch->x;
    return kNaN;
}

void addFlagLines(const Plot& plot, const HoverPoint& point, std::vector<HoverLine>& lines) {
    constexpr int kMaxFlags = 8;
    int shown = 0, omitted = 0;
    for (std::size_t i = 0; i < plot.flags.size(); ++i) {
        const Flag& flag = plot.flags[i];
        const int index = static_cast<int>(i);
        const bool among = index >= point.flag && index < point.flag + point.flags;
        if (!among && flag.x != point.x) continue;
        if (shown == kMaxFlags) {
            ++omitted;
            continue;
        }
        ++shown;
        lines.push_back({QStringLiteral("%1  %2 at %3 %4")
                             .arg(flag.name, flag.text(), plot.x.label, numberText(flag.x, 10)),
                         flag.role});
    }
    if (omitted > 0) lines.push_back({QStringLiteral("and %1 more changes").arg(omitted), {}});
}

/// Whether what is drawn there was measured at different steps.
bool stepsDiffer(const std::vector<Plot>& plots) {
    std::optional<std::int64_t> first;
    bool differ = false;
    const auto look = [&](const auto& mark) {
        if (mark.step && !first) first = mark.step;
        differ |= mark.step && mark.step != first;
    };
    for (const Plot& plot : plots) {
        for (const auto& c : plot.curves)
            if (c.kind == LineKind::Measured || c.kind == LineKind::Draft) look(c);
        for (const auto& s : plot.stems) look(s);
        for (const auto& m : plot.maps) look(m);
    }
    return differ;
}

/// "layer 3" for a number, "emb" for a name.
QString cellName(const QStringList& names, int index, const QString& axis) {
    const QString name = index < names.size() ? names[index] : QString::number(index + 1);
    bool is_number = false;
    name.toLongLong(&is_number);
    return is_number && !axis.isEmpty() ? axis + u' ' + name : name;
}

struct Value {
    QString name;
    Role role;
    double value;
    std::optional<std::int64_t> step;
};

/// The ratios of the other runs to the first one, where they are defined and of the same step.
void addRatios(const std::vector<Value>& values, std::vector<HoverLine>& lines) {
    for (std::size_t i = 1; i < values.size(); ++i) {
        const double ratio = values[i].value / values[0].value;
        if (std::isfinite(ratio) && values[i].step == values[0].step) {
            lines.push_back(
                {QStringLiteral("%1 / %2 = %3").arg(values[i].name, values[0].name, numberText(ratio)), {}});
        }
    }
}

std::vector<HoverLine> cellLines(const Figure& figure, const HoverPoint& point) {
    const Plot& plot = figure.plots[static_cast<std::size_t>(point.plot)];
    const HeatMap& map = plot.maps.front();
    if (point.row >= map.rows || point.column >= map.columns) return {};
    std::vector<HoverLine> lines;
    const std::size_t cell = static_cast<std::size_t>(point.row) * static_cast<std::size_t>(map.columns) +
                             static_cast<std::size_t>(point.column);
    if (cell < map.runs.size()) {
        QStringList names;
        if (const QString name = map.row_names.value(point.row); !name.isEmpty()) names << name;
        names << (plot.x.label + u' ' + map.column_names.value(point.column)).trimmed();
        lines.push_back({names.join(QStringLiteral(" · ")), {}});
        for (const QString& line : map.runs[cell].lines) lines.push_back({line, {}});
        return lines;
    }
    QString place = cellName(map.row_names, point.row, plot.y.label) + QStringLiteral(" · ") +
                    cellName(map.column_names, point.column, plot.x.label);
    if (!figure.subtitle.isEmpty()) place += QStringLiteral(" · ") + figure.subtitle;
    lines.push_back({place, {}});
    lines.push_back({figure.quantity, {}});
    const bool differ = stepsDiffer(figure.plots);
    std::vector<Value> values;
    for (const auto& other : figure.plots) {
        for (const auto& m : other.maps) {
            if (point.row >= m.rows || point.column >= m.columns) continue;
            const auto& source = m.raw.empty() ? m.value : m.raw;
            const std::size_t i = static_cast<std::size_t>(point.row) * static_cast<std::size_t>(m.columns) +
                                  static_cast<std::size_t>(point.column);
            if (i >= source.size()) continue;
            values.push_back({m.name, m.role, source[i], m.step});
            lines.push_back(
                {m.name + QStringLiteral("  ") + withUnit(source[i], figure.unit) + ownStep(m.step, differ),
                 m.role});
        }
    }
    addRatios(values, lines);
    return lines;
}

}  // namespace

std::optional<double> valueAt(const Curve& curve, double x) {
    // Points without a line have no values in between.
    if (!curve.line && std::find(curve.x.begin(), curve.x.end(), x) == curve.x.end()) return std::nullopt;
    return valueIn(curve.x, curve.y, x);
}

std::optional<double> errorAt(const Curve& curve, double x) {
    if (curve.y_error.size() != curve.y.size() || !valueAt(curve, x)) return std::nullopt;
    return valueIn(curve.x, curve.y_error, x);
}

std::optional<HoverPoint> hoverAt(const Figure& figure, const FigureLayout& layout, const QPointF& position) {
    int index = plotAt(layout, position);
    // The heads of flags are above their plot.
    for (std::size_t i = 0; index < 0 && i < layout.plots.size(); ++i)
        if (flagsAt(layout.plots[i], position)) index = static_cast<int>(i);
    if (index < 0 || static_cast<std::size_t>(index) >= figure.plots.size()) return std::nullopt;
    const Plot& plot = figure.plots[static_cast<std::size_t>(index)];
    const PlotLayout& geometry = layout.plots[static_cast<std::size_t>(index)];
    HoverPoint point;
    point.plot = index;
    if (!plot.maps.empty()) {
        point.row =
            std::clamp(static_cast<int>(geometry.y.toValue(position.y())), 0, plot.maps.front().rows - 1);
        point.column =
            std::clamp(static_cast<int>(geometry.x.toValue(position.x())), 0, plot.maps.front().columns - 1);
        return point.row >= 0 && point.column >= 0 ? std::optional(point) : std::nullopt;
    }
    double distance = std::numeric_limits<double>::infinity(), wanted = position.x();
    if (const FlagShape* flags = flagsAt(geometry, position)) {
        point.flag = static_cast<int>(flags->first);
        point.flags = static_cast<int>(flags->count);
        wanted = geometry.x.toPixel(plot.flags[flags->first].x);
    }
    if (const double x = branchAt(plot, geometry, position); !std::isnan(x)) wanted = geometry.x.toPixel(x);
    for (const double x : positions(plot)) {
        const double pixel = geometry.x.toPixel(x);
        if (pixel < geometry.area.left() - 0.5 || pixel > geometry.area.right() + 0.5) continue;
        if (std::abs(pixel - wanted) < distance) distance = std::abs(pixel - wanted), point.x = x;
    }
    if (std::isnan(point.x)) return std::nullopt;
    point.curve = nearestCurve(plot, geometry, point.x, position.y());
    return point;
}

std::optional<HoverPoint> hoverNeighbour(const Figure& figure, const HoverPoint& point, int direction) {
    if (point.plot < 0 || static_cast<std::size_t>(point.plot) >= figure.plots.size()) return std::nullopt;
    const Plot& plot = figure.plots[static_cast<std::size_t>(point.plot)];
    HoverPoint next = point;
    next.flag = -1, next.flags = 0;
    if (!plot.maps.empty()) {
        next.column += direction;
        return next.column >= 0 && next.column < plot.maps.front().columns ? std::optional(next)
                                                                           : std::nullopt;
    }
    const auto xs = positions(plot);
    if (xs.empty()) return std::nullopt;
    if (std::isnan(point.x)) {
        next.x = direction > 0 ? xs.front() : xs.back();
        return next;
    }
    const auto at = direction > 0 ? std::upper_bound(xs.begin(), xs.end(), point.x)
                                  : std::lower_bound(xs.begin(), xs.end(), point.x);
    if (direction > 0 ? at == xs.end() : at == xs.begin()) return std::nullopt;
    next.x = direction > 0 ? *at : *(at - 1);
    return next;
}

std::optional<HoverPoint> cellNeighbour(const Figure& figure, const HoverPoint& point, int right, int up) {
    if (point.plot < 0 || static_cast<std::size_t>(point.plot) >= figure.plots.size()) return std::nullopt;
    const Plot& plot = figure.plots[static_cast<std::size_t>(point.plot)];
    if (plot.maps.empty() || plot.maps.front().rows <= 0 || plot.maps.front().columns <= 0)
        return std::nullopt;
    const HeatMap& map = plot.maps.front();
    HoverPoint next = point;
    if (point.row < 0 || point.column < 0) {
        next.row = map.rows - 1;
        next.column = 0;
        return next;
    }
    next.row += up;
    next.column += right;
    const bool inside = next.row >= 0 && next.row < map.rows && next.column >= 0 && next.column < map.columns;
    return inside ? std::optional(next) : std::nullopt;
}

std::vector<HoverLine> hoverLines(const Figure& figure, const HoverPoint& point) {
    if (point.plot < 0 || static_cast<std::size_t>(point.plot) >= figure.plots.size()) return {};
    const Plot& plot = figure.plots[static_cast<std::size_t>(point.plot)];
    if (point.row >= 0) return plot.maps.empty() ? std::vector<HoverLine>{} : cellLines(figure, point);

    std::vector<HoverLine> lines;
    QString place = placeName(figure, plot, point.x);
    // Plots side by side are one run each.
    if (figure.side_by_side && !plot.heading.isEmpty()) place = plot.heading + QStringLiteral(" · ") + place;
    if (!figure.subtitle.isEmpty()) place += QStringLiteral(" · ") + figure.subtitle;
    lines.push_back({place, {}});
    // Strips below the main plot show another quantity, named by their axis.
    const bool main = point.plot == 0 || figure.side_by_side;
    const QString quantity = main && !figure.quantity.isEmpty() ? figure.quantity : plot.y.label;
    const QString unit = main ? figure.unit : plot.y.unit;
    lines.push_back({unit.isEmpty() ? quantity : QStringLiteral("%1 (%2)").arg(quantity, unit), {}});

    std::vector<Value> values;
    const bool differ = stepsDiffer({plot});
    const bool all = plot.curves.size() <= kMaxCurves;
    for (std::size_t i = 0; i < plot.curves.size(); ++i) {
        const Curve& curve = plot.curves[i];
        const auto value = valueAt(curve, point.x);
        if (!value || isUnderlaid(curve.kind) || (!all && static_cast<int>(i) != point.curve)) continue;
        if (curve.kind == LineKind::Bound) {
            if (std::isfinite(*value))
                lines.push_back(
                    {curve.name +
                         (curve.name.contains(QLatin1String("bound")) ? QStringLiteral("  ")
                                                                      : QStringLiteral("  bound ")) +
                         withUnit(*value, unit),
                     curve.role});
            continue;
        }
        QString text = curve.name + QStringLiteral("  ") +
                       withUnit(*value, unit, errorAt(curve, point.x).value_or(kNaN)) +
                       ownStep(curve.step, differ);
        if (curve.kind == LineKind::Draft) text += QStringLiteral("  draft");
        if (curve.kind == LineKind::Preview) text += QStringLiteral("  preview at step 0");
        lines.push_back({text, curve.role});
        if (curve.kind != LineKind::Preview) values.push_back({curve.name, curve.role, *value, curve.step});
    }
    for (const Curve& curve : plot.curves)
        if (curve.branch && curve.branch->x == point.x)
            lines.push_back({curve.name + QStringLiteral("  ") + curve.branch->text, curve.role});
    addFlagLines(plot, point, lines);
    for (const auto& stems : plot.stems) {
        if (const auto value = valueIn(stems.x, stems.y, point.x)) {
            lines.push_back(
                {stems.name + QStringLiteral("  ") + withUnit(*value, unit) + ownStep(stems.step, differ),
                 stems.role});
            values.push_back({stems.name, stems.role, *value, stems.step});
        }
    }
    for (const auto& band : plot.bands) {
        if (band.is_error) continue;  // shown with the value
        const auto low = valueIn(band.x, band.low, point.x), high = valueIn(band.x, band.high, point.x);
        if (!low || !high) continue;
        QString range = QStringLiteral("%1 … %2").arg(numberText(*low), numberText(*high));
        // Narrower than the shown digits: one value suffices.
        if (numberText(*low) == numberText(*high))
            range = QStringLiteral("± %1").arg(numberText((*high - *low) / 2, 2));
        lines.push_back({band.name + QStringLiteral("  ") + range,
                         band.is_reference ? std::nullopt : std::optional(band.role)});
    }
    if (all && main) addRatios(values, lines);
    return lines;
}

}  // namespace normscope::widgets
