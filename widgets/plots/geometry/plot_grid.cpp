// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/geometry/plot_grid.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

PlotGrid gridFor(int count, const QSizeF& size) {
    constexpr double kAspect = 1, kEmptyWeight = 1.5;  // four plots: 2 × 2, not 2 × 3 with two left empty
    PlotGrid best;
    double least = INFINITY;
    for (int columns = 1; columns <= std::max(1, count); ++columns) {
        const int rows = (count + columns - 1) / columns;
        const double aspect =
            std::max(1.0, size.width()) / columns / (std::max(1.0, size.height()) / std::max(1, rows));
        // Both in e-folds: how far the shape is off, and how much of the page stays empty.
        const double empty = std::log(static_cast<double>(rows * columns) / std::max(1, count));
        const double cost = std::abs(std::log(aspect / kAspect)) + kEmptyWeight * empty;
        if (cost < least) {
            least = cost;
            best = {rows, columns};
        }
    }
    return best;
}

}  // namespace normscope::widgets
