// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/runs/recording_row.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace normscope::widgets {

RecordingCurve curveOf(const std::vector<double>& losses) {
    RecordingCurve curve;
    const std::size_t blocks = std::min<std::size_t>(losses.size(), kCurveBlocks);
    for (std::size_t block = 0; block < blocks; ++block) {
        double low = std::nan(""), high = std::nan("");
        for (std::size_t i = block * losses.size() / blocks; i < (block + 1) * losses.size() / blocks; ++i) {
            low = std::fmin(low, losses[i]);
            high = std::fmax(high, losses[i]);
        }
        curve.low.push_back(low);
        curve.high.push_back(high);
    }
    return curve;
}

}  // namespace normscope::widgets
