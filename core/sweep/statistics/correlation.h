// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace normscope {

/// Pearson's correlation of as many values each; NaN where one list is constant, or shorter than two.
double pearson(const std::vector<double>& x, const std::vector<double>& y);

/// Ranks from 1; equal values have the mean of their ranks.
std::vector<double> ranks_of(const std::vector<double>& values);

/// Spearman's rank correlation.
double spearman(const std::vector<double>& x, const std::vector<double>& y);

/// Spearman's rank correlation of the values with their index.
double rank_trend(const std::vector<double>& values);

}  // namespace normscope
