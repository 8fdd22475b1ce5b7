// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/lanes.h"

namespace normscope::row {

/// The constants of one AdamW step, bias corrections included.
template <class T>
struct AdamWStep {
    T lr, beta1, beta2, eps;
    T decay;             ///< 1 − lr·weight_decay, or 1
    T gradient_scale;    ///< clipping
    T correction1;       ///< 1 − β₁^t
    T root_correction2;  ///< √(1 − β₂^t)
};

/// One AdamW step with decoupled decay on `count` entries, in the order of operations PyTorch uses:
/// p ← p·decay;  m ← β₁m + (1−β₁)g;  v ← β₂v + (1−β₂)g²;  p ← p − (lr/c₁)·m / (√v/√c₂ + ε).
template <class L>
NORMSCOPE_SHARED_CODE inline void adamw(int count, const AdamWStep<typename L::scalar>& s,
                                        typename L::scalar* p, const typename L::scalar* gradient,
                                        typename L::scalar* m, typename L::scalar* v) {
    using T = typename L::scalar;
    const T rate = s.lr / s.correction1, one = 1;
    for_lanes<L>(count, [&](int i, auto part) {
        const auto g = L::load(gradient + i, part) * s.gradient_scale;
        const auto m1 = L::load(m + i, part) * s.beta1 + L::product(g, L::all(one - s.beta1));
        const auto v1 = L::load(v + i, part) * s.beta2 + L::product(g * g, L::all(one - s.beta2));
        const auto root = L::map(v1, [](T x) { return std::sqrt(x); });
        const auto step = m1 * rate / (root / s.root_correction2 + s.eps);
        L::store(m + i, m1, part);
        L::store(v + i, v1, part);
        L::store(p + i, L::load(p + i, part) * s.decay - step, part);
    });
}

}  // namespace normscope::row
