// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace normscope {

// Each is NaN without values, and where a value is NaN; finite_values() selects what is to be counted.

std::vector<double> finite_values(std::vector<double> values);

double mean(const std::vector<double>& values);
/// s/√n with the sample's standard deviation s (n − 1 in its divisor). NaN below two values.
double standard_error(const std::vector<double>& values);

/// Of an even count the mean of the middle two.
double median(std::vector<double> values);
/// Of an even count the larger of the middle two: always one of the values. Verdicts, spikes and times use
/// it.
double upper_median(std::vector<double> values);
/// Of an even count the geometric mean of the middle two: for ratios, whose reciprocals then have the
/// reciprocal median. Of positive values.
double geometric_median(std::vector<double> values);
/// The quantile q of ascending values, linear between the neighbours of position q·(count − 1), as NumPy's
/// default.
double quantile(const std::vector<double>& ascending, double q);

/// Of y over x, as many of each; NaN where all x are the same.
double least_squares_slope(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace normscope
