// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/parts/figure_key.h"

namespace normscope::widgets {

/// Where the cells of the grid get their figures from; a cell asks while it is visible. Interface thread.
class FigureSource {
  public:
    virtual ~FigureSource() = default;
    /// The inputs of a panel's figure: equal keys, equal figures. Asked at every change, so it is cheap.
    virtual FigureKey figureKey(const std::string& panel, const PanelOptions& options) const = 0;
    virtual Figure figure(const std::string& panel, const PanelOptions& options) const = 0;
};

}  // namespace normscope::widgets
