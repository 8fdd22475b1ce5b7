// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/assert.h"
#include "core/probe/interface/probe_result.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace normscope {

/// A statistic of the sequences of the probe batch, with its standard error over them.
struct Averaged {
    double value = 0;
    double error = 0;  ///< delete-one jackknife (Efron & Stein 1981); NaN with fewer than two sequences
};

/// The value of `statistic` over all sequences and its jackknife error. `sums` [sequences, terms], row-major:
/// the contribution of each sequence (or group of sequences) to every term. statistic(totals, count): totals
/// [terms] over `count` of the sequences. A statistic of means divides by its own counts, so that omitting a
/// sequence keeps its scale.
template <class Statistic>
Averaged jackknife(std::span<const double> sums, std::size_t terms, const Statistic& statistic) {
    NORMSCOPE_ASSERT(terms > 0 && sums.size() % terms == 0, "sums is [sequences, terms]");
    const std::size_t sequences = sums.size() / terms;
    std::vector<double> totals(terms, 0.0), without(terms);
    for (std::size_t b = 0; b < sequences; ++b)
        for (std::size_t i = 0; i < terms; ++i) totals[i] += sums[b * terms + i];
    Averaged result{statistic(std::span<const double>(totals), sequences),
                    std::numeric_limits<double>::quiet_NaN()};
    if (sequences < 2) return result;
    std::vector<double> omitted(sequences);
    double mean = 0;
    for (std::size_t b = 0; b < sequences; ++b) {
        for (std::size_t i = 0; i < terms; ++i) without[i] = totals[i] - sums[b * terms + i];
        omitted[b] = statistic(std::span<const double>(without), sequences - 1);
        mean += omitted[b] / static_cast<double>(sequences);
    }
    double squares = 0;
    for (const double value : omitted) squares += (value - mean) * (value - mean);
    const double n = static_cast<double>(sequences);
    result.error = std::sqrt((n - 1) / n * squares);
    return result;
}

/// The mean of `count` values from their total, a statistic of jackknife().
inline double mean_of_total(std::span<const double> total, std::size_t count) {
    return total[0] / static_cast<double>(count);
}

/// Adds the array `name` and, of the same shape, `name`_error to a result.
inline void add_averaged(ProbeResult& result, const std::string& name, std::vector<std::size_t> shape,
                         const std::vector<Averaged>& averaged, std::vector<std::string> axes,
                         std::string unit) {
    std::vector<double> values, errors;
    for (const Averaged& a : averaged) {
        values.push_back(a.value);
        errors.push_back(a.error);
    }
    result.arrays.push_back({name, shape, std::move(values), axes, unit});
    result.arrays.push_back(
        {name + "_error", std::move(shape), std::move(errors), std::move(axes), std::move(unit)});
}

}  // namespace normscope
