// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/lipschitz.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace normscope {
namespace {

double require_norm(double norm) {
    if (!(norm >= 0 && std::isfinite(norm)))
        throw InputError("branch_norm", std::to_string(norm), "finite numbers >= 0");
    return norm;
}

}  // namespace

double residual_min_singular_value(double branch_norm) {
    return std::max(0.0, 1 - require_norm(branch_norm));
}

double residual_min_singular_value(std::span<const double> branch_norms) {
    double product = 1;
    for (const double norm : branch_norms) product *= residual_min_singular_value(norm);
    return product;
}

}  // namespace normscope
