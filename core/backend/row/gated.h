// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/row/activation.h"

namespace normscope::row {

/// The gated activation of one row: a = φ(g) ∘ u, φ the activation A.
template <class L, Activation A>
NORMSCOPE_SHARED_CODE inline void gated(int n, const typename L::scalar* g, const typename L::scalar* u,
                                        typename L::scalar* a) {
    for_lanes<L>(n, [&](int i, auto part) {
        L::store(a + i, activation<L, A>(L::load(g + i, part)).value * L::load(u + i, part), part);
    });
}

/// dg = da ∘ u ∘ φ'(g), du = da ∘ φ(g).
template <class L, Activation A>
NORMSCOPE_SHARED_CODE inline void gated_backward(int n, const typename L::scalar* g,
                                                 const typename L::scalar* u, const typename L::scalar* da,
                                                 typename L::scalar* dg, typename L::scalar* du) {
    for_lanes<L>(n, [&](int i, auto part) {
        const auto gate = activation<L, A>(L::load(g + i, part));
        const auto d = L::load(da + i, part);
        L::store(dg + i, d * L::load(u + i, part) * gate.slope, part);
        L::store(du + i, d * gate.value, part);
    });
}

/// ta = φ'(g) ∘ u ∘ tg + φ(g) ∘ tu.
template <class L, Activation A>
NORMSCOPE_SHARED_CODE inline void gated_tangent(int n, const typename L::scalar* g,
                                                const typename L::scalar* u, const typename L::scalar* tg,
                                                const typename L::scalar* tu, typename L::scalar* ta) {
    for_lanes<L>(n, [&](int i, auto part) {
        const auto gate = activation<L, A>(L::load(g + i, part));
        L::store(ta + i,
                 gate.slope * L::load(u + i, part) * L::load(tg + i, part) +
                     L::product(gate.value, L::load(tu + i, part)),
                 part);
    });
}

/// call(constant) with the function of the gate of a gated activation.
template <class Call>
void with_gate(Activation kind, const Call& call) {
    if (kind == Activation::GeGlu) return call(std::integral_constant<Activation, Activation::GeluTanh>{});
    call(std::integral_constant<Activation, Activation::Silu>{});
}

}  // namespace normscope::row
