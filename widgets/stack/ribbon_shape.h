// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPainterPath>
#include <QString>
#include <cstdint>
#include <functional>
#include <vector>

namespace normscope::widgets {

/// The width in pixels of a line that carries a gradient, on a log scale: 1 at 10⁻⁴ or less, `most` at 1 or
/// more. NaN gives NaN, a gap.
double gradientWidth(double gradient, double most);

/// The outline of a ribbon around a vertical line: `y` gives the height of a hidden state. A state that was
/// not measured is a gap; one between two gaps extends half-way to its neighbours.
QPainterPath ribbonShape(const std::vector<double>& gradient, double x, double most,
                         const std::function<double(int)>& y);

/// The layers (from 1) that have space for a label at an axis of D layers: the last, and of the others every
/// second, or each where they are few, or fewer where there are many; all at least `apart` pixels apart and
/// above the axis's lower end.
std::vector<int> labelledLayers(int depth, double height, double apart);

}  // namespace normscope::widgets
