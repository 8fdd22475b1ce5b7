// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPainterPath>
#include <QString>
#include <cstdint>
#include <functional>
#include <vector>

namespace normscope::widgets {

/// ‖∂L/∂h‖ along the depth, of a run or of a group of runs, and how it is named.
struct Ribbon {
    QString name;
    int index = 0;                 ///< of its colour and dash
    int runs = 1;                  ///< of a group; its values are then their medians
    std::vector<double> gradient;  ///< at the hidden states 0 … 2D; NaN: none; empty: no sample
    std::int64_t step = 0;         ///< of the sample

    /// D, 0 without a sample.
    int depth() const { return static_cast<int>(gradient.size() / 2); }
    /// Equal to what is drawn: NaN is equal to NaN.
    bool operator==(const Ribbon& other) const;
};

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
