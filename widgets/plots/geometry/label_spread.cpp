// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plots/geometry/label_spread.h"

#include <algorithm>
#include <numeric>

namespace normscope::widgets {

std::vector<double> spreadLabels(const std::vector<double>& wanted, double height, double top,
                                 double bottom) {
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return wanted[a] < wanted[b]; });

    // Blocks of touching labels; in "wanted minus own offset" a block is constant: pool adjacent violators.
    struct Block {
        double sum = 0;
        std::size_t count = 0;
        double mean() const { return sum / static_cast<double>(count); }
    };
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < order.size(); ++i) {
        blocks.push_back({wanted[order[i]] - static_cast<double>(i) * height, 1});
        while (blocks.size() > 1 && blocks.back().mean() < blocks[blocks.size() - 2].mean()) {
            const Block last = blocks.back();
            blocks.pop_back();
            blocks.back().sum += last.sum;
            blocks.back().count += last.count;
        }
    }
    // Clamping the pooled means keeps their order, so it keeps the labels apart.
    const double low = top + height / 2;
    const double high =
        std::max(low, bottom - height / 2 - height * (static_cast<double>(wanted.size()) - 1));
    std::vector<double> result(wanted.size());
    std::size_t i = 0;
    for (const auto& block : blocks) {
        const double at = std::clamp(block.mean(), low, high);
        for (std::size_t k = 0; k < block.count; ++k, ++i)
            result[order[i]] = at + static_cast<double>(i) * height;
    }
    return result;
}

}  // namespace normscope::widgets
