// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/lanes.h"

namespace normscope::row {

/// Rotary position of one head of 2·half entries, in place, in the half-split form: the pair (x_i,
/// x_{half+i}) is rotated by the angle whose cosine and sine are given, or back if `inverse`. A rotation is
/// orthogonal, so the inverse is the transpose: one function is the forward map, its tangent and its
/// gradient.
template <class L>
NORMSCOPE_SHARED_CODE inline void rope(typename L::scalar* x, int half, const typename L::scalar* cosine,
                                       const typename L::scalar* sine, bool inverse) {
    using T = typename L::scalar;
    const T sign = inverse ? T(-1) : T(1);
    for_lanes<L>(half, [&](int i, auto part) {
        const auto a = L::load(x + i, part), b = L::load(x + half + i, part);
        const auto c = L::load(cosine + i, part), s = L::load(sine + i, part) * sign;
        L::store(x + i, a * c - L::product(b, s), part);
        L::store(x + half + i, b * c + L::product(a, s), part);
    });
}

}  // namespace normscope::row
