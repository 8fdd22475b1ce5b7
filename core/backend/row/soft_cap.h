// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/lanes.h"

#include <cmath>

namespace normscope::row {

/// x = cap·tanh(x/cap), in place: keeps logits within ±cap, as Gemma 2 does.
template <class L>
NORMSCOPE_SHARED_CODE inline void soft_cap(int count, typename L::scalar cap, typename L::scalar* x) {
    using T = typename L::scalar;
    for_lanes<L>(count, [&](int i, auto part) {
        L::store(x + i, L::map(L::load(x + i, part) / cap, [](T v) { return std::tanh(v); }) * cap, part);
    });
}

/// out = g·(1 − (y/cap)²), the derivative at the capped value y. out may be g.
template <class L>
NORMSCOPE_SHARED_CODE inline void soft_cap_derivative(int count, typename L::scalar cap,
                                                      const typename L::scalar* y,
                                                      const typename L::scalar* g, typename L::scalar* out) {
    using T = typename L::scalar;
    const T one = 1;
    for_lanes<L>(count, [&](int i, auto part) {
        const auto t = L::load(y + i, part) / cap;
        L::store(out + i, L::load(g + i, part) * (one - t * t), part);
    });
}

}  // namespace normscope::row
