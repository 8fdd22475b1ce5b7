// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/figures/groups/ribbon.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace normscope::widgets {

bool Ribbon::operator==(const Ribbon& other) const {
    const auto equal = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    return std::tie(name, index, runs, step, aged) ==
               std::tie(other.name, other.index, other.runs, other.step, other.aged) &&
           std::equal(gradient.begin(), gradient.end(), other.gradient.begin(), other.gradient.end(), equal);
}

}  // namespace normscope::widgets
