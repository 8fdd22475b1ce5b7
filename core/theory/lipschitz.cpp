// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/lipschitz.h"

#include "core/stack/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace normscope {
namespace {

double require_norm(double norm) {
    if (!(norm >= 0 && std::isfinite(norm)))
        throw InputError("branch_norm", std::to_string(norm), "finite numbers >= 0");
    return norm;
}

template <class Factor>
double product(std::span<const double> norms, Factor factor) {
    double result = 1;
    for (const double norm : norms) result *= factor(norm);
    return result;
}

}  // namespace

double residual_min_singular_value(double branch_norm) {
    return std::max(0.0, 1 - require_norm(branch_norm));
}

double residual_min_singular_value(std::span<const double> branch_norms) {
    return product(branch_norms, [](double norm) { return residual_min_singular_value(norm); });
}

double residual_condition_number(double branch_norm) {
    const double rho = require_norm(branch_norm);
    return rho < 1 ? (1 + rho) / (1 - rho) : std::numeric_limits<double>::infinity();
}

double residual_condition_number(std::span<const double> branch_norms) {
    return product(branch_norms, [](double norm) { return residual_condition_number(norm); });
}

double residual_amplification(std::span<const double> branch_norms) {
    return product(branch_norms, [](double norm) { return 1 + require_norm(norm); });
}

}  // namespace normscope
