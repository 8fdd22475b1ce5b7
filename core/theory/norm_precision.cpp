// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/theory/norm_precision.h"

#include "core/base/error.h"

#include <cmath>
#include <string>

namespace normscope {
namespace {

void require(bool good, const char* name, double value, const char* allowed) {
    if (!good) throw InputError(name, std::to_string(value), allowed);
}

}  // namespace

double rho_ln(double variance, double eps, std::size_t width, double unit_round_off) {
    const auto natural = [](double value) { return value >= 0 && std::isfinite(value); };
    require(natural(variance), "variance", variance, "finite numbers >= 0");
    require(natural(eps), "eps", eps, "finite numbers >= 0");
    require(variance + eps > 0, "eps", eps, "numbers > 0 where the variance is 0");
    require(width > 0, "width", static_cast<double>(width), "at least 1");
    require(natural(unit_round_off), "unit_round_off", unit_round_off, "finite numbers >= 0");
    return variance / eps * static_cast<double>(width) * unit_round_off;
}

}  // namespace normscope
