// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/curve_shapes.h"

#include "widgets/plots/colour_map.h"
#include "widgets/plots/geometry/clip.h"
#include "widgets/plots/geometry/decimate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <unordered_set>

namespace normscope::widgets {
namespace {

class ToPixels {
  public:
    explicit ToPixels(const PlotLayout& layout) : x_(layout.x), y_(layout.y) {}
    QPointF operator()(double x, double y) const { return {x_(x), std::isfinite(y) ? y_(y) : kNaN}; }

  private:
    PixelScale x_, y_;
};

/// Of the x values of one curve after the other: those of one table share their steps, which are converted
/// once.
class PixelsOfX {
  public:
    PixelsOfX(const AxisMap& x, double column) : scale_(x), column_(column) {}
    /// Valid until the next call; `values` must outlive that one.
    const std::vector<double>& operator()(const std::vector<double>& values) {
        if (!values_ || *values_ != values) {
            pixels_.resize(values.size());
            std::transform(values.begin(), values.end(), pixels_.begin(), scale_);
            most_in_a_column_ = 0;
            double cell = kNaN;
            for (std::size_t i = 0, count = 0; i < pixels_.size(); ++i) {
                const double at = std::floor(pixels_[i] / column_);
                count = at == cell ? count + 1 : 1;
                cell = at;
                most_in_a_column_ = std::max(most_in_a_column_, count);
            }
        }
        values_ = &values;
        return pixels_;
    }
    /// Neighbours of the last call in one pixel column.
    std::size_t mostInAColumn() const { return most_in_a_column_; }

