// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/transport.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace normscope {

namespace {

void require_costs(std::size_t count, std::span<const double> cost) {
    if (cost.size() != count * count)
        throw InputError("cost", std::to_string(cost.size()) + " values", "count² of them");
    for (const double c : cost)
        if (!std::isfinite(c)) throw InputError("cost", std::to_string(c), "finite numbers");
}

double require_factor(double value) {
    if (!(value >= 0 && std::isfinite(value)))
        throw InputError("shift bound", std::to_string(value), "finite numbers >= 0");
    return value;
}

}  // namespace

std::vector<std::size_t> cheapest_assignment(std::size_t count, std::span<const double> cost) {
    require_costs(count, cost);
    constexpr double inf = std::numeric_limits<double>::infinity();
    const std::size_t none = count;  // also the column from which a path begins
    std::vector<double> of_row(count, 0), of_column(count + 1, 0);
    std::vector<std::size_t> row_of(count + 1, none), before(count + 1, none);
    for (std::size_t start = 0; start < count; ++start) {
        row_of[none] = start;
        std::size_t column = none;
        std::vector<double> reach(count, inf);
        std::vector<bool> done(count + 1, false);
        do {
            done[column] = true;
            const std::size_t row = row_of[column];
            double step = inf;
            std::size_t next = none;
            for (std::size_t j = 0; j < count; ++j) {
                if (done[j]) continue;
                const double slack = cost[row * count + j] - of_row[row] - of_column[j];
                if (slack < reach[j]) {
                    reach[j] = slack;
                    before[j] = column;
                }
                if (reach[j] < step) {
                    step = reach[j];
                    next = j;
                }
            }
            for (std::size_t j = 0; j <= count; ++j) {
                if (done[j]) {
                    of_row[row_of[j]] += step;
                    of_column[j] -= step;
                } else if (j < count) {
                    reach[j] -= step;
                }
            }
            column = next;
        } while (row_of[column] != none);
        while (column != none) {
            row_of[column] = row_of[before[column]];
            column = before[column];
        }
    }
    std::vector<std::size_t> column_of(count);
    for (std::size_t j = 0; j < count; ++j) column_of[row_of[j]] = j;
    return column_of;
}

double wasserstein_2(std::size_t count, std::span<const double> squared_distances) {
    const std::vector<std::size_t> assigned = cheapest_assignment(count, squared_distances);
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += squared_distances[i * count + assigned[i]];
    return std::sqrt(sum / static_cast<double>(count));
}

std::vector<double> shift_bounds(double initial, std::size_t tokens, std::size_t width,
                                 std::span<const BoundedSublayer> sublayers) {
    const double entries = std::sqrt(static_cast<double>(tokens) * static_cast<double>(width));
    std::vector<double> bounds{require_factor(initial)};
    for (const BoundedSublayer& s : sublayers) {
        const double rms = require_factor(s.output_norm ? s.gamma_max : s.branch_rms);
        bounds.push_back(require_factor(s.gate_scale) *
                         (require_factor(s.shortcut_scale) * bounds.back() +
                          2 * require_factor(s.step) * require_factor(s.branch_scale) * entries * rms));
    }
    return bounds;
}

}  // namespace normscope
