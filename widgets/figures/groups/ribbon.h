// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <cstdint>
#include <vector>

namespace normscope::widgets {

/// ‖∂L/∂h‖ along the depth, of a run or of a group of runs, and how it is named.
struct Ribbon {
    QString name;
    int index = 0;                 ///< of its colour and dash
    int runs = 1;                  ///< of a group; its values are then their medians
    std::vector<double> gradient;  ///< at the hidden states 0 … 2D; NaN: none; empty: no sample
    std::int64_t step = 0;         ///< of the sample
    bool aged = false;             ///< of another step than the scrubbed one: at half strength

    /// D, 0 without a sample.
    int depth() const { return static_cast<int>(gradient.size() / 2); }
    /// Equal to what is drawn: NaN is equal to NaN.
    bool operator==(const Ribbon& other) const;
};

}  // namespace normscope::widgets
