// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/statistics/correlation.h"

#include "core/base/assert.h"
#include "core/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace normscope {

double pearson(const std::vector<double>& x, const std::vector<double>& y) {
    NORMSCOPE_ASSERT(x.size() == y.size(), "pairs");
    const double x_mean = mean(x), y_mean = mean(y);
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xy += (x[i] - x_mean) * (y[i] - y_mean);
        xx += (x[i] - x_mean) * (x[i] - x_mean);
        yy += (y[i] - y_mean) * (y[i] - y_mean);
    }
    return xy / std::sqrt(xx * yy);
}

std::vector<double> ranks_of(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
    std::vector<double> ranks(values.size());
    for (std::size_t from = 0; from < order.size();) {
        std::size_t to = from + 1;
        while (to < order.size() && values[order[to]] == values[order[from]]) ++to;
        for (std::size_t i = from; i < to; ++i) ranks[order[i]] = static_cast<double>(from + to + 1) / 2;
        from = to;
    }
    return ranks;
}

double spearman(const std::vector<double>& x, const std::vector<double>& y) {
    return pearson(ranks_of(x), ranks_of(y));
}

double rank_trend(const std::vector<double>& values) {
    std::vector<double> index(values.size());
    std::iota(index.begin(), index.end(), 1.0);
    return pearson(index, ranks_of(values));
}

}  // namespace normscope
