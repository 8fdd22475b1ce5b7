// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/view_state.h"

#include <algorithm>
#include <utility>

namespace normscope::widgets {
namespace {

void apply(Axis& axis, const AxisView& view) {
    // An axis of steps has no other logarithm: step 0 is on it.
    if (view.scale && !(*view.scale == Scale::Log && axis.scale == Scale::Log1p)) axis.scale = *view.scale;
    if (view.range && isUsable(*view.range, axis.scale)) axis.range = view.range;
    if (axis.range && !isUsable(*axis.range, axis.scale)) axis.range.reset();
}

}  // namespace

Figure applyViewState(Figure figure, const PlotViewState& state) {
    const std::size_t count = std::min(figure.plots.size(), state.plots.size());
    for (std::size_t i = 0; i < count; ++i) {
        if (!figure.plots[i].maps.empty()) continue;
        apply(figure.plots[i].x, state.plots[i].x);
        apply(figure.plots[i].y, state.plots[i].y);
    }
    if (figure.shared_axes && !state.plots.empty()) {  // the axes of the first plot are those of all
        for (std::size_t i = 1; i < figure.plots.size(); ++i) {
            apply(figure.plots[i].x, state.plots[0].x);
            apply(figure.plots[i].y, state.plots[0].y);
        }
    }
    return figure;
}

Figure withoutRatio(Figure figure) {
    std::erase_if(figure.plots, [](const Plot& plot) { return plot.is_ratio; });
    return figure;
}

std::vector<std::size_t> plotsSharingX(const Figure& figure, std::size_t plot) {
    std::vector<std::size_t> shared;
    for (std::size_t i = 0; i < figure.plots.size(); ++i) {
        const auto& a = figure.plots[i];
        const auto& b = figure.plots[plot];
        const bool same = !figure.side_by_side && a.x.label == b.x.label && a.maps.empty() && b.maps.empty();
        if (i == plot || same) shared.push_back(i);
    }
    return shared;
}

}  // namespace normscope::widgets
