// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <vector>

namespace normscope {

/// An estimate with its 95 % confidence interval. Without an interval (one value) both ends are NaN.
struct Interval {
    double mean = 0, low = 0, high = 0;
};

/// Of the mean of independent values: mean ± t·s/√n, Student's t with n − 1 degrees of freedom. At least one
/// value.
Interval student_interval(const std::vector<double>& values);

/// The two-sided 95 % quantile of Student's t; `freedom` ≥ 1. Beyond 30 by the expansion in 1/freedom
/// (Abramowitz and Stegun 26.7.5), exact to 1e-5 there.
double student_quantile(std::size_t freedom);

/// Of a share, `count` of `total` ≥ 1: Wilson's score interval. It does not shrink to a point at 0 or 1.
Interval share_interval(std::size_t count, std::size_t total);

/// Of the difference of two shares of independent runs: Newcombe's interval from the two Wilson intervals.
Interval share_difference_interval(std::size_t count, std::size_t total, std::size_t other_count,
                                   std::size_t other_total);

}  // namespace normscope
