// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/rope_table.h"

#include <cmath>

namespace normscope {

template <class T>
std::vector<T> rope_table(const StackSpec& spec) {
    if (spec.position != Position::Rope) return {};
    const auto width = static_cast<std::size_t>(spec.d_head()), half = width / 2;
    std::vector<T> table(static_cast<std::size_t>(spec.context) * width);
    for (std::size_t i = 0; i < half; ++i) {
        const double frequency = std::pow(spec.rope_base, -2.0 * static_cast<double>(i) / spec.d_head());
        for (std::size_t t = 0; t < static_cast<std::size_t>(spec.context); ++t) {
            const double angle = static_cast<double>(t) * frequency;
            table[t * width + i] = static_cast<T>(std::cos(angle));
            table[t * width + half + i] = static_cast<T>(std::sin(angle));
        }
    }
    return table;
}
template std::vector<float> rope_table<float>(const StackSpec&);
template std::vector<double> rope_table<double>(const StackSpec&);

}  // namespace normscope
