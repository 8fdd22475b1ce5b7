// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLineF>
#include <QPolygonF>
#include <QVector>
#include <cmath>
#include <cstddef>
#include <vector>

namespace normscope::widgets {

inline bool isFinite(const QPointF& p) {
    return std::isfinite(p.x()) && std::isfinite(p.y());
}

/// Points of a pixel column that decimate() keeps.
inline constexpr std::size_t kMaxInAColumn = 4;

/// Cuts a curve in pixels at its non-finite points and thins each piece to at most four points per pixel
/// column (first, lowest, highest, last, in their order), so that no spike is lost. Points in columns of
/// their own are returned untouched. A piece of one point is kept: the painter draws it as a dot. `column` is
/// the width of a pixel column in the same unit as x.
std::vector<QPolygonF> decimate(const QPolygonF& points, double column);

/// A vertical line for each pixel column that a piece crosses, from its lowest to its highest point there and
/// to where it enters the next column, at least `width` long. Columns in the gaps of a dash pattern along x
/// (lengths in pixels) are skipped, but for spikes.
QVector<QLineF> pixelColumns(const QPolygonF& piece, double column, double width, const QVector<qreal>& dash);

}  // namespace normscope::widgets
