// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/lanes.h"

#include <cmath>
#include <limits>

namespace normscope::row {

struct MassAndEntropy {
    double mass;     ///< Σp
    double entropy;  ///< of p/Σp, in nat
};

/// Of a row of n entries >= 0: −Σ (p/m) ln(p/m) = ln m − Σ p ln p ÷ m, m = Σp, with 0 ln 0 = 0. Both are NaN
/// where an entry is NaN; entries below the smallest normal value use its logarithm.
template <class L>
inline MassAndEntropy mass_and_entropy(const typename L::scalar* p, int n) {
    auto sum = L::all(0), p_log_p = L::all(0);
    const auto least = L::all(std::numeric_limits<typename L::scalar>::min());
    for_lanes<L>(n, [&](int i, auto part) {
        const auto v = L::load(p + i, part);  // zero after the tail, which adds nothing
        sum += v;
        p_log_p += v * L::log(L::larger(v, least));
    });
    const double mass = static_cast<double>(L::sum(sum));
    return {mass, std::log(mass) - static_cast<double>(L::sum(p_log_p)) / mass};
}

/// most = max(most, |s|) over n entries, lane by lane; undefined becomes NaN in a lane with a non-finite
/// value.
template <class L>
inline void collect_magnitudes(const typename L::scalar* s, int n, typename L::vec& most,
                               typename L::vec& undefined) {
    for_lanes<L>(n, [&](int i, auto part) {
        const auto v = L::load(s + i, part);  // zero after the tail
        most = L::larger(L::larger(v, -v), most);
        undefined += v - v;
    });
}

}  // namespace normscope::row
