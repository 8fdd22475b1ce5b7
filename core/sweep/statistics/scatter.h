// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sweep/statistics/interval.h"

#include <cstdint>
#include <vector>

namespace normscope {

/// One point of a scatter; points of one seed are not independent of each other.
struct ScatterPoint {
    double x = 0, y = 0;
    std::uint64_t seed = 0;
};

/// How y goes with x. Of logarithms all but Spearman's, which they do not change: points must be positive.
enum class ScatterStatistic {
    Pearson,   ///< correlation of the logarithms
    Spearman,  ///< of the ranks
    R2,        ///< share of the variance of log y that the least-squares line in log x explains
    Slope      ///< of that line: y ∝ x^slope
};
/// "pearson of logs", "spearman", "r2 of logs", "slope of logs".
inline constexpr const char* kScatterStatistics[] = {"pearson of logs", "spearman", "r2 of logs",
                                                     "slope of logs"};

/// NaN where all x, or all y, are the same, and with a point that is not positive and finite.
double scatter_statistic(const std::vector<ScatterPoint>& points, ScatterStatistic statistic);

/// With the 95 % interval of 2000 bootstrap samples of the seeds, each with all its points: the expanded
/// percentile interval, which makes up for the narrowness of a few seeds (Hesterberg, What Teachers Should
/// Know about the Bootstrap, 2015). Deterministic. Without an interval below two seeds.
Interval scatter_interval(const std::vector<ScatterPoint>& points, ScatterStatistic statistic);

}  // namespace normscope
