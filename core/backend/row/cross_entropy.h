// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/backend/shared/lanes.h"

#include <cmath>

namespace normscope::row {

/// Cross-entropy of one row of V logits against a target, in nat. With dlogits (may be null, may be logits)
/// also the gradient, scale times that of cross-entropy + z·lse², lse = log Σ exp(logits) (the z-loss of
/// PaLM): dlogits = scale·((1 + 2z·lse)·softmax(logits) − onehot(target)). A negative target is ignored: the
/// loss and the gradient are 0.
template <class L>
NORMSCOPE_SHARED_CODE inline typename L::scalar cross_entropy(const typename L::scalar* logits, int V,
                                                              int target, typename L::scalar scale,
                                                              typename L::scalar z,
                                                              typename L::scalar* dlogits) {
    using T = typename L::scalar;
    if (target < 0) {  // not predicted
        if (dlogits) for_lanes<L>(V, [&](int i, auto part) { L::store(dlogits + i, L::all(0), part); });
        return 0;
    }
    auto m = L::all(logits[0]);
    for_lanes<L>(
        V, [&](int i, auto part) { m = L::larger(L::keep(L::load(logits + i, part), part, logits[0]), m); });
    const T chosen = logits[target];  // before dlogits, which may be logits, is written
    const T largest = L::max(m);
    auto sum = L::all(0);
    for_lanes<L>(V, [&](int i, auto part) {
        const auto e = L::exp(L::load(logits + i, part) - largest);
        sum += L::keep(e, part);
        if (dlogits) L::store(dlogits + i, e, part);
    });
    const T total = L::sum(sum), log_total = std::log(total), lse = log_total + largest;
    if (dlogits) {
        const T factor = scale / total * (T(1) + 2 * z * lse);
        for_lanes<L>(
            V, [&](int i, auto part) { L::store(dlogits + i, L::load(dlogits + i, part) * factor, part); });
        if (L::owns(target)) dlogits[target] -= scale;
    }
    // A non-finite logit must not give a finite loss.
    if (!std::isfinite(largest)) return largest - largest;
    return log_total +
           (largest - chosen);  // lse − chosen would lose a small loss in the round-off of the logits
}

}  // namespace normscope::row
