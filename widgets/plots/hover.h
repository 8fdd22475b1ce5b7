// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/figure.h"
#include "widgets/plots/figure_layout.h"

#include <QMetaType>
#include <QPointF>
#include <QString>
#include <optional>
#include <vector>

namespace normscope::widgets {

/// The point under the mouse: the nearest data x, or a cell of a map.
struct HoverPoint {
    int plot = -1;
    double x = kNaN;            ///< data x, one of the plot's own
    int curve = -1;             ///< the curve nearest to the mouse at that x, −1 if none has a value there
    int row = -1, column = -1;  ///< of a map
    int flag = -1, flags = 0;   ///< the mouse is on these flags of the plot: the first, and how many
    bool operator==(const HoverPoint&) const = default;
};

/// A line of the hover card; with a role it is drawn in that colour.
struct HoverLine {
    QString text;
    std::optional<Role> role;
};

/// The point at this position of a laid out figure; nullopt outside the plot areas and in plots without
/// points.
std::optional<HoverPoint> hoverAt(const Figure& figure, const FigureLayout& layout, const QPointF& position);

/// The point with the next larger (direction > 0) or smaller x in the same plot, or the next cell; nullopt at
/// the end.
std::optional<HoverPoint> hoverNeighbour(const Figure& figure, const HoverPoint& point, int direction);

/// The cell of a map so many columns to the right and rows up; the upper left one where `point` is in no
/// cell; nullopt at the edge, and where the plot is no map.
std::optional<HoverPoint> cellNeighbour(const Figure& figure, const HoverPoint& point, int right, int up);

/// The card: place (run, where each has its own plot; layer and sub-layer), step, quantity with unit, every
/// run's raw value (4 digits) ± its standard error, with its own step where these differ, ratios of values of
/// one step to the first run, bounds, draft or exact. Empty where the point is no longer in the figure.
std::vector<HoverLine> hoverLines(const Figure& figure, const HoverPoint& point);

/// A curve's value at this x, or at its own point nearest to it if that is nearer than its neighbours; else
/// nullopt.
std::optional<double> valueAt(const Curve& curve, double x);
/// Its standard error there; nullopt if it has none.
std::optional<double> errorAt(const Curve& curve, double x);

}  // namespace normscope::widgets

Q_DECLARE_METATYPE(normscope::widgets::HoverPoint)
