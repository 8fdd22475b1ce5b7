// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace normscope {

/// Mean of independent values and the standard error of that mean.
struct Estimate {
    double mean, error;

    explicit Estimate(std::span<const double> values) {
        const double n = static_cast<double>(values.size());
        double sum = 0, squares = 0;
        for (const double v : values) sum += v;
        mean = sum / n;
        for (const double v : values) squares += (v - mean) * (v - mean);
        error = std::sqrt(squares / (n - 1) / n);
    }

    /// Within four standard errors, and the errors small enough for that to mean something.
    bool agrees(double expected, double largest_error) const {
        return error < largest_error && std::abs(mean - expected) < 4 * error;
    }
};

}  // namespace normscope
