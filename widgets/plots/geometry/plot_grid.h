// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSizeF>

namespace normscope::widgets {

/// Rows and columns of small multiples.
struct PlotGrid {
    int rows = 1, columns = 1;
};

/// The grid of `count` plots in `size` whose cells are nearest to 4 : 3, with few empty ones.
PlotGrid gridFor(int count, const QSizeF& size);

}  // namespace normscope::widgets
