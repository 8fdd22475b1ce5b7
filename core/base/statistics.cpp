// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/statistics.h"

#include "core/base/assert.h"
#include "core/base/nan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace normscope {

namespace {

/// The middle values: the same one twice for an odd count.
struct Middle {
    double lower = kNaN, upper = kNaN;
};

Middle middle_of(std::vector<double>& values) {
    if (values.empty() || std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
        return {};
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return {values.size() % 2 == 1 ? *middle : *std::max_element(values.begin(), middle), *middle};
}

}  // namespace

std::vector<double> finite_values(std::vector<double> values) {
    std::erase_if(values, [](double v) { return !std::isfinite(v); });
    return values;
}

double mean(const std::vector<double>& values) {
    if (values.empty()) return kNaN;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_error(const std::vector<double>& values) {
    if (values.size() < 2) return kNaN;
    const double centre = mean(values), n = static_cast<double>(values.size());
    double squares = 0;
    for (const double v : values) squares += (v - centre) * (v - centre);
    return std::sqrt(squares / (n - 1) / n);
}

double median(std::vector<double> values) {
    const Middle middle = middle_of(values);
    return values.size() % 2 == 1 ? middle.upper : (middle.lower + middle.upper) / 2;
}

double upper_median(std::vector<double> values) {
    return middle_of(values).upper;
}

double geometric_median(std::vector<double> values) {
    const Middle middle = middle_of(values);
    return values.size() % 2 == 1 ? middle.upper : std::sqrt(middle.lower * middle.upper);
}

double quantile(const std::vector<double>& ascending, double q) {
    NORMSCOPE_ASSERT(std::is_sorted(ascending.begin(), ascending.end()), "the values are ascending");
    NORMSCOPE_ASSERT(q >= 0 && q <= 1, "a quantile is a share");
    if (ascending.empty()) return kNaN;
    const double position = q * static_cast<double>(ascending.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, ascending.size() - 1);
    return ascending[below] + (position - static_cast<double>(below)) * (ascending[above] - ascending[below]);
}

double least_squares_slope(const std::vector<double>& x, const std::vector<double>& y) {
    NORMSCOPE_ASSERT(x.size() == y.size(), "a y for each x");
    const double x_mean = mean(x), y_mean = mean(y);
    double xx = 0, xy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xx += (x[i] - x_mean) * (x[i] - x_mean);
        xy += (x[i] - x_mean) * (y[i] - y_mean);
    }
    return xy / xx;
}

}  // namespace normscope
