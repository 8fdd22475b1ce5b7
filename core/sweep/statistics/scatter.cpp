// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/statistics/scatter.h"

#include "core/backend/shared/counter_rng.h"
#include "core/base/nan.h"
#include "core/base/statistics.h"
#include "core/sweep/statistics/correlation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace normscope {

namespace {

constexpr int kSamples = 2000;

/// Φ(−t·√(n/(n−1))): the share of the bootstrap's distribution to leave off at each end, 0.025 for many
/// seeds.
double expanded_tail(std::size_t n) {
    const auto seeds = static_cast<double>(n);
    return std::erfc(student_quantile(n - 1) * std::sqrt(seeds / (seeds - 1)) / std::numbers::sqrt2) / 2;
}

}  // namespace

double scatter_statistic(const std::vector<ScatterPoint>& points, ScatterStatistic statistic) {
    std::vector<double> x, y;
    for (const ScatterPoint& point : points) {
        if (!(point.x > 0 && point.y > 0 && std::isfinite(point.x) && std::isfinite(point.y))) return kNaN;
        x.push_back(std::log(point.x));
        y.push_back(std::log(point.y));
    }
    if (x.size() < 2) return kNaN;
    switch (statistic) {
        case ScatterStatistic::Pearson:
            return pearson(x, y);
        case ScatterStatistic::Spearman:
            return spearman(x, y);
        case ScatterStatistic::R2:
            return std::pow(pearson(x, y), 2);
        case ScatterStatistic::Slope:
            break;
    }
    return least_squares_slope(x, y);
}

Interval scatter_interval(const std::vector<ScatterPoint>& points, ScatterStatistic statistic) {
    std::map<std::uint64_t, std::vector<ScatterPoint>> clusters;
    for (const ScatterPoint& point : points) clusters[point.seed].push_back(point);
    Interval result{scatter_statistic(points, statistic), kNaN, kNaN};
    if (clusters.size() < 2) return result;
    std::vector<const std::vector<ScatterPoint>*> seeds;
    for (const auto& [seed, cluster] : clusters) seeds.push_back(&cluster);
    std::vector<double> values;
    for (std::uint64_t sample = 0; sample < kSamples; ++sample) {
        RandomRow random({0, "bootstrap"}, sample);
        std::vector<ScatterPoint> drawn;
        for (std::size_t i = 0; i < seeds.size(); ++i) {
            const auto& cluster = *seeds[random.below(seeds.size())];
            drawn.insert(drawn.end(), cluster.begin(), cluster.end());
        }
        // One seed drawn alone may have a constant x.
        if (const double value = scatter_statistic(drawn, statistic); !std::isnan(value))
            values.push_back(value);
    }
    if (values.size() < kSamples / 2) return result;
    std::sort(values.begin(), values.end());
    const double tail = expanded_tail(seeds.size());
    result.low = quantile(values, tail);
    result.high = quantile(values, 1 - tail);
    return result;
}

}  // namespace normscope
