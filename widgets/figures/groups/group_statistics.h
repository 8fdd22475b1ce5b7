// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/figures/figure.h"

#include <QString>
#include <string>
#include <vector>

namespace normscope::widgets {

/// What the band about a group's median shows.
enum class Spread { None, MinMax, Quartiles, StandardError };

/// "none", "minmax", "iqr", "se". Throws InputError with the allowed words.
Spread spreadFromWord(const std::string& word);
std::string spreadWord(Spread spread);

/// "minimum to maximum", for a sentence; empty for None.
QString spreadText(Spread spread, Scale scale);

/// Median and band of a group's curves, point by point.
struct GroupCurve {
    std::vector<double> x;                  ///< of every curve, ascending, each once
    std::vector<double> median, low, high;  ///< NaN where no run has a finite value
    std::vector<int> runs;                  ///< how many have one

    int fewest() const;
};

/// At each x the median of the curves that have a finite value there; runs that ended are missing after their
/// end, never continued. Of an even number, the mean of the two in the middle. Quartiles are interpolated
/// linearly between order statistics. StandardError is s/√n about the median, s with n − 1; on a log axis
/// that of the logarithms, as a factor; undefined (NaN) for one run or, on a log axis, a value ≤ 0.
GroupCurve groupCurve(const std::vector<const Curve*>& curves, Spread spread, Scale scale);

}  // namespace normscope::widgets
