// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QtGlobal>
#include <limits>

namespace normscope::app {

/// The step, the layer and the head that the panels show.
struct ShownPosition {
    static constexpr qint64 kNewest = std::numeric_limits<qint64>::max();

    qint64 step = kNewest;      ///< scrubbed step; kNewest follows the run
    int layer = -1, head = -1;  ///< -1: none is selected
};

}  // namespace normscope::app
