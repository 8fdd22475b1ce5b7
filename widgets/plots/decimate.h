// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPolygonF>
#include <vector>

namespace normscope::widgets {

/// Cuts a curve in pixels at its non-finite points and thins each piece to at most four points per pixel
/// column (first, lowest, highest, last, in their order), so that no spike is lost. Points in columns of
/// their own are returned untouched. A piece of one point is kept: the painter draws it as a dot. `column` is
/// the width of a pixel column in the same unit as x.
std::vector<QPolygonF> decimate(const QPolygonF& points, double column);

}  // namespace normscope::widgets