  private:
    PixelScale scale_;
    double column_;
    const std::vector<double>* values_ = nullptr;
    std::vector<double> pixels_;
    std::size_t most_in_a_column_ = 0;
};

QPolygonF inPixels(const Curve& curve, PixelsOfX& pixelsOfX, const AxisMap& y) {
    const std::size_t count = std::min(curve.x.size(), curve.y.size());
    const std::vector<double>& x = pixelsOfX(curve.x);
    const PixelScale toPixel(y);
    QPolygonF points(static_cast<qsizetype>(count));
    QPointF* const pixels = points.data();  // append() would test for other owners at every point
    for (std::size_t i = 0; i < count; ++i)
        pixels[i] = {x[i], std::isfinite(curve.y[i]) ? toPixel(curve.y[i]) : kNaN};
    return points;
}

/// No point is outside or without a place on its axes.
bool isInside(const QPolygonF& points, const QRectF& area) {
    const double left = area.left(), right = area.right(), top = area.top(), bottom = area.bottom();
    int outside = 0;  // without a branch a point
    for (const QPointF& p : points)
        outside |=
            int(!(p.x() >= left)) | int(!(p.x() <= right)) | int(!(p.y() >= top)) | int(!(p.y() <= bottom));
    return outside == 0;
}

void addGapMarks(const Curve& curve, const RenderStyle& style, const QColor& colour, PlotLayout& layout) {
    const QRectF& area = layout.area;
    std::size_t count = std::min(curve.x.size(), curve.y.size());
    if (curve.end.kind != EndMark::Kind::None) {  // the end mark covers what comes after the end
        while (count > 0 && !std::isfinite(curve.y[count - 1])) --count;
    }
    bool in_gap = false;
    double last_column = kNaN;
    const PixelScale xPixel(layout.x);
    for (std::size_t i = 0; i < count; ++i) {
        const double y = curve.y[i];
        const bool bad = !std::isfinite(y) || (layout.y.scale == Scale::Log && y <= 0);
        const bool first = bad && !in_gap;
        in_gap = bad;
        if (!first) continue;
        const double x = xPixel(curve.x[i]);
        if (!(x >= area.left() && x <= area.right())) continue;
        // Curves that touch zero repeatedly: one mark per pixel column suffices.
        const double column = std::floor(x / std::max(style.column, 4 * style.unit));
        if (column == last_column) continue;
        last_column = column;
        GapMark mark;
        mark.kind = std::isnan(y)   ? GapMark::Kind::NaN
                    : std::isinf(y) ? (y > 0 ? GapMark::Kind::AboveAll : GapMark::Kind::BelowAll)
                                    : GapMark::Kind::NotPositive;
        mark.at = {x, mark.kind == GapMark::Kind::AboveAll ? area.top() : area.bottom()};
        mark.colour = mark.kind == GapMark::Kind::NaN ? style.theme.bad : colour;
        layout.gaps.push_back(mark);
    }
}

/// Cut at gaps and clipped; pieces of one point are dots.
void addPieces(const QPolygonF& points, bool line, const QRectF& area, double column, CurveShape& shape) {
    for (const QPolygonF& piece : decimate(points, column)) {
        for (const QPolygonF& part : clipPolyline(piece, area)) {
            if (part.size() == 1)
                shape.dots.append(part.front());
            else if (line)
                shape.pieces.push_back(part);
        }
    }
}

/// For a curve whose segments would only cover each other; else nothing.
QVector<QLineF> columnsOf(const CurveShape& shape, const RenderStyle& style) {
    constexpr double kDense = 1.25;  // points a column
    constexpr qsizetype kFew = 200;
    if (style.paths) return {};
    QVector<qreal> dash = shape.dash;
    for (qreal& length : dash) length *= shape.width;
    QVector<QLineF> columns;
    for (const QPolygonF& piece : shape.pieces) {
        const double length = piece.back().x() - piece.front().x();
        if (piece.size() <= kFew || double(piece.size()) <= kDense * length / style.column) return {};
        columns += pixelColumns(piece, style.pixel, shape.width, dash);
    }
    return columns;
}

/// Of points inside the plot; a second one in a pixel would not be seen.
QVector<QPointF> markersAt(const QPolygonF& points, const QRectF& area, double column) {
    QVector<QPointF> dots;
    const QRectF reach = area.adjusted(-0.5, -0.5, 0.5, 0.5);
    std::unordered_set<std::int64_t> taken;
    for (const QPointF& p : points) {
        if (!isFinite(p) || !reach.contains(p)) continue;
        const auto at = static_cast<std::int64_t>(p.x() / column);
        const auto row = static_cast<std::int64_t>(p.y() / column);
        if (taken.insert((at << 32) ^ (row & 0xffffffff)).second) dots.append(p);
    }
    return dots;
}

void addCurve(const Plot& plot, std::size_t index, const RenderStyle& style, PixelsOfX& pixelsOfX,
              PlotLayout& layout) {
    const Curve& curve = plot.curves[index];
    LineShape pen = curvePen(curve, style);
    // Dots and dashes of more curves would cover each other's lines and distinguish nothing.
    constexpr std::size_t kMaxDistinct = 64;
    const bool many = plot.curves.size() > kMaxDistinct;
    if (many && curve.kind != LineKind::Preview && curve.kind != LineKind::Bound) pen.dash = {};
    CurveShape shape{index, pen.colour, pen.width, pen.dash, {}, {}, 0};
    shape.rim = !curve.line;  // else those of a held-out loss could not be seen on the loss
    shape.dot_size = curve.markers ? pen.width + 2.5 * style.unit : pen.width + 1.5 * style.unit;

    const QPolygonF points = inPixels(curve, pixelsOfX, layout.y);
    // As nearly always: nothing to cut, clip or thin, and no gap to find.
    const bool as_it_is = !style.paths && points.size() > 1 && isInside(points, layout.area) &&
                          pixelsOfX.mostInAColumn() <= kMaxInAColumn;
    if (!as_it_is)
        addPieces(points, curve.line, layout.area, style.column, shape);
    else if (curve.line)
        shape.pieces.push_back(points);
    shape.columns = columnsOf(shape, style);
    if (curve.markers && (!curve.line || !many)) shape.dots = markersAt(points, layout.area, style.column);
    // The gaps of a ghost were marked before, and a bound without a value does not apply there.
    if (!as_it_is && !isUnderlaid(curve.kind) && curve.kind != LineKind::Bound)
        addGapMarks(curve, style, pen.colour, layout);
    layout.curves.push_back(std::move(shape));
}

void addBand(const Band& band, const RenderStyle& style, PlotLayout& layout) {
    const std::size_t count = std::min({band.x.size(), band.low.size(), band.high.size()});
    QColor colour = band.is_reference ? style.theme.ghost : style.theme.colour(band.role);
    colour.setAlphaF(
        static_cast<float>(std::clamp(band.strength, 0.0, 1.0) * (band.aged ? kAgedStrength : 1)));
    QPolygonF upper, lower;
    const auto flush = [&] {
        std::reverse(lower.begin(), lower.end());
        const QPolygonF polygon = clipPolygon(upper + lower, layout.area);
        if (polygon.size() > 2) layout.areas.push_back({polygon, colour});
        upper.clear();
        lower.clear();
    };
    const ToPixels toPixels(layout);
    for (std::size_t i = 0; i < count; ++i) {
        // On a log axis a lower edge at or under zero is below everything that can be shown.
        const bool below_axis = layout.y.scale == Scale::Log && band.low[i] <= 0;
        const QPointF high = toPixels(band.x[i], band.high[i]);
        const QPointF low =
            below_axis ? QPointF(high.x(), layout.area.bottom()) : toPixels(band.x[i], band.low[i]);
        if (isFinite(high) && isFinite(low)) {
            upper.append(high);
            lower.append(low);
        } else {
            flush();
        }
    }
    flush();
}

void addStems(const Stems& stems, const RenderStyle& style, PlotLayout& layout) {
    CurveShape heads;
    heads.curve = static_cast<std::size_t>(-1);
    heads.colour = style.theme.colour(stems.role);
    if (stems.aged) heads.colour = aged(style, heads.colour);
    heads.dot_size = 5 * style.unit;
    LineShape lines{{}, heads.colour, style.thin, {}};
    const ToPixels toPixels(layout);
    double base = layout.y.toPixel(stems.base);
    if (!std::isfinite(base)) base = layout.area.bottom();
    for (std::size_t i = 0; i < std::min(stems.x.size(), stems.y.size()); ++i) {
        const QPointF head = toPixels(stems.x[i], stems.y[i]);
        if (!isFinite(head)) continue;
        if (const auto line = clipLine(QLineF(head.x(), base, head.x(), head.y()), layout.area))
            lines.lines.append(*line);
        if (layout.area.contains(head)) heads.dots.append(head);
    }
    layout.under.push_back(lines);
    layout.curves.push_back(heads);
}

void addReference(const ReferenceLine& reference, const RenderStyle& style, PlotLayout& layout) {
    const bool flat = reference.orientation == Qt::Horizontal;
    const double at = (flat ? layout.y : layout.x).toPixel(reference.value);
    if (!std::isfinite(at)) return;
    const QRectF& a = layout.area;
    const QLineF line = flat ? QLineF(a.left(), at, a.right(), at) : QLineF(at, a.top(), at, a.bottom());
    if (const auto part = clipLine(line, a))
        layout.under.push_back({{*part}, style.theme.muted, style.thin, {3, 3}});
}

void addEndMark(const Curve& curve, const RenderStyle& style, PlotLayout& layout) {
    if (curve.end.kind == EndMark::Kind::None) return;
    const QPointF at = lastVisiblePoint(curve, layout);
    if (!isFinite(at)) return;
    const QColor colour = style.theme.colour(curve.role);
    const double r = 4 * style.unit;
    const QPointF a(r, r), b(r, -r);
    LineShape mark{{}, colour, style.line, {}};
    if (curve.end.kind == EndMark::Kind::Diverged) {
        mark.lines = {QLineF(at - a, at + a), QLineF(at - b, at + b)};
        const QRectF after(at.x(), layout.area.top(), layout.area.right() - at.x(), layout.area.height());
        layout.under.push_back(
            {hatch(after, 7 * style.unit), blend(style.theme.background, colour, 0.3), 0.6 * style.thin, {}});
    } else if (curve.end.kind == EndMark::Kind::Collapsed) {  // a step down
        const QPointF top(0, -r), right(1.5 * r, 0);
        mark.lines = {QLineF(at + top - right, at + top), QLineF(at + top, at - top),
                      QLineF(at - top, at - top + right)};
    } else {  // stalled: a short flat bar
        mark.lines = {QLineF(at - QPointF(r, 0), at + QPointF(r, 0)),
                      QLineF(at - QPointF(r, r / 2), at + QPointF(-r, r / 2)),
                      QLineF(at + QPointF(r, -r / 2), at + QPointF(r, r / 2))};
    }
    layout.over.push_back(mark);
}

/// A ring where the curve leaves the one that it was a copy of.
void addBranch(const Curve& curve, const RenderStyle& style, PlotLayout& layout) {
    const auto at = branchPoint(curve, layout);
    if (!at) return;
    constexpr int kSides = 24;
    const double r = 4.5 * style.unit;
    QPolygonF disc;
    for (int i = 0; i <= kSides; ++i) {
        const double angle = 2 * std::numbers::pi * i / kSides;
        disc << *at + QPointF(r * std::cos(angle), r * std::sin(angle));
    }
    LineShape ring{{}, style.theme.colour(curve.role), style.line, {}};
    for (int i = 0; i < kSides; ++i) ring.lines.append({disc[i], disc[i + 1]});
    layout.over.push_back(ring);
}

}  // namespace

std::optional<QPointF> branchPoint(const Curve& curve, const PlotLayout& layout) {
    if (!curve.branch) return std::nullopt;
    const auto found = std::find(curve.x.begin(), curve.x.end(), curve.branch->x);
    if (found == curve.x.end()) return std::nullopt;
    const double y = curve.y[static_cast<std::size_t>(found - curve.x.begin())];
    const QPointF at = ToPixels(layout)(curve.branch->x, y);
    if (!isFinite(at) || !layout.area.adjusted(-0.5, -0.5, 0.5, 0.5).contains(at)) return std::nullopt;
    return at;
}

LineShape curvePen(const Curve& curve, const RenderStyle& style) {
    // Layers have a plot of their own run: there a dash would distinguish nothing.
    const bool layer = curve.role.kind == Role::Kind::Sequential;
    LineShape pen{{},
                  style.theme.colour(curve.role),
                  layer ? style.thin : style.line,
                  layer ? QVector<qreal>() : runDash(curve.role.run)};
    switch (curve.kind) {
        case LineKind::Measured:
            break;
        case LineKind::Draft:
            pen.colour = blend(style.theme.background, pen.colour, 0.5);
            pen.width = style.thin;
            break;
        case LineKind::Ghost:
            pen.colour = style.theme.ghost;
            pen.width = style.thin;
            break;
        case LineKind::Context:
            pen.colour = style.theme.ghost;
            pen.width = style.thin;
            pen.dash = {};
            break;
        case LineKind::Preview:
            pen.dash = {1, 2.5};
            break;
        case LineKind::Bound:
            pen.width = style.thin;
            pen.dash = {6, 2, 1, 2};
            break;
    }
    if (curve.aged && !isUnderlaid(curve.kind)) pen.colour = aged(style, pen.colour);
    return pen;
}

QPointF lastVisiblePoint(const Curve& curve, const PlotLayout& layout) {
    const ToPixels toPixels(layout);
    for (std::size_t i = std::min(curve.x.size(), curve.y.size()); i-- > 0;) {
        const QPointF p = toPixels(curve.x[i], curve.y[i]);
        if (!isFinite(p) || p.x() < layout.area.left() - 0.5 || p.x() > layout.area.right() + 0.5) continue;
        return {p.x(), std::clamp(p.y(), layout.area.top(), layout.area.bottom())};
    }
    return {kNaN, kNaN};
}

void addShapes(const Plot& plot, const RenderStyle& style, PlotLayout& layout) {
    for (const auto& plateau : plot.plateaus) {
        QColor colour = style.theme.colour(plateau.role);
        colour.setAlphaF(0.15F);
        const double low = layout.y.toPixel(plateau.low), high = layout.y.toPixel(plateau.high);
        const QRectF band =
            QRectF(layout.area.left(), high, layout.area.width(), low - high).intersected(layout.area);
        if (std::isfinite(low) && std::isfinite(high) && !band.isEmpty())
            layout.areas.push_back({QPolygonF(band), colour});
    }
    for (const auto& band : plot.bands) addBand(band, style, layout);
    for (const auto& reference : plot.references) addReference(reference, style, layout);
    for (const auto& stems : plot.stems) addStems(stems, style, layout);
    PixelsOfX pixelsOfX(layout.x, style.column);
    // Ghosts first: they are drawn below the other curves.
    for (const bool under : {true, false}) {
        for (std::size_t i = 0; i < plot.curves.size(); ++i) {
            if (isUnderlaid(plot.curves[i].kind) == under) addCurve(plot, i, style, pixelsOfX, layout);
        }
    }
    for (const auto& curve : plot.curves) addEndMark(curve, style, layout);
    for (const auto& curve : plot.curves) addBranch(curve, style, layout);
}

}  // namespace normscope::widgets
