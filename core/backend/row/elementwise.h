// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/lanes.h"

namespace normscope::row {

/// out = a·x + b·y. out may be x or y.
template <class L>
inline void combine(int count, typename L::scalar a, const typename L::scalar* x, typename L::scalar b,
                    const typename L::scalar* y, typename L::scalar* out) {
    for_lanes<L>(count, [&](int i, auto part) {
        L::store(out + i, L::load(x + i, part) * a + L::load(y + i, part) * b, part);
    });
}

/// out = a·x. out may be x.
template <class L>
inline void scale(int count, typename L::scalar a, const typename L::scalar* x, typename L::scalar* out) {
    for_lanes<L>(count, [&](int i, auto part) { L::store(out + i, L::load(x + i, part) * a, part); });
}

/// out = a·(x ∘ y). out may be x or y.
template <class L>
inline void multiply(int count, typename L::scalar a, const typename L::scalar* x, const typename L::scalar* y,
                     typename L::scalar* out) {
    for_lanes<L>(count, [&](int i, auto part) {
        L::store(out + i, L::load(x + i, part) * L::load(y + i, part) * a, part);
    });
}

/// out += a·(x ∘ y).
template <class L>
inline void add_product(int count, typename L::scalar a, const typename L::scalar* x, const typename L::scalar* y,
                        typename L::scalar* out) {
    for_lanes<L>(count, [&](int i, auto part) {
        L::store(out + i, L::load(out + i, part) + L::load(x + i, part) * L::load(y + i, part) * a, part);
    });
}

/// Σ x·y.
template <class L>
inline typename L::scalar dot(int count, const typename L::scalar* x, const typename L::scalar* y) {
    auto sum = L::all(0);
    for_lanes<L>(count, [&](int i, auto part) { sum += L::load(x + i, part) * L::load(y + i, part); });
    return L::sum(sum);
}

}  // namespace normscope::row
