// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/softmax_sensitivity.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

namespace normscope {
namespace {

[[noreturn]] void reject_entry(std::size_t position, double value) {
    throw InputError("p[" + std::to_string(position) + "]", std::to_string(value) + " is not a probability",
                     "numbers >= 0");
}

void require_unit_sum(double sum, double tolerance) {
    if (!(std::abs(sum - 1) <= tolerance))
        throw InputError("p", "the row sums to " + std::to_string(sum),
                         "1 within " + std::to_string(tolerance));
}

}  // namespace

template <class Scalar>
Sensitivity SoftmaxSensitivity::solve_row(std::span<const Scalar> p) {
    values_.resize(p.size());
    positions_.resize(p.size());
    double sum = 0;
    double largest = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
        const double value = p[i];
        if (!(value >= 0)) reject_entry(i, value);
        values_[count] = value;
        positions_[count] = static_cast<std::uint32_t>(i);
        count += value > 0 ? 1 : 0;
        sum += value;
        largest = std::max(largest, value);
    }
    require_unit_sum(sum, options_.sum_tolerance);
    values_.resize(count);
    positions_.resize(count);

    // Every value below is a sum or difference of prefixes of at most `count` terms, each rounded by 2^-53.
    const double rounding = static_cast<double>(count + 2) * 0x1p-51;

    closed_form_ = 2 * largest >= sum;
    if (closed_form_) {
        const auto top = std::max_element(values_.begin(), values_.end());
        argmax_ = positions_[static_cast<std::size_t>(top - values_.begin())];
        *top = 0;  // the others are summed on their own: 1 − p_max would lose a small θ
        const double rest = std::accumulate(values_.begin(), values_.end(), 0.0);
        const double value = 4 * (largest / sum) * (rest / sum);
        return {std::min(value, 1.0), std::min(value * (1 - rounding), 1.0),
                std::min(value * (1 + rounding), 1.0)};
    }

    // 0.9 allows for rounding, so that the interval is below the tolerance.
    const double good_enough =
        count <= options_.exact_entries ? 0 : std::sqrt(0.9 * options_.tolerance) * sum;
    const auto [difference, proven] = partition_.split(values_, good_enough, options_.work_limit);
    const auto theta_at = [](double d) { return 1 - d * d; };
    return {theta_at(difference / sum), theta_at(difference / sum + rounding),
            theta_at(std::max(0.0, proven / sum - rounding))};
}

template Sensitivity SoftmaxSensitivity::solve_row(std::span<const double>);
template Sensitivity SoftmaxSensitivity::solve_row(std::span<const float>);

std::vector<std::size_t> SoftmaxSensitivity::subset() const {
    if (closed_form_) return {argmax_};
    std::vector<std::size_t> subset;
    const std::span<const std::int8_t> signs = partition_.signs();
    for (std::size_t k = 0; k < signs.size(); ++k)
        if (signs[k] > 0) subset.push_back(positions_[k]);
    return subset;
}

Sensitivity softmax_sensitivity(std::span<const double> p, const SensitivityOptions& options) {
    return SoftmaxSensitivity(options).solve(p);
}

Sensitivity softmax_sensitivity(std::span<const float> p, const SensitivityOptions& options) {
    return SoftmaxSensitivity(options).solve(p);
}

SensitivityWithSubset theta_with_subset(std::span<const double> p, const SensitivityOptions& options) {
    SoftmaxSensitivity solver(options);
    const Sensitivity theta = solver.solve(p);
    return {theta, solver.subset()};
}

double prefix_heuristic_sensitivity(std::span<const double> p, double sum_tolerance) {
    std::vector<double> sorted(p.begin(), p.end());
    for (std::size_t i = 0; i < sorted.size(); ++i)
        if (!(sorted[i] >= 0)) reject_entry(i, sorted[i]);
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    std::partial_sum(sorted.begin(), sorted.end(), sorted.begin());
    const double sum = sorted.empty() ? 0 : sorted.back();
    require_unit_sum(sum, sum_tolerance);
    double closest = 1;
    for (const double prefix : sorted) closest = std::min(closest, std::abs(2 * prefix / sum - 1));
    return 1 - closest * closest;
}

double peaked_row_bound(double kappa) {
    if (!(kappa >= 0 && kappa <= 1))
        throw InputError("kappa", std::to_string(kappa) + " is out of range", "0 … 1");
    return kappa <= 0.5 ? 4 * kappa * (1 - kappa) : 1;
}

}  // namespace normscope
