// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/softmax_norm.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace normscope {

namespace {

void require_row(std::span<const double> p) {
    if (p.empty()) throw InputError("p", "is empty", "one entry or more");
    for (const double entry : p)
        if (!(entry >= 0))
            throw InputError("p", std::to_string(entry) + " is not a probability", "numbers >= 0");
}

}  // namespace

double softmax_jacobian_norm(std::span<const double> p) {
    require_row(p);
    const auto largest = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
    const double top = p[largest];
    double second = 0;
    for (std::size_t i = 0; i < p.size(); ++i)
        if (i != largest) second = std::max(second, p[i]);
    if (p.size() == 1) return std::max(0.0, top - top * top);
    if (second == top) return top;
    // In t = p_max − λ: p_max²/t − Σ p_i²/(p_max − p_i − t) = 1 decreases over 0 < t < p_max − second.
    const auto above_one = [&](double t) {
        double sum = top * top / t;
        for (std::size_t i = 0; i < p.size(); ++i)
            if (i != largest) sum -= p[i] * p[i] / (top - p[i] - t);
        return sum > 1;
    };
    double low = 0, high = top - second;
    for (;;) {
        const double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high)) return top - middle;
        (above_one(middle) ? low : high) = middle;
    }
}

double softmax_jacobian_norm_by_power(std::span<const double> p, std::span<const double> start,
                                      int iterations) {
    require_row(p);
    if (start.size() != p.size()) throw InputError("start", "has another length", "that of the row");
    std::vector<double> v(start.begin(), start.end());
    double estimate = 0;
    for (int k = 0; k <= iterations; ++k) {
        double norm = 0;
        for (const double x : v) norm += x * x;
        norm = std::sqrt(norm);
        if (k > 0) estimate = norm;  // ‖Ju‖ of the unit vector u before
        if (k == iterations || norm == 0) break;
        double dot = 0;
        for (std::size_t i = 0; i < v.size(); ++i) dot += p[i] * (v[i] /= norm);
        for (std::size_t i = 0; i < v.size(); ++i) v[i] = p[i] * (v[i] - dot);
    }
    return estimate;
}

}  // namespace normscope
