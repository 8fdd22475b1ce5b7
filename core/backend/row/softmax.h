// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/lanes.h"

namespace normscope::row {

/// p = softmax(scale·s) over n entries, in place; the largest entry is subtracted first.
template <class L>
NORMSCOPE_SHARED_CODE inline void softmax(typename L::scalar* s, int n, typename L::scalar scale) {
    using T = typename L::scalar;
    auto m = L::all(s[0]);
    for_lanes<L>(n, [&](int i, auto part) { m = L::larger(L::keep(L::load(s + i, part), part, s[0]), m); });
    const T largest = L::max(m);
    auto sum = L::all(0);
    for_lanes<L>(n, [&](int i, auto part) {
        const auto e = L::exp((L::load(s + i, part) - largest) * scale);
        sum += L::keep(e, part);
        L::store(s + i, e, part);
    });
    const T inverse = T(1) / L::sum(sum);
    for_lanes<L>(n, [&](int i, auto part) { L::store(s + i, L::load(s + i, part) * inverse, part); });
}

/// The softmax Jacobian J = scale·(diag(p) − ppᵀ) applied to g; symmetric, so it serves JVP and VJP.
/// out = scale·p ∘ (g − p·g). out may be g.
template <class L>
NORMSCOPE_SHARED_CODE inline void softmax_project(const typename L::scalar* p, const typename L::scalar* g,
                                                  int n, typename L::scalar scale, typename L::scalar* out) {
    auto dot = L::all(0);
    for_lanes<L>(n, [&](int i, auto part) { dot += L::load(p + i, part) * L::load(g + i, part); });
    const auto mean = L::sum(dot);
    for_lanes<L>(n, [&](int i, auto part) {
        L::store(out + i, L::load(p + i, part) * (L::load(g + i, part) - mean) * scale, part);
    });
}

}  // namespace normscope::row
