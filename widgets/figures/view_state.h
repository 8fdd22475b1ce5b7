// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/axis_range.h"
#include "widgets/figures/figure.h"

#include <optional>
#include <vector>

namespace normscope::widgets {

/// The user's changes to one axis: empty members keep the panel's choice.
struct AxisView {
    std::optional<Range> range;  ///< zoom, in data coordinates
    std::optional<Scale> scale;  ///< log switch
    bool operator==(const AxisView&) const = default;
};

struct PlotAxesView {
    AxisView x, y;
    bool operator==(const PlotAxesView&) const = default;
};

/// Zoom and log switches of a figure, plot by plot; kept in a session. Shorter than the figure's plots is
/// fine.
struct PlotViewState {
    std::vector<PlotAxesView> plots;
    bool operator==(const PlotViewState&) const = default;
};

/// The figure with a view state applied, for screen, export and CSV alike. A range that its scale cannot show
/// (≤ 0 on a log axis) is ignored. Heat maps keep their linear cell axes.
Figure applyViewState(Figure figure, const PlotViewState& state);

/// The figure without its strips of ratios (Plot::is_ratio).
Figure withoutRatio(Figure figure);

/// The plots that share their x axis with `plot`, itself included: those stacked in one column under the same
/// x label.
std::vector<std::size_t> plotsSharingX(const Figure& figure, std::size_t plot);

}  // namespace normscope::widgets
