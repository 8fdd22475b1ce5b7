// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/parts/same_shape.h"

#include <algorithm>

namespace normscope::widgets {

bool sameShape(const std::vector<Plot>& plots) {
    return std::all_of(plots.begin(), plots.end(), [&](const Plot& plot) {
        const HeatMap &map = plot.maps.front(), &first = plots.front().maps.front();
        return map.rows == first.rows && map.columns == first.columns;
    });
}

}  // namespace normscope::widgets
