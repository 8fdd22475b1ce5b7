// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/step_overview.h"

#include <algorithm>
#include <cmath>

namespace normscope {
namespace {

constexpr auto block = static_cast<std::size_t>(StepOverview::base_factor);

template <typename Compare>
std::vector<double> extremes(const std::vector<double>& values, Compare better) {
    std::vector<double> result;
    for (std::size_t begin = 0; begin < values.size(); begin += block) {
        double best = std::nan("");
        for (std::size_t i = begin; i < std::min(begin + block, values.size()); ++i)
            if (std::isnan(best) || better(values[i], best)) best = values[i];
        result.push_back(best);
    }
    return result;
}

StepOverview reduced(const std::vector<std::int64_t>& step, std::int64_t factor,
                     const std::vector<std::string>& names, const std::vector<std::vector<double>>& low,
                     const std::vector<std::vector<double>>& high) {
    StepOverview level;
    level.factor = factor * StepOverview::base_factor;
    level.names = names;
    for (std::size_t row = 0; row < step.size(); row += block) level.step.push_back(step[row]);
    for (const auto& column : low) level.low.push_back(extremes(column, std::less<>()));
    for (const auto& column : high) level.high.push_back(extremes(column, std::greater<>()));
    return level;
}

}  // namespace

StepOverview overview_of(const StepTable& table) {
    return reduced(table.step, 1, table.names, table.columns, table.columns);
}

StepOverview coarser(const StepOverview& level) {
    return reduced(level.step, level.factor, level.names, level.low, level.high);
}

}  // namespace normscope
