// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/backend/device_side.h"

#include <algorithm>
#include <cmath>
#include <limits>

// What a call of an operation may differ by from a reference, and the sizes of calls.

namespace normscope::device_side {

/// The largest error of all outputs relative to each output's largest magnitude, in units of T's machine
/// epsilon.
template <class T>
double error_of(const Outputs& found, const Outputs& reference) {
    double worst = 0;
    for (std::size_t k = 0; k < reference.size(); ++k) {
        const auto& [name, expected] = reference[k];
        const std::vector<double>& actual = found[k].second;
        double scale = 0, most = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            if (actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]))) continue;
            most = std::max(most, std::abs(actual[i] - expected[i]));
            if (!std::isfinite(most)) return std::numeric_limits<double>::infinity();
        }
        for (double v : expected)
            if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
        if (most > 0) worst = std::max(worst, most / (scale * std::numeric_limits<T>::epsilon()));
    }
    return worst;
}

inline bool same_bits(const Outputs& a, const Outputs& b) {
    for (std::size_t k = 0; k < a.size(); ++k)
        if (std::memcmp(a[k].second.data(), b[k].second.data(), a[k].second.size() * sizeof(double)) != 0)
            return false;
    return a.size() == b.size();
}

inline std::size_t area(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

/// Sequences of tokens of width d; 77 rows are more than one chunk of a sum over rows.
struct Sizes {
    int sequences = 7, tokens = 11, d = 37;
    int rows() const { return sequences * tokens; }
    std::size_t count() const { return area(rows(), d); }
};

/// The largest error relative to the output's largest magnitude: `epsilons` machine epsilons of the scalar,
/// and in BF16 and FP16 half a unit of the format for each of `roundings` results that are rounded on the way
/// to an output, one after another.
struct Allowed {
    Allowed(double e, double r = 1) : epsilons(e), roundings(r) {}  // NOLINT: mostly one number
    double epsilons, roundings;
};
/// A sum of `terms` of both signs: errors of a sum in any order grow as their root.
inline Allowed sum_of(int terms, double roundings = 1) {
    return {4 + std::sqrt(terms), roundings};
}

}  // namespace normscope::device_side
