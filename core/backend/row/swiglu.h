// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/row/activation.h"

namespace normscope::row {

/// The gated activation of one row: a = SiLU(g) ∘ u.
template <class L>
NORMSCOPE_SHARED_CODE inline void swiglu(int n, const typename L::scalar* g, const typename L::scalar* u,
                                         typename L::scalar* a) {
    for_lanes<L>(n, [&](int i, auto part) {
        L::store(a + i, activation<L, Activation::Silu>(L::load(g + i, part)).value * L::load(u + i, part),
                 part);
    });
}

/// dg = da ∘ u ∘ SiLU'(g), du = da ∘ SiLU(g).
template <class L>
NORMSCOPE_SHARED_CODE inline void swiglu_backward(int n, const typename L::scalar* g,
                                                  const typename L::scalar* u, const typename L::scalar* da,
                                                  typename L::scalar* dg, typename L::scalar* du) {
    for_lanes<L>(n, [&](int i, auto part) {
        const auto silu = activation<L, Activation::Silu>(L::load(g + i, part));
        const auto d = L::load(da + i, part);
        L::store(dg + i, d * L::load(u + i, part) * silu.slope, part);
        L::store(du + i, d * silu.value, part);
    });
}

/// ta = SiLU'(g) ∘ u ∘ tg + SiLU(g) ∘ tu.
template <class L>
NORMSCOPE_SHARED_CODE inline void swiglu_tangent(int n, const typename L::scalar* g,
                                                 const typename L::scalar* u, const typename L::scalar* tg,
                                                 const typename L::scalar* tu, typename L::scalar* ta) {
    for_lanes<L>(n, [&](int i, auto part) {
        const auto silu = activation<L, Activation::Silu>(L::load(g + i, part));
        L::store(
            ta + i,
            silu.slope * L::load(u + i, part) * L::load(tg + i, part) + silu.value * L::load(tu + i, part),
            part);
    });
}

}  // namespace normscope::row
