// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/statistics/interval.h"

#include "core/base/statistics.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace normscope {

namespace {

constexpr double kNormal = 1.959963984540054;  // two-sided 95 % of the normal distribution

/// t(0.975; 1 … 30).
constexpr double kStudent[] = {
    12.706204736174698, 4.302652729749462, 3.182446305283708, 2.776445105197793, 2.570581835636315,
    2.446911851144970,  2.364624251592785, 2.306004135204166, 2.262157162798204, 2.228138851986273,
    2.200985160091638,  2.178812829667228, 2.160368656462791, 2.144786687917804, 2.131449545559323,
    2.119905299221255,  2.109815577833181, 2.100922040241038, 2.093024054408309, 2.085963447265837,
    2.079613844727662,  2.073873067904015, 2.068657610419041, 2.063898561628020, 2.059538552753294,
    2.055529438642870,  2.051830516480281, 2.048407141795244, 2.045229642132703, 2.042272456301238};

}  // namespace

double student_quantile(std::size_t freedom) {
    if (freedom >= 1 && freedom <= std::size(kStudent)) return kStudent[freedom - 1];
    const double x = kNormal, n = static_cast<double>(freedom);
    const double x3 = x * x * x, x5 = x3 * x * x, x7 = x5 * x * x;
    return x + (x3 + x) / (4 * n) + (5 * x5 + 16 * x3 + 3 * x) / (96 * n * n) +
           (3 * x7 + 19 * x5 + 17 * x3 - 15 * x) / (384 * n * n * n);
}

Interval student_interval(const std::vector<double>& values) {
    const double centre = mean(values);
    const double half = values.size() < 2 ? std::numeric_limits<double>::quiet_NaN()
                                          : student_quantile(values.size() - 1) * standard_error(values);
    return {centre, centre - half, centre + half};
}

Interval share_interval(std::size_t count, std::size_t total) {
    const auto n = static_cast<double>(total);
    const double p = static_cast<double>(count) / n, z2 = kNormal * kNormal;
    const double centre = (p + z2 / (2 * n)) / (1 + z2 / n);
    const double half = kNormal / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
    // Exact at the ends, where rounding would leave 1e-17.
    return {p, count == 0 ? 0 : centre - half, count == total ? 1 : centre + half};
}

Interval share_difference_interval(std::size_t count, std::size_t total, std::size_t other_count,
                                   std::size_t other_total) {
    const Interval a = share_interval(count, total), b = share_interval(other_count, other_total);
    const double difference = a.mean - b.mean;
    return {difference, difference - std::hypot(a.mean - a.low, b.high - b.mean),
            difference + std::hypot(a.high - a.mean, b.mean - b.low)};
}

}  // namespace normscope
