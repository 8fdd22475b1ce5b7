// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLineF>
#include <QPolygonF>
#include <QRectF>
#include <QVector>
#include <optional>
#include <vector>

namespace normscope::widgets {

/// Shapes are clipped as geometry rather than by the painter: an exported path then ends at the frame in
/// every program that reads it, and distant points cost nothing.

/// The part of a line inside the box (Liang–Barsky), or nullopt.
std::optional<QLineF> clipLine(const QLineF& line, const QRectF& box);

/// The pieces of a polyline inside the box, in order.
std::vector<QPolygonF> clipPolyline(const QPolygonF& line, const QRectF& box);

/// A polygon cut to the box (Sutherland–Hodgman); empty where it lies outside.
QPolygonF clipPolygon(const QPolygonF& polygon, const QRectF& box);

/// Diagonal hatching of a box, lines `spacing` apart.
QVector<QLineF> hatch(const QRectF& box, double spacing);

/// A polyline cut into dashes; `pattern` holds lengths of dashes and gaps. Drawing these lines is an order of
/// magnitude cheaper than stroking a dashed path with a wide pen.
QVector<QLineF> dashes(const QPolygonF& line, const QVector<qreal>& pattern);

}  // namespace normscope::widgets
