// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/interchange/rotary_rows.h"

namespace normscope {

std::vector<std::size_t> rotary_order(const StackSpec& s, RotaryPairs pairs) {
    const auto width = static_cast<std::size_t>(s.d_head()), half = width / 2,
               rotating = static_cast<std::size_t>(s.position == Position::Rope ? s.rotary_pairs() : half);
    std::vector<std::size_t> order(width);
    std::size_t rest = 2 * rotating;
    for (std::size_t j = 0; j < width; ++j) {
        const std::size_t pair = j % half, second = j < half ? 0 : 1;
        order[j] = pair >= rotating                   ? rest++
                   : pairs == RotaryPairs::Neighbours ? 2 * pair + second
                                                      : pair + second * rotating;
    }
    return order;
}

std::vector<std::size_t> rotary_rows(const StackSpec& s, int heads, RotaryPairs pairs) {
    const std::vector<std::size_t> order = rotary_order(s, pairs);
    std::vector<std::size_t> rows;
    for (int h = 0; h < heads; ++h)
        for (const std::size_t entry : order)
            rows.push_back(static_cast<std::size_t>(h) * order.size() + entry);
    return rows;
}

}  // namespace normscope
