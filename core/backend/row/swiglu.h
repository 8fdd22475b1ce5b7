// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/row/activation.h"

namespace normscope::row {

/// The gated activation of one row: a = SiLU(g) ∘ u.
template <class L>
inline void swiglu(int n, const typename L::scalar* g, const typename L::scalar* u, typename L::scalar* a) {
    using Silu = ActivationMath<L, Activation::Silu>;
    for_lanes<L>(n, [&](int i, auto part) {
        L::store(a + i, Silu::value(L::load(g + i, part)) * L::load(u + i, part), part);
    });
}

/// dg = da ∘ u ∘ SiLU'(g), du = da ∘ SiLU(g).
template <class L>
inline void swiglu_backward(int n, const typename L::scalar* g, const typename L::scalar* u,
                            const typename L::scalar* da, typename L::scalar* dg, typename L::scalar* du) {
    using Silu = ActivationMath<L, Activation::Silu>;
    for_lanes<L>(n, [&](int i, auto part) {
        const auto gate = L::load(g + i, part), d = L::load(da + i, part);
        L::store(dg + i, d * L::load(u + i, part) * Silu::derivative(gate), part);
        L::store(du + i, d * Silu::value(gate), part);
    });
}

/// ta = SiLU'(g) ∘ u ∘ tg + SiLU(g) ∘ tu.
template <class L>
inline void swiglu_tangent(int n, const typename L::scalar* g, const typename L::scalar* u,
                           const typename L::scalar* tg, const typename L::scalar* tu,
                           typename L::scalar* ta) {
    using Silu = ActivationMath<L, Activation::Silu>;
    for_lanes<L>(n, [&](int i, auto part) {
        const auto gate = L::load(g + i, part);
        L::store(ta + i,
                 Silu::derivative(gate) * L::load(u + i, part) * L::load(tg + i, part) +
                     Silu::value(gate) * L::load(tu + i, part),
                 part);
    });
}

}  // namespace normscope::row
