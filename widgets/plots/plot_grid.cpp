// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/plot_grid.h"

#include <algorithm>
#include <cmath>

namespace normscope::widgets {

PlotGrid gridFor(int count, const QSizeF& size) {
    constexpr double kAspect = 4.0 / 3, kEmptyCell = 0.1;
    PlotGrid best;
    double least = INFINITY;
    for (int columns = 1; columns <= std::max(1, count); ++columns) {
        const int rows = (count + columns - 1) / columns;
        const double aspect =
            std::max(1.0, size.width()) / columns / (std::max(1.0, size.height()) / std::max(1, rows));
        const double cost = std::abs(std::log(aspect / kAspect)) + kEmptyCell * (rows * columns - count);
        if (cost < least) {
            least = cost;
            best = {rows, columns};
        }
    }
    return best;
}

}  // namespace normscope::widgets
